import type {
  AppendOptions,
  AuditEvent,
  EventCounts,
  EventDraft,
  EventStore,
  ImportedEvent,
  StoreTuning,
} from 'daybook'
import { AuditLogError, type EventQuery } from 'daybook'

/** Called by the fake store before an append. The append fails if it throws or rejects. */
export type Answer = (signal: AbortSignal | undefined, drafts: readonly EventDraft[]) => unknown

export interface FakeStore extends EventStore {
  /** The types of each append. */
  readonly tried: string[][]
  /** The drafts of each append. */
  readonly drafts: (readonly EventDraft[])[]
  /** The types of the stored events, in order. */
  readonly stored: string[]
  /** The deadline of each append. */
  readonly deadlines: (number | undefined)[]
  readonly imports: (readonly ImportedEvent[])[]
  readonly queries: EventQuery[]
  /** One answer for each append. Further appends succeed at once. */
  readonly answers: Answer[]
  closed: number
}

const NOTHING_COUNTED: EventCounts = {
  total: 0,
  levels: {},
  buckets: undefined,
  facets: {},
  attributes: undefined,
  exact: { total: true, levels: true, buckets: true, attributes: true },
  took_ms: 0,
}

/** A store that only records its calls. */
export function fakeStore(options: { tuning?: StoreTuning; answers?: Answer[] } = {}): FakeStore {
  const tried: string[][] = []
  const drafts: (readonly EventDraft[])[] = []
  const stored: string[] = []
  const deadlines: (number | undefined)[] = []
  const imports: (readonly ImportedEvent[])[] = []
  const queries: EventQuery[] = []
  const answers = options.answers ?? []
  return {
    name: 'fake',
    tuning: { maxBatch: 100, ...options.tuning },
    tried,
    drafts,
    deadlines,
    stored,
    imports,
    queries,
    answers,
    closed: 0,

    async append(batch: readonly EventDraft[], { signal, deadline }: AppendOptions = {}) {
      const types = batch.map((draft) => draft.type)
      tried.push(types)
      drafts.push(batch)
      deadlines.push(deadline)
      await answers.shift()?.(signal, batch)
      return batch.map((draft): AuditEvent => {
        stored.push(draft.type)
        const { username, system, type, source, attributes } = draft
        const place = String(stored.length).padStart(6, '0')
        return {
          id: `00000000-0000-7000-8000-000000${place}`,
          created_at: `2026-01-01T00:00:00.${place}Z`,
          username,
          system,
          type,
          source,
          attributes,
        }
      })
    },
    async importEvents(events: readonly ImportedEvent[]) {
      imports.push(events)
      return { imported: events.length, skipped: 0 }
    },
    async get() {
      return undefined
    },
    async list(query: EventQuery) {
      queries.push(query)
      return { events: [], truncated: false }
    },
    count: async () => NOTHING_COUNTED,
    removeBefore: async () => 0,
    remove: async () => 0,
    excess: async () => ({ before: 0, count: 0 }),
    reportSuppressed: async () => {},
    recordSuppressed: async () => 0,
    updateState: async (_key, change) => change(undefined, 0),
    updateStates: async (_keys, change) => void change(new Map(), 0),
    readStates: async () => [],
    changeLive: async () => false,
    touchLive: async () => {},
    closeLive: async () => undefined,
    openEvents: async () => [],
    watch: () => () => {},
    async close() {
      this.closed++
    },
  }
}

/** Rejects with `ABORTED` when the signal aborts, as the store contract requires. */
export const untilAborted: Answer = (signal) =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () =>
      reject(new AuditLogError('ABORTED', 'the fake store gave up')),
    )
  })

/** An append that ends when `open` or `fail` is called. It ignores its signal. */
export function gate(): { answer: Answer; open: () => void; fail: (error: unknown) => void } {
  let open!: () => void
  let fail!: (error: unknown) => void
  const passed = new Promise<void>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { answer: () => passed, open, fail }
}

/** A function that throws the error. */
export const failing = (error: unknown) => (): never => {
  throw error
}

/** Waits a few event loop turns, so that all work without timers has been done. */
export async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** The state of a promise: `stored` or `undefined`, the code of its error, or `waiting`. */
export async function stateOf(promise: Promise<unknown>): Promise<string> {
  let state = 'waiting'
  promise.then(
    (value) => void (state = value === undefined ? 'undefined' : 'stored'),
    (error: unknown) => void (state = error instanceof AuditLogError ? error.code : String(error)),
  )
  await turns()
  return state
}
