import { setTimeout as delay } from 'node:timers/promises'
import { AuditLogError, type AuditEvent, type EventPage } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { type ConformanceCase, storeConformance } from 'daybook/testing'
import { describe, expect, it } from 'vitest'
import { countMutants } from './count-mutants.js'
import { explainMutants } from './explain-mutants.js'
import { liveMutants } from './live-mutants.js'
import { modelStore, type Mutant, type Mutants, rightly, withOccurredAt } from './model-store.js'
import { throttleMutants } from './throttle-mutants.js'

describe('a store with every ability', () => {
  for (const { name, run } of storeConformance(modelStore()))
    it(name, async () => expect(await run()).toBeUndefined())
})

const aborted = (): AuditLogError => new AuditLogError('ABORTED', 'a mutant')

/** Gives out other events than it keeps. */
const giving =
  (change: (event: AuditEvent) => AuditEvent): Mutant['mutate'] =>
  (store) => ({
    get: (id, options) => store.get(id, options).then((event) => event && change(event)),
    list: (query, options) =>
      store.list(query, options).then((page) => ({ ...page, events: page.events.map(change) })),
  })

const listing =
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

/** Each append stays hidden for a moment that its size tells, and is then visible. */
const hiding =
  (isHidden: (index: number, size: number) => boolean): Mutant['mutate'] =>
  (store) => {
    const hidden = new Set<string>()
    return {
      async append(drafts, options) {
        const call = store.append(drafts, options)
        const events = await call
        const late = events.filter((_, i) => isHidden(i, events.length)).map(({ id }) => id)
        for (const id of late) hidden.add(id)
        await delay(1 + (drafts.length % 4))
        for (const id of late) hidden.delete(id)
        return events
      },
      async list(query, options) {
        const page = await store.list(query, options)
        return { ...page, events: page.events.filter(({ id }) => !hidden.has(id)) }
      },
    }
  }

