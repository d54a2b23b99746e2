import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { type AppendOptions, AuditLogError, type AuditEvent, type EventPage } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { type ConformanceCase, storeConformance } from 'daybook/testing'
import { describe, expect, it } from 'vitest'
import { countMutants } from './count-mutants.js'
import { explainMutants } from './explain-mutants.js'
import { liveMutants } from './live-mutants.js'
import {
  correctBehavior,
  followedList,
  modelStore,
  type Mutant,
  type Mutants,
  turns,
  withOccurredAt,
} from './model-store.js'
import { scrubMutants } from './scrub-mutants.js'
import { sealedPartMutants } from './sealed-part-mutants.js'
import { throttleMutants } from './throttle-mutants.js'

describe('a store with every ability but a ledger', () => {
  for (const { name, run } of storeConformance(modelStore())) {
    const skipped = name.startsWith('ledger: ') ? 'the model store keeps no ledger' : undefined
    it(name, async () => expect(await run()).toBe(skipped))
  }
})

const aborted = (): AuditLogError => new AuditLogError('ABORTED', 'aborted by a mutant')

/** Alters the events when they are read. */
const withEvents =
  (change: (event: AuditEvent) => AuditEvent): Mutant['mutate'] =>
  (store) => ({
    get: (id, options) => store.get(id, options).then((event) => event && change(event)),
    list: (query, options) =>
      store.list(query, options).then((page) => ({ ...page, events: page.events.map(change) })),
  })

const withPage =
  (change: (page: EventPage, isSorted: boolean) => EventPage): Mutant['mutate'] =>
  (store) => ({
    list: async (query, options) =>
      change(await store.list(query, options), query.sorts.length > 0),
  })

const withAttributes =
  (change: (attributes: AuditEvent['attributes']) => object) =>
  (event: AuditEvent): AuditEvent => ({
    ...event,
    attributes: change(event.attributes) as AuditEvent['attributes'],
  })

/** Time after which an event becomes visible that no reader has missed. */
const MAX_HIDDEN_MS = 20

/** Hides events of each append until a page has a later event, but not them. */
const hiding =
  (isHidden: (index: number, size: number) => boolean): Mutant['mutate'] =>
  (store) => {
    const hidden = new Map<string, () => void>()
    return {
      async append(drafts, options) {
        const events = await store.append(drafts, options)
        const late = events.filter((_, i) => isHidden(i, events.length))
        const missed = new Promise<void>((resolve) => {
          for (const { id } of late) hidden.set(id, resolve)
        })
        if (late.length > 0) await Promise.race([missed, delay(MAX_HIDDEN_MS)])
        for (const { id } of late) hidden.delete(id)
        return events
      },
      async list(query, options) {
        const page = await store.list(query, options)
        const events = page.events.filter(({ id }) => !hidden.has(id))
        for (const { id, created_at } of page.events)
          if (events.some((event) => event.created_at > created_at)) hidden.get(id)?.()
        return { ...page, events }
      },
    }
  }

/** Number of times that the mutant that moves events twice had events to move. */
let moves = 0

/** Replaces the function that stores the drafts, and calls `onStored` as given. */
const storing =
  (
    append: (
      store: () => Promise<readonly AuditEvent[]>,
      options: AppendOptions,
    ) => Promise<readonly AuditEvent[]>,
  ): Mutant['mutate'] =>
  (store) => ({
    append: (drafts, { onStored, ...options } = {}) =>
      append(() => store.append(drafts, options), { onStored, ...options }),
  })

