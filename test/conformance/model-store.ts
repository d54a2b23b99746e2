import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type AppendOptions,
  AuditLogError,
  type AuditEvent,
  type EventDraft,
  type EventStore,
  formatTimestamp,
  type Microseconds,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import type { CreateStore, HostTransaction, LosingMethod } from 'daybook/testing'

export interface OutboxRow {
  readonly draft: EventDraft
  readonly recordedAt: Microseconds
}

/** Behaviour of the model where stores often have bugs. A mutant changes a part of it. */
export const correctBehavior = {
  /** Returns the store of the events. Called again for each reopened store. */
  share: (first: EventStore, _create: () => EventStore): EventStore => first,
  isHandle: (handle: object, open: ReadonlyMap<object, unknown>): boolean => open.has(handle),
  /** True if a draft is in the outbox before the commit. */
  seesUncommitted: false,
  onRollback: (_rows: readonly OutboxRow[]): readonly OutboxRow[] => [],
  /** The drafts that one append makes visible, in this order. */
  batch: (outbox: readonly EventDraft[], own: readonly EventDraft[]): readonly EventDraft[] => [
    ...outbox,
    ...own,
  ],
  /** The rows that remain in the outbox after an append. */
  remaining: (_rows: readonly OutboxRow[]): readonly OutboxRow[] => [],
  toDraft({ draft, recordedAt }: OutboxRow, now: Microseconds): EventDraft {
    if (now - recordedAt <= 1_000_000 || 'occurred_at' in draft.attributes) return draft
    return withOccurredAt(draft, recordedAt)
  },
  /** True if drafts of the outbox that their throttle suppresses are counted. */
  countsOutbox: true,
  /** True if an idle store polls the outbox. */
  polls: true,
  /** True if a repeated append after a lost acknowledgement finds the stored events. */
  findsStored: true,
  /** True if the signal and the deadline end the wait during an outage. */
  isAbortable: true,
}

let reports = 0

/** Reports a draft of the outbox that its throttle suppressed. */
async function reportOne(store: EventStore, { draft, recordedAt }: OutboxRow): Promise<void> {
  const { type, throttle } = draft
  const count = { ...throttle!, type, count: 1, first: recordedAt, last: recordedAt }
  await store.reportSuppressed({ reporter: 'outbox', number: ++reports, counts: [count] })
}

export type Behavior = typeof correctBehavior

/** A store with one bug. */
export interface Mutant {
  readonly behavior?: Partial<Behavior>
  readonly mutate?: ((store: EventStore) => Partial<EventStore>) | undefined
}

/** Mutants by bug, grouped by the prefix of the names of the cases. At least one of these cases must fail. */
export type Mutants = Readonly<Record<string, Readonly<Record<string, Mutant>>>>

export function withOccurredAt(draft: EventDraft, recordedAt: Microseconds): EventDraft {
  const attributes = { ...draft.attributes, occurred_at: formatTimestamp(recordedAt) }
  return { ...draft, attributes, json: JSON.stringify(attributes) }
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}

/** The `list` of a store, and a function that waits until the readers who begin to list now have their pages. */
export function followedList(store: Pick<EventStore, 'list'>): Pick<EventStore, 'list'> & {
  readonly idle: () => Promise<void>
} {
  let pages: Promise<unknown> = Promise.resolve()
  return {
    list(query, options) {
      const page = store.list(query, options)
      pages = Promise.allSettled([pages, page])
      return page
    },
    async idle() {
      await turns(4)
      await pages
    },
  }
}

/**
 * A memory store with every ability that a case can need. `mutate` replaces methods of each store that
 * is opened.
 */