const mutants: Mutants = {
  append: {
    'repeats a created_at': {
      mutate: (store) => ({
        append: async (drafts, options) => {
          const events = await store.append(drafts, options)
          return events.map((event) => ({ ...event, created_at: events[0]!.created_at }))
        },
      }),
    },
    'loses the last of a batch': {
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
    'keeps half of a batch that is aborted': {
      mutate: (store) => ({
        async append(drafts, options = {}) {
          if (options.signal?.aborted) throw aborted()
          await delay(1)
          if (!options.signal?.aborted) return store.append(drafts, options)
          await store.append(drafts.slice(0, 2))
          throw aborted()
        },
      }),
    },
    'keeps later what was aborted': {
      mutate: (store) => ({
        append: (drafts, { signal } = {}) =>
          new Promise((resolve, reject) => {
            if (signal?.aborted) return reject(aborted())
            signal?.addEventListener('abort', () => reject(aborted()))
            delay(1)
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
    'draws a tail of its own': {
      mutate: (store) => ({
        append: (drafts, options) =>
          store.append(
            drafts.map((draft, i) => ({ ...draft, tail: `b${String(i).padStart(15, '0')}` })),
            options,
          ),
      }),
    },
    'mixes concurrent batches': {
      mutate: (store) => ({
        async append(drafts, options) {
          const events: AuditEvent[] = []
          for (const draft of drafts) {
            events.push(...(await store.append([draft], options)))
            await delay(0)
          }
          return drafts.length > 0 ? events : store.append(drafts, options)
        },
      }),
    },
    'gives out what it keeps': {
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
      mutate: giving(
        withAttributes((attributes) =>
          Object.fromEntries(Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1))),
        ),
      ),
    },
    'drops __proto__': {
      mutate: giving(withAttributes((attributes) => Object.assign({}, attributes))),
    },
    'replaces U+FFFF': {
      mutate: giving(
        withAttributes(
          (attributes) =>
            JSON.parse(JSON.stringify(attributes).replaceAll('\uFFFF', '\uFFFD')) as object,
        ),
      ),
    },
    'keeps numbers to 15 digits': {
      mutate: giving(
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
    'cuts what is long': {
      mutate: giving(
        withAttributes((attributes) =>
          'text' in attributes && typeof attributes['text'] === 'string'
            ? { ...attributes, text: attributes['text'].slice(0, 1_000_000) }
            : attributes,
        ),
      ),
    },
  },
  'values: any username': {
    'takes NULL for null': {
      mutate: giving((event) => ({
        ...event,
        username: event.username === 'NULL' ? null : event.username,
      })),
    },
    'trims users': {
      mutate: giving((event) => ({ ...event, username: event.username?.trim() ?? null })),
    },
  },
  'values: any source': {
    'has no empty source': {
      mutate: giving((event) => ({ ...event, source: event.source || null })),
    },
  },

  get: {
    'trims ids': { mutate: (store) => ({ get: (id, options) => store.get(id.trim(), options) }) },
    'ignores the signal': { mutate: (store) => ({ get: (id) => store.get(id) }) },
  },

  list: {
    'gives the newest first': {
      mutate: listing((page, isSorted) =>
        isSorted ? page : { ...page, events: page.events.toReversed() },
      ),
    },
    'never truncates': { mutate: listing((page) => ({ ...page, truncated: false })) },
    'always truncates': { mutate: listing((page) => ({ ...page, truncated: true })) },
    'gives 999 at most': {
      mutate: listing(({ events, truncated }) => ({ events: events.slice(0, 999), truncated })),
    },
    'lags behind': {
      mutate(store) {
        let before: EventPage = { events: [], truncated: false }
        return {
          async list(query, options) {
            const answer = before
            before = await store.list(query, options)
            return answer
          },
        }
      },
    },
    'ignores the signal': { mutate: (store) => ({ list: (query) => store.list(query) }) },
  },

  filter: {
    'lets everything through': {
      mutate: (store) => ({
        list: (query, options) => store.list({ ...query, where: undefined }, options),
      }),
    },
  },
  sort: {
    'sorts the other way round': {
      mutate: listing((page, isSorted) =>
        isSorted ? { ...page, events: page.events.toReversed() } : page,
      ),
    },
  },

  order: {
    'shows batches in another order than their times': { mutate: hiding(() => true) },
    'shows the end of a batch before its beginning': {
      mutate: hiding((i, size) => i < size / 2),
    },
    'has an order for each that is opened': {
      mutate(store) {
        const own = memoryStore()
        return { append: own.append, list: store.list }
      },
    },
  },

  import: {
    'keeps what comes before a clash': {
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
    'skips what clashes': {
      mutate: (store) => ({
        importEvents: (events, options) =>
          store.importEvents(events, options).catch((error: AuditLogError) => {
            if (error.code !== 'IMPORT_CONFLICT') throw error
            return { imported: 0, skipped: events.length }
          }),
      }),
    },
    'counts what it skips': {
      mutate: (store) => ({
        importEvents: async (events, options) => {
          await store.importEvents(events, options)
          return { imported: events.length, skipped: 0 }
        },
      }),
    },
    'gives the events ids of its own': {
      mutate: giving((event) => ({ ...event, id: event.id.replace('0196b3c2', '0196b3c3') })),
    },
    'ignores the signal': {
      mutate: (store) => ({ importEvents: (events) => store.importEvents(events) }),
    },
  },

  remove: {
    'removes the bound too': {
      mutate: (store) => ({
        removeBefore: (time, options) => store.removeBefore(time + 1, options),
      }),
    },
    'removes one too few': {
      mutate: (store) => ({
        removeBefore: (time, options) => store.removeBefore(time - 1, options),
      }),
    },
    'does not count': {
      mutate: (store) => ({
        removeBefore: (time, options) => store.removeBefore(time, options).then(() => 0),
      }),
    },
    'still knows the ids': {
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
    'begins anew when everything is gone': {
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
    'hints after it was stopped': {
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
            if (stopped) throw new AuditLogError('CLOSED', 'stopped already')
            stopped = true
            stop()
          }
        },
      }),
    },
    'takes the same function for the same listener': {
      mutate(store) {
        const hints = new Set<() => void>()
        store.watch(() => {
          for (const hint of hints) hint()
        })
        return {
          watch(hint) {
            hints.add(hint)
            return () => {
              if (!hints.delete(hint)) throw new AuditLogError('CLOSED', 'stopped already')
            }
          },
        }
      },
    },
    'goes on after close': {
      mutate: () => ({
        watch(hint) {
          const timer = setInterval(hint, 20)
          return () => clearInterval(timer)
        },
      }),
    },
  },

  tail: {
    'shows batches in another order than their times': { mutate: hiding(() => true) },
  },

  transaction: {
    'takes anything for a transaction': { ways: { isHandle: () => true } },
    'shows what is not committed': { ways: { seesUncommitted: true } },
    'keeps what is rolled back': { ways: { onRollback: (rows) => rows } },
    'puts its own events first': { ways: { batch: (outbox, own) => [...own, ...outbox] } },
    'turns the order of the calls': {
      ways: { batch: (outbox, own) => [...outbox.toReversed(), ...own] },
    },
    'moves one at a time': {
      ways: {
        batch: (outbox, own) => [...outbox.slice(0, 1), ...own],
        left: (rows) => rows.slice(1),
      },
    },
    'moves all twice': {
      ways: { left: (rows) => (rows.length > 0 && Math.random() < 0.5 ? rows : []) },
    },
  },

  'transaction: without any append': {
    'waits for the next append': { ways: { polls: false } },
  },
  'transaction: seen': {
    'never tells when': { ways: { toDraft: ({ draft }) => draft } },
    'always tells when': {
      ways: { toDraft: ({ draft, recordedAt }) => withOccurredAt(draft, recordedAt) },
    },
    'tells when, whatever the event says': {
      ways: {
        toDraft: (row, now) =>
          now - row.recordedAt > 1_000_000 ? withOccurredAt(row.draft, row.recordedAt) : row.draft,
      },
    },
    'tells the time of the commit': {
      ways: {
        toDraft: (row, now) => rightly.toDraft({ ...row, recordedAt: now - 1_000_001 }, now),
      },
    },
  },

  outage: {
    'keeps later what was given up': { ways: { givesUp: false } },
  },
  'lost acknowledgement': {
    'keeps twice what it does not know of': { ways: { findsKept: false } },
  },

  reopen: {
    'has a store for each that is opened': { ways: { share: (_, again) => again() } },
    'closes the others too': {
      mutate(store) {
        return { close: () => store.close().then(closeAll), list: guarded(store.list) }
      },
    },
  },

  close: {
    'still answers': { mutate: (store) => ({ close: async () => {}, get: store.get }) },
    'may be called once': {
      mutate(store) {
        let closed = false
        return {
          async close() {
            await store.close()
            if (closed) throw new AuditLogError('CLOSED', 'closed already')
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
    if (allClosed) throw new AuditLogError('CLOSED', 'another was closed')
    return act(...args)
  }
}

/** The first case that notices the mutant. */
async function noticing(cases: readonly ConformanceCase[]): Promise<string | undefined> {
  for (const { name, run } of cases) {
    try {
      await run()
    } catch {
      return name
    }
  }
  return undefined
}

const allMutants = [mutants, throttleMutants, liveMutants, countMutants, explainMutants].flatMap(
  (one) => Object.entries(one),
)

for (const [topic, ofTopic] of allMutants) {
  describe(`a store that breaks a rule of ${topic}`, () => {
    for (const [flaw, { ways, mutate }] of Object.entries(ofTopic)) {
      it(flaw, async () => {
        const cases = storeConformance(modelStore(ways, mutate))
        const its = cases.filter(({ name }) => name.startsWith(topic))
        expect(await noticing(its)).toBeDefined()
      })
    }
  })
}