const mutants: Mutants = {
  append: {
    'calls onStored twice': {
      mutate: storing(async (store, { onStored }) => {
        const events = await store()
        onStored?.()
        onStored?.()
        return events
      }),
    },
    'calls onStored before the events are visible': {
      mutate(store) {
        const { list, idle } = followedList(store)
        return {
          async append(drafts, { onStored, ...options } = {}) {
            onStored?.()
            await idle()
            return store.append(drafts, options)
          },
          list,
        }
      },
    },
    'calls onStored after append has resolved': {
      mutate: storing(async (store, { onStored }) => {
        const events = await store()
        setImmediate(() => onStored?.())
        return events
      }),
    },
    'lists events as durable that the disk does not have': {
      mutate(store) {
        const { list, idle } = followedList(store)
        return {
          async append(drafts, { onStored, ...options } = {}) {
            const events = await store.append(drafts, options)
            onStored?.()
            // Resolves after the reader that `onStored` has begun has noted its events.
            await idle()
            await turns(4)
            return events
          },
          list,
        }
      },
    },
    'stops at the signal after it has called onStored': {
      mutate: storing(async (store, { onStored, signal }) => {
        const events = await store()
        onStored?.()
        await nextTurn()
        if (signal?.aborted) throw aborted()
        return events
      }),
    },
    'repeats a created_at': {
      mutate: (store) => ({
        append: async (drafts, options) => {
          const events = await store.append(drafts, options)
          return events.map((event) => ({ ...event, created_at: events[0]!.created_at }))
        },
      }),
    },
    'loses the last draft of a batch': {
      mutate: (store) => ({
        append: async (drafts, options) => {
          const events = await store.append(
            drafts.slice(0, Math.max(1, drafts.length - 1)),
            options,
          )
          return drafts.map((_, i) => events[i] ?? events[0]!)
        },
      }),
    },
    'stores part of an aborted batch': {
      mutate: (store) => ({
        async append(drafts, options = {}) {
          if (options.signal?.aborted) throw aborted()
          await nextTurn()
          if (!options.signal?.aborted) return store.append(drafts, options)
          await store.append(drafts.slice(0, 2))
          throw aborted()
        },
      }),
    },
    'stores an aborted batch later': {
      mutate: (store) => ({
        append: (drafts, { signal } = {}) =>
          new Promise((resolve, reject) => {
            if (signal?.aborted) return reject(aborted())
            signal?.addEventListener('abort', () => reject(aborted()))
            nextTurn()
              .then(() => store.append(drafts))
              .then(resolve, reject)
          }),
      }),
    },
    'ignores the signal': { mutate: (store) => ({ append: (drafts) => store.append(drafts) }) },
    'ignores the deadline': {
      mutate: (store) => ({
        append: (drafts, { signal } = {}) => store.append(drafts, { signal }),
      }),
    },
    'replaces the suffix': {
      mutate: (store) => ({
        append: (drafts, options) =>
          store.append(
            drafts.map((draft, i) => ({ ...draft, suffix: `b${String(i).padStart(15, '0')}` })),
            options,
          ),
      }),
    },
    'interleaves concurrent batches': {
      mutate: (store) => ({
        async append(drafts, options) {
          const events: AuditEvent[] = []
          for (const draft of drafts) {
            events.push(...(await store.append([draft], options)))
            await nextTurn()
          }
          return drafts.length > 0 ? events : store.append(drafts, options)
        },
      }),
    },
    'returns shared objects': {
      mutate(store) {
        const shared = new Map<string, AuditEvent>()
        return {
          async get(id, options) {
            const event = shared.get(id) ?? structuredClone(await store.get(id, options))
            if (event) shared.set(id, event)
            return event
          },
          async list(query, options) {
            const { events, truncated } = await store.list(query, options)
            for (const event of events)
              if (!shared.has(event.id)) shared.set(event.id, structuredClone(event))
            return { events: events.map(({ id }) => shared.get(id)!), truncated }
          },
        }
      },
    },
  },

  values: {
    'sorts keys': {
      mutate: withEvents(
        withAttributes((attributes) =>
          Object.fromEntries(Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1))),
        ),
      ),
    },
    'drops __proto__': {
      mutate: withEvents(withAttributes((attributes) => Object.assign({}, attributes))),
    },
    'replaces U+FFFF': {
      mutate: withEvents(
        withAttributes(
          (attributes) =>
            JSON.parse(JSON.stringify(attributes).replaceAll('\uFFFF', '\uFFFD')) as object,
        ),
      ),
    },
    'stores numbers with 15 digits': {
      mutate: withEvents(
        withAttributes(
          (attributes) =>
            JSON.parse(
              JSON.stringify(attributes, (_, value: unknown) =>
                typeof value === 'number' ? Number(value.toPrecision(15)) : value,
              ),
            ) as object,
        ),
      ),
    },
  },

  'values: events of': {
    'truncates long text': {
      mutate: withEvents(
        withAttributes((attributes) =>
          'text' in attributes && typeof attributes['text'] === 'string'
            ? { ...attributes, text: attributes['text'].slice(0, 1_000_000) }
            : attributes,
        ),
      ),
    },
  },
  'values: any username': {
    'turns NULL into null': {
      mutate: withEvents((event) => ({
        ...event,
        username: event.username === 'NULL' ? null : event.username,
      })),
    },
    'trims usernames': {
      mutate: withEvents((event) => ({ ...event, username: event.username?.trim() ?? null })),
    },
  },
  'values: any source': {
    'turns an empty source into null': {
      mutate: withEvents((event) => ({ ...event, source: event.source || null })),
    },
  },

  get: {
    'trims ids': { mutate: (store) => ({ get: (id, options) => store.get(id.trim(), options) }) },
    'ignores the signal': { mutate: (store) => ({ get: (id) => store.get(id) }) },
  },

  list: {
    'returns the newest event first': {
      mutate: withPage((page, isSorted) =>
        isSorted ? page : { ...page, events: page.events.toReversed() },
      ),
    },
    'never truncates': { mutate: withPage((page) => ({ ...page, truncated: false })) },
    'always truncates': { mutate: withPage((page) => ({ ...page, truncated: true })) },
    'returns at most 999 events': {
      mutate: withPage(({ events, truncated }) => ({ events: events.slice(0, 999), truncated })),
    },
    'returns the previous page': {
      mutate(store) {
        let before: EventPage = { events: [], truncated: false }
        return {
          async list(query, options) {
            const stale = before
            before = await store.list(query, options)
            return stale
          },
        }
      },
    },
    'ignores the signal': { mutate: (store) => ({ list: (query) => store.list(query) }) },
  },

  filter: {
    'ignores the filter': {
      mutate: (store) => ({
        list: (query, options) => store.list({ ...query, where: undefined }, options),
      }),
    },
  },
  sort: {
    'sorts in reverse': {
      mutate: withPage((page, isSorted) =>
        isSorted ? { ...page, events: page.events.toReversed() } : page,
      ),
    },
  },

  order: {
    'makes batches visible out of order': { mutate: hiding((_, size) => size % 2 === 1) },
    'makes the end of a batch visible before its beginning': {
      mutate: hiding((i, size) => i < size / 2),
    },
    'has a separate order for each open store': {
      mutate(store) {
        const own = memoryStore()
        return { append: own.append, list: store.list }
      },
    },
  },

  import: {
    'stores the events before a conflict': {
      mutate: (store) => ({
        async importEvents(events, options) {
          if (events.length === 0) return store.importEvents(events, options)
          const total = { imported: 0, skipped: 0 }
          for (const event of events) {
            const one = await store.importEvents([event], options)
            total.imported += one.imported
            total.skipped += one.skipped
          }
          return total
        },
      }),
    },
    'skips conflicting events': {
      mutate: (store) => ({
        importEvents: (events, options) =>
          store.importEvents(events, options).catch((error: AuditLogError) => {
            if (error.code !== 'IMPORT_CONFLICT') throw error
            return { imported: 0, skipped: events.length }
          }),
      }),
    },
    'counts skipped events as imported': {
      mutate: (store) => ({
        importEvents: async (events, options) => {
          await store.importEvents(events, options)
          return { imported: events.length, skipped: 0 }
        },
      }),
    },
    'replaces the ids': {
      mutate: withEvents((event) => ({ ...event, id: event.id.replace('0196b3c2', '0196b3c3') })),
    },
    'ignores the signal': {
      mutate: (store) => ({ importEvents: (events) => store.importEvents(events) }),
    },
  },

  remove: {
    'also removes the event at the bound': {
      mutate: (store) => ({
        removeBefore: (time, options) => store.removeBefore(time + 1, options),
      }),
    },
    'removes one event too few': {
      mutate: (store) => ({
        removeBefore: (time, options) => store.removeBefore(time - 1, options),
      }),
    },
    'does not return the count': {
      mutate: (store) => ({
        removeBefore: (time, options) => store.removeBefore(time, options).then(() => 0),
      }),
    },
    'still finds removed ids': {
      mutate(store) {
        const seen = new Map<string, AuditEvent>()
        return {
          async get(id, options) {
            const event = (await store.get(id, options)) ?? seen.get(id)
            if (event) seen.set(id, event)
            return event
          },
          async importEvents(events, options) {
            for (const { event } of events) seen.set(event.id, event)
            return store.importEvents(events, options)
          },
        }
      },
    },
    'restarts its order when all events are removed': {
      mutate(store) {
        let current = store
        let clock = 0
        return {
          append: async (drafts, options) => {
            const events = await current.append(drafts, options)
            clock = Math.min(clock || Infinity, Date.parse(events[0]?.created_at ?? '') * 1000)
            return events
          },
          list: (query, options) => current.list(query, options),
          get: (id, options) => current.get(id, options),
          removeBefore: async (time, options) => {
            const count = await current.removeBefore(time, options)
            const left = await current.list({ where: undefined, sorts: [], limit: 1 })
            if (count > 0 && left.events.length === 0)
              current = memoryStore({ clock: () => clock - 3_600_000_000 })
            return count
          },
        }
      },
    },
    'ignores the signal': {
      mutate: (store) => ({ removeBefore: (time) => store.removeBefore(time) }),
    },
  },

  watch: {
    'calls a stopped watcher': {
      mutate: (store) => ({
        watch(hint) {
          store.watch(hint)
          return () => {}
        },
      }),
    },
    'cannot be stopped twice': {
      mutate: (store) => ({
        watch(hint) {
          const stop = store.watch(hint)
          let stopped = false
          return () => {
            if (stopped) throw new AuditLogError('CLOSED', 'already stopped')
            stopped = true
            stop()
          }
        },
      }),
    },
    'treats the same function as one watcher': {
      mutate(store) {
        const hints = new Set<() => void>()
        store.watch(() => {
          for (const hint of hints) hint()
        })
        return {
          watch(hint) {
            hints.add(hint)
            return () => {
              if (!hints.delete(hint)) throw new AuditLogError('CLOSED', 'already stopped')
            }
          },
        }
      },
    },
    'calls watchers after close': {
      mutate: () => ({
        watch(hint) {
          const timer = setInterval(hint, 20)
          return () => clearInterval(timer)
        },
      }),
    },
  },

  tail: {
    'makes batches visible out of order': { mutate: hiding((_, size) => size % 2 === 1) },
  },

  transaction: {
    'accepts any object as a transaction': { behavior: { isHandle: () => true } },
    'shows uncommitted events': { behavior: { seesUncommitted: true } },
    'stores events after a rollback': { behavior: { onRollback: (rows) => rows } },
    'puts the events of the append first': {
      behavior: { batch: (outbox, own) => [...own, ...outbox] },
    },
    'reverses the order of the calls': {
      behavior: { batch: (outbox, own) => [...outbox.toReversed(), ...own] },
    },
    'moves one event at a time': {
      behavior: {
        batch: (outbox, own) => [...outbox.slice(0, 1), ...own],
        remaining: (rows) => rows.slice(1),
      },
    },
    'moves events twice': {
      behavior: { remaining: (rows) => (rows.length > 0 && moves++ % 2 === 0 ? rows : []) },
    },
  },

  'transaction: without an append': {
    'waits for the next append': { behavior: { polls: false } },
  },
  'transaction: an event visible': {
    'never sets occurred_at': { behavior: { toDraft: ({ draft }) => draft } },
    'always sets occurred_at': {
      behavior: { toDraft: ({ draft, recordedAt }) => withOccurredAt(draft, recordedAt) },
    },
    'overwrites occurred_at': {
      behavior: {
        toDraft: (row, now) =>
          now - row.recordedAt > 1_000_000 ? withOccurredAt(row.draft, row.recordedAt) : row.draft,
      },
    },
    'sets occurred_at to the time of the commit': {
      behavior: {
        toDraft: (row, now) =>
          correctBehavior.toDraft({ ...row, recordedAt: now - 1_000_001 }, now),
      },
    },
  },

  outage: {
    'stores aborted drafts later': { behavior: { isAbortable: false } },
  },
  'lost acknowledgement': {
    'stores drafts twice': { behavior: { findsStored: false } },
  },

  reopen: {
    'has separate events for each open store': { behavior: { share: (_, create) => create() } },
    'closes the other stores too': {
      mutate(store) {
        return { close: () => store.close().then(closeAll), list: guarded(store.list) }
      },
    },
  },

  close: {
    'still accepts get': { mutate: (store) => ({ close: async () => {}, get: store.get }) },
    'rejects a second close': {
      mutate(store) {
        let closed = false
        return {
          async close() {
            await store.close()
            if (closed) throw new AuditLogError('CLOSED', 'already closed')
            closed = true
          },
        }
      },
    },
  },
}

