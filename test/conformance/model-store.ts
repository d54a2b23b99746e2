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

/** How the model does what stores do wrong most easily; a mutant does some of it in another way. */
export const rightly = {
  /** Gives a store for the events; called again where they are opened again. */
  share: (first: EventStore, _again: () => EventStore): EventStore => first,
  isHandle: (handle: object, open: ReadonlyMap<object, unknown>): boolean => open.has(handle),
  /** True where a draft is in the outbox for all to see before the commit. */
  seesUncommitted: false,
  onRollback: (_rows: readonly OutboxRow[]): readonly OutboxRow[] => [],
  /** What one append makes visible, in this order. */
  batch: (outbox: readonly EventDraft[], own: readonly EventDraft[]): readonly EventDraft[] => [
    ...outbox,
    ...own,
  ],
  /** What is left in the outbox of what an append has moved. */
  left: (_rows: readonly OutboxRow[]): readonly OutboxRow[] => [],
  toDraft({ draft, recordedAt }: OutboxRow, now: Microseconds): EventDraft {
    if (now - recordedAt <= 1_000_000 || 'occurred_at' in draft.attributes) return draft
    return withOccurredAt(draft, recordedAt)
  },
  /** True where it is counted when a throttle holds back a draft out of the outbox. */
  countsOutbox: true,
  /** True where an idle store looks into the outbox. */
  polls: true,
  /** True where an append whose answer was lost looks for what it has kept. */
  findsKept: true,
  /** True where waiting for an outage to end heeds the signal and the deadline. */
  givesUp: true,
}

let counted = 0

/** Counts a draft out of the outbox that its throttle has held back. */
async function countOne(store: EventStore, { draft, recordedAt }: OutboxRow): Promise<void> {
  const { type, throttle } = draft
  const count = { ...throttle!, type, count: 1, first: recordedAt, last: recordedAt }
  await store.reportSuppressed({ reporter: 'outbox', number: ++counted, counts: [count] })
}

export type Ways = typeof rightly

/** A store that does something wrong. */
export interface Mutant {
  readonly ways?: Partial<Ways>
  readonly mutate?: ((store: EventStore) => Partial<EventStore>) | undefined
}

/** Mutants by what they do wrong, by the beginning of the names of the cases that notice them. */
export type Mutants = Readonly<Record<string, Readonly<Record<string, Mutant>>>>

export function withOccurredAt(draft: EventDraft, recordedAt: Microseconds): EventDraft {
  const attributes = { ...draft.attributes, occurred_at: formatTimestamp(recordedAt) }
  return { ...draft, attributes, json: JSON.stringify(attributes) }
}

/**
 * A store with every ability, made of memory: what the cases ask for can be had. `mutate` replaces
 * methods of each store that is opened.
 */
export function modelStore(
  ways: Partial<Ways> = {},
  mutate: (store: EventStore) => Partial<EventStore> = () => ({}),
): CreateStore {
  const model = { ...rightly, ...ways }
  return ({ clock }) => {
    const memory = memoryStore({ clock })
    const transactions = new Map<object, OutboxRow[]>()
    let outbox: readonly OutboxRow[] = []
    let outage: Promise<void> | undefined
    /** The method whose next answer gets lost. */
    let lost: LosingMethod | undefined

    const begin = async (): Promise<HostTransaction> => {
      const handle = {}
      const rows: OutboxRow[] = []
      transactions.set(handle, rows)
      const end = async (kept: readonly OutboxRow[]): Promise<void> => {
        transactions.delete(handle)
        outbox = [...outbox, ...kept]
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
      const outlast = async (signal?: AbortSignal, deadline = Infinity): Promise<void> => {
        check()
        if (outage) {
          const aborted = new Promise((resolve) => signal?.addEventListener('abort', resolve))
          await (model.givesUp ? Promise.race([outage, aborted]) : outage)
        }
        check()
        if (model.givesUp && (signal?.aborted || performance.now() >= deadline))
          throw new AuditLogError('ABORTED', 'the model store was given up')
      }
      const move = async (
        own: readonly EventDraft[],
        { since, onSuppressed }: AppendOptions = {},
      ): Promise<readonly AuditEvent[]> => {
        const rows = outbox
        outbox = model.left(rows)
        const moved = rows.map((row) => model.toDraft(row, clock()))
        const heldBack: OutboxRow[] = []
        const tails = new Set(own.map(({ tail }) => tail))
        const visible = await events.append(model.batch(moved, own), {
          since,
          onSuppressed(draft, opensIn) {
            if (tails.has(draft.tail)) onSuppressed?.(draft, opensIn)
            else heldBack.push(...rows.filter((row) => row.draft.tail === draft.tail))
          },
        })
        if (model.countsOutbox) for (const row of heldBack) await countOne(events, row)
        return visible.filter(({ id }) => tails.has(id.slice(19).replace('-', '')))
      }
      const answer = async <Answer>(method: LosingMethod, act: () => Promise<Answer>) => {
        const result = await act()
        if (lost !== method) return result
        lost = undefined
        throw new AuditLogError('STORE_FAILED', `the answer of ${method} was lost`)
      }
      const poll = (): void => void (outbox.length > 0 && !outage && move([]))
      const timer = setInterval(poll, 200)
      if (!model.polls) clearInterval(timer)

      const store: EventStore = {
        name: 'model',
        maxBatch: events.maxBatch,
        clock,
        async append(drafts, options = {}) {
          await outlast(options.signal, options.deadline)
          const first = move(drafts, options)
          if (lost !== 'append') return first
          lost = undefined
          const kept = await first
          return model.findsKept ? kept : move(drafts, options)
        },
        async enlist(draft, transaction, { signal } = {}) {
          check()
          if (signal?.aborted) throw new AuditLogError('ABORTED', 'the model store was given up')
          if (!model.isHandle(transaction, transactions))
            throw new AuditLogError('INVALID_OPTION', 'there is no such transaction')
          const row = { draft, recordedAt: clock() }
          if (model.seesUncommitted) outbox = [...outbox, row]
          else transactions.get(transaction)?.push(row)
        },
        async importEvents(imported, options) {
          await outlast(options?.signal)
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
          await outlast(options?.signal)
          return events.removeBefore(time, options)
        },
        async remove(ids, options) {
          await outlast(options?.signal)
          return events.remove(ids, options)
        },
        async excess(bounds, options) {
          check()
          return events.excess(bounds, options)
        },
        async reportSuppressed(report, options) {
          await outlast(options?.signal)
          return answer('reportSuppressed', () => events.reportSuppressed(report, options))
        },
        async recordSuppressed(draftOf, options) {
          await outlast(options?.signal)
          return events.recordSuppressed(draftOf, options)
        },
        async updateState(key, change, options) {
          await outlast(options?.signal)
          return events.updateState(key, change, options)
        },
        async changeLive(id, change, options) {
          await outlast(options?.signal)
          return answer('changeLive', () => events.changeLive(id, change, options))
        },
        async touchLive(ids, options) {
          await outlast(options?.signal)
          return events.touchLive(ids, options)
        },
        async closeLive(id, change, options) {
          await outlast(options?.signal)
          return answer('closeLive', () => events.closeLive(id, change, options))
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
        lost = method
      },
    }
  }
}
