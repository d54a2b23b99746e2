import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  AuditLog,
  type AuditLogError,
  type AuditLogErrorCode,
  type AuditLogStats,
  type EventJournal,
  type EventStore,
  type OutcomeMessage,
} from 'daybook'

/* A log whose statistics are checked after every step, and the results of its callers. */

export const PERIOD_MS = 40
const DEADLINE_MS = 60

const throttled = { throttle: { period: { seconds: PERIOD_MS / 1000 } } }

export const faultTypes = {
  'block:test:call': {},
  'block:test:condition': throttled,
  'queue:test:call': {},
  'queue:test:condition': throttled,
  'drop:test:call': {},
  'drop:test:condition': throttled,
} as const

export type FaultType = keyof typeof faultTypes

export const TYPES = Object.keys(faultTypes) as FaultType[]

export type Settled = 'stored' | 'silent' | AuditLogErrorCode

export interface Call {
  readonly n: number
  readonly type: FaultType
  settled: Settled | undefined
}

export const faultOptions = {
  types: faultTypes,
  failurePolicy: { levels: { queue: 'queue', drop: 'drop' } },
} as const

/** A log under observation, with its reports, and the results of its callers. */
export interface Observed {
  readonly audit: AuditLog<typeof faultTypes>
  readonly maxWaiting: number
  readonly calls: Call[]
  /** The outcomes that the diagnostics channel published, by type. */
  readonly outcomes: Map<string, number>
  readonly dropped: Call['type'][]
  /** Statistics that did not add up when they were checked. */
  readonly wrong: AuditLogStats[]
  /** False if the last report of suppressed calls failed. */
  isReported(): boolean
  check(): void
  end(): void
}

export function observe(store: EventStore, journal: EventJournal, maxWaiting: number): Observed {
  let isReported = true
  const observedStore: EventStore = {
    ...store,
    async reportSuppressed(report, given) {
      isReported = false
      await store.reportSuppressed(report, given)
      isReported = true
    },
  }
  const waiting = { deadlineMs: DEADLINE_MS, maxWaiting }
  const audit = new AuditLog({ ...faultOptions, waiting, store: observedStore, journal })
  const outcomes = new Map<string, number>()
  const dropped: Call['type'][] = []
  const wrong: AuditLogStats[] = []
  const check = (): void => {
    const stats = audit.stats()
    const { calls, stored, suppressed, rejected, journalled, waiting } = stats
    if (calls !== stored + suppressed + rejected + stats.dropped + journalled + waiting)
      wrong.push(stats)
  }
  const onOutcome = (message: unknown): void => {
    const { audit: of, type, outcome } = message as OutcomeMessage
    if (of !== audit) return
    const key = `${type} ${outcome}`
    outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
    check()
  }
  subscribe('daybook:outcome', onOutcome)
  audit.on('recorded', check)
  audit.on('rejected', check)
  audit.on('dropped', ({ type }) => {
    dropped.push(type as FaultType)
    check()
  })
  let isWatching = true
  const watch = async (): Promise<void> => {
    for (; isWatching; await nextTurn()) check()
  }
  void watch()
  return {
    audit,
    maxWaiting,
    calls: [],
    outcomes,
    dropped,
    wrong,
    isReported: () => isReported,
    check,
    end() {
      isWatching = false
      unsubscribe('daybook:outcome', onOutcome)
    },
  }
}

export async function makeCall(
  { audit, calls, check }: Observed,
  type: FaultType,
  signal?: AbortSignal,
): Promise<void> {
  const call: Call = { n: calls.length, type, settled: undefined }
  calls.push(call)
  const recording = audit.record(type, { n: call.n }, { signal })
  check()
  try {
    call.settled = (await recording) ? 'stored' : 'silent'
  } catch (error) {
    call.settled = (error as AuditLogError).code
  }
  check()
}