let allClosed = false
function closeAll(): void {
  allClosed = true
}
function guarded<Args extends unknown[], Result>(
  act: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  allClosed = false
  return async (...args) => {
    if (allClosed) throw new AuditLogError('CLOSED', 'another store was closed')
    return act(...args)
  }
}

/** The name of the first case that fails. */
async function failingCase(cases: readonly ConformanceCase[]): Promise<string | undefined> {
  for (const { name, run } of cases) {
    try {
      await run()
    } catch {
      return name
    }
  }
  return undefined
}

const allMutants = [
  mutants,
  throttleMutants,
  liveMutants,
  countMutants,
  explainMutants,
  sealedPartMutants,
  scrubMutants,
].flatMap((one) => Object.entries(one))

/** Mutants with which a case waits until its time limit. */
const WAITING: ReadonlySet<string> = new Set([
  'makes batches visible out of order',
  'stores aborted drafts later',
  'waits for the next append',
])

function breaks(topic: string, bug: string, { behavior, mutate }: Mutant): void {
  it(bug, async () => {
    const cases = storeConformance(modelStore(behavior, mutate))
    const relevant = cases.filter(({ name }) => name.startsWith(topic))
    expect(await failingCase(relevant)).toBeDefined()
  })
}

const mutantsOf = (topicMutants: object, isWaiting: boolean): [string, Mutant][] =>
  Object.entries<Mutant>({ ...topicMutants }).filter(([bug]) => WAITING.has(bug) === isWaiting)

for (const [topic, topicMutants] of allMutants) {
  const found = mutantsOf(topicMutants, false)
  if (found.length > 0)
    describe(`a store that breaks a rule of ${topic}`, () => {
      for (const [bug, mutant] of found) breaks(topic, bug, mutant)
    })
}

describe.concurrent('a store whose calls never settle', () => {
  for (const [topic, topicMutants] of allMutants)
    for (const [bug, mutant] of mutantsOf(topicMutants, true)) breaks(topic, bug, mutant)

  it('is in the list above only if it is a mutant', () => {
    const bugs = new Set(allMutants.flatMap(([, topicMutants]) => Object.keys(topicMutants)))
    expect([...WAITING].filter((bug) => !bugs.has(bug))).toEqual([])
  })
})