export function modelStore(
  behavior: Partial<Behavior> = {},
  mutate: (store: EventStore) => Partial<EventStore> = () => ({}),
): CreateStore {
  const model = { ...correctBehavior, ...behavior }
  return ({ clock }) => {
    const memory = memoryStore({ clock })
    const transactions = new Map<object, OutboxRow[]>()
    let outbox: readonly OutboxRow[] = []
    let outage: Promise<void> | undefined
    /** The method whose next acknowledgement is lost. */
    let lossyMethod: LosingMethod | undefined

    const begin = async (): Promise<HostTransaction> => {
      const handle = {}
      const rows: OutboxRow[] = []
      transactions.set(handle, rows)
      const end = async (added: readonly OutboxRow[]): Promise<void> => {
        transactions.delete(handle)
        outbox = [...outbox, ...added]
      }
      return { handle, commit: () => end(rows), rollback: () => end(model.onRollback(rows)) }
    }

    const open = (): EventStore => {
      const events = model.share(memory, () => memoryStore({ clock }))
      let closed = false
      const stops = new Set<() => void>()

      const check = (): void => {
        if (closed) throw new AuditLogError('CLOSED', 'the model store is closed')
      }
      const waitForOutage = async (signal?: AbortSignal, deadline = Infinity): Promise<void> => {
        check()
        if (outage) {
          const aborted = new Promise((resolve) => signal?.addEventListener('abort', resolve))
          await (model.isAbortable ? Promise.race([outage, aborted]) : outage)
        }
        check()
        if (model.isAbortable && (signal?.aborted || performance.now() >= deadline))
          throw new AuditLogError('ABORTED', 'the call was aborted')
      }
      const move = async (
        own: readonly EventDraft[],
        { since, onSuppressed }: AppendOptions = {},
      ): Promise<readonly AuditEvent[]> => {
        const rows = outbox
        outbox = model.remaining(rows)
        const moved = rows.map((row) => model.toDraft(row, clock()))
        const suppressed: OutboxRow[] = []
        const suffixes = new Set(own.map(({ suffix }) => suffix))
        const visible = await events.append(model.batch(moved, own), {
          since,
          onSuppressed(draft, opensIn) {
            if (suffixes.has(draft.suffix)) onSuppressed?.(draft, opensIn)
            else suppressed.push(...rows.filter((row) => row.draft.suffix === draft.suffix))
          },
        })
        if (model.countsOutbox) for (const row of suppressed) await reportOne(events, row)
        return visible.filter(({ id }) => suffixes.has(id.slice(19).replace('-', '')))
      }
      const acknowledge = async <Result>(method: LosingMethod, act: () => Promise<Result>) => {
        const result = await act()
        if (lossyMethod !== method) return result
        lossyMethod = undefined
        throw new AuditLogError('STORE_FAILED', `the acknowledgement of ${method} was lost`)
      }
      const poll = (): void => void (outbox.length > 0 && !outage && move([]))
      const timer = setInterval(poll, 200)
      if (!model.polls) clearInterval(timer)

      const store: EventStore = {
        name: 'model',
        clock,
        async append(drafts, options = {}) {
          await waitForOutage(options.signal, options.deadline)
          const first = move(drafts, options)
          if (lossyMethod !== 'append') return first
          lossyMethod = undefined
          const stored = await first
          return model.findsStored ? stored : move(drafts, options)
        },
        async enlist(draft, transaction, { signal } = {}) {
          check()
          if (signal?.aborted) throw new AuditLogError('ABORTED', 'the call was aborted')
          if (!model.isHandle(transaction, transactions))
            throw new AuditLogError('INVALID_OPTION', 'the transaction is not open')
          const row = { draft, recordedAt: clock() }
          if (model.seesUncommitted) outbox = [...outbox, row]
          else transactions.get(transaction)?.push(row)
        },
        async importEvents(imported, options) {
          await waitForOutage(options?.signal)
          return events.importEvents(imported, options)
        },
        async get(id, options) {
          check()
          return events.get(id, options)
        },
        async list(query, options) {
          check()
          return events.list(query, options)
        },
        async count(query, options) {
          check()
          return events.count(query, options)
        },
        async removeBefore(time, options) {
          await waitForOutage(options?.signal)
          return events.removeBefore(time, options)
        },
        async remove(ids, options) {
          await waitForOutage(options?.signal)
          return events.remove(ids, options)
        },
        async scrub(options) {
          await waitForOutage(options?.signal)
          return events.scrub!(options)
        },
        async excess(bounds, options) {
          check()
          return events.excess(bounds, options)
        },
        async reportSuppressed(report, options) {
          await waitForOutage(options?.signal)
          return acknowledge('reportSuppressed', () => events.reportSuppressed(report, options))
        },
        async recordSuppressed(draftOf, options) {
          await waitForOutage(options?.signal)
          return events.recordSuppressed(draftOf, options)
        },
        async updateState(key, change, options) {
          await waitForOutage(options?.signal)
          return events.updateState(key, change, options)
        },
        async updateStates(keys, change, options) {
          await waitForOutage(options?.signal)
          return events.updateStates(keys, change, options)
        },
        async readStates(prefix, options) {
          check()
          return events.readStates(prefix, options)
        },
        async changeLive(id, change, options) {
          await waitForOutage(options?.signal)
          return acknowledge('changeLive', () => events.changeLive(id, change, options))
        },
        async touchLive(ids, options) {
          await waitForOutage(options?.signal)
          return events.touchLive(ids, options)
        },
        async closeLive(id, change, options) {
          await waitForOutage(options?.signal)
          return acknowledge('closeLive', () => events.closeLive(id, change, options))
        },
        async openEvents(options) {
          check()
          return events.openEvents(options)
        },
        watch(hint) {
          const stop = events.watch(hint)
          stops.add(stop)
          return stop
        },
        async close() {
          closed = true
          clearInterval(timer)
          for (const stop of stops) stop()
        },
      }
      return { ...store, ...mutate(store) }
    }

    return {
      store: open(),
      reopen: async () => open(),
      transaction: begin,
      async interrupt() {
        let end = (): void => {}
        outage = new Promise((resolve) => (end = resolve))
        return async () => {
          outage = undefined
          end()
        }
      },
      async loseAcknowledgement(method) {
        lossyMethod = method
      },
    }
  }
}
