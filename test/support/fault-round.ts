import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import {
  type AuditEvent,
  AuditLog,
  type AuditLogStats,
  type EventJournal,
  type EventStore,
  type Outcome,
} from 'daybook'
import { faultyStore, type FaultyStore } from 'daybook/testing'
import { expect } from 'vitest'
import {
  type Call,
  faultOptions,
  type FaultType,
  faultTypes,
  makeCall,
  type Observed,
  observe,
  PERIOD_MS,
  type Settled,
  TYPES,
} from './observed-log.js'
import { allEvents, reportedLosses } from './reported-losses.js'

/*
 * One round of faults: calls of all policies, with and without throttles, while the store fails,
 * hangs, delays and loses acknowledgements. After it is healed, every call must be accounted for.
 */

export type Step =
  /** Makes `count` calls in one turn; `isGivenUp` aborts them after the turn. */
  | {
      readonly act: 'call'
      readonly type: FaultType
      readonly count: number
      readonly isGivenUp: boolean
    }
  | {
      readonly act: 'fail' | 'hang' | 'loseAcknowledgement'
      readonly method: 'append' | 'reportSuppressed'
      readonly times: number | undefined
    }
  | { readonly act: 'delay'; readonly ms: number }
  | { readonly act: 'heal' }
  /** 0 waits for one turn of the event loop. */
  | { readonly act: 'wait'; readonly ms: number }

/** The store and journal of a round, which can be reopened with their content. */
export interface Place {
  openStore(): EventStore
  openJournal(): EventJournal
}

async function take(step: Step, observed: Observed, store: FaultyStore): Promise<Promise<void>[]> {
  switch (step.act) {
    case 'call':
      return Array.from({ length: step.count }, () => {
        if (!step.isGivenUp) return makeCall(observed, step.type)
        const giving = new AbortController()
        setImmediate(() => giving.abort())
        return makeCall(observed, step.type, giving.signal)
      })
    case 'delay':
      store.delay('append', step.ms, 3)
      return []
    case 'heal':
      store.heal()
      return []
    case 'wait':
      await (step.ms === 0 ? nextTurn() : delay(step.ms))
      return []
    default:
      store[step.act](step.method, step.times)
      return []
  }
}

const numbersOf = (events: readonly AuditEvent[]): unknown[] =>
  events.map(({ attributes }) => attributes['n'])

const rising = (numbers: readonly unknown[]): unknown[] =>
  (numbers as number[]).toSorted((a, b) => a - b)

const sumOf = (counts: ReadonlyMap<string, number>, outcome: Outcome): number =>
  [...counts].reduce((sum, [key, count]) => (key.endsWith(` ${outcome}`) ? sum + count : sum), 0)

function expectOutcomes({ audit, calls, outcomes, dropped, wrong }: Observed): void {
  const stats = audit.stats()
  const settledAs = (...settled: Settled[]): Call[] =>
    calls.filter((call) => settled.includes(call.settled!))
  const stored = settledAs('stored').length
  const silent = settledAs('silent').length
  expect(wrong).toEqual([])
  expect(stats).toEqual({
    calls: calls.length,
    stored,
    suppressed: sumOf(outcomes, 'suppressed'),
    rejected: calls.length - stored - silent,
    dropped: dropped.length,
    journalled: sumOf(outcomes, 'journalled'),
    waiting: 0,
  })
  expect(sumOf(outcomes, 'stored')).toBe(stored)
  expect(sumOf(outcomes, 'rejected')).toBe(stats.rejected)
  expect(sumOf(outcomes, 'dropped')).toBe(dropped.length)
  const silentOf = (type: FaultType): number =>
    settledAs('silent').filter((call) => call.type === type).length
  expect(silentOf('block:test:call')).toBe(0)
  expect(outcomes.get('queue:test:call journalled') ?? 0).toBe(silentOf('queue:test:call'))
  expect(outcomes.get('drop:test:call dropped') ?? 0).toBe(silentOf('drop:test:call'))
}

/** Checks the events and reported losses after the log is closed and the journal is replayed. */
function expectLog(
  { calls, dropped, maxWaiting, isReported }: Observed,
  events: readonly AuditEvent[],
): void {
  const reported = reportedLosses(events)
  // If too many calls wait, a call goes to the journal and may overtake events that are being stored.
  const isCrowded = calls.length > maxWaiting
  for (const type of TYPES) {
    const made = calls.filter((call) => call.type === type)
    const there = numbersOf(events.filter((event) => event.type === type))
    expect(there, type).toEqual([...new Set(there)])
    const isThrottled = 'throttle' in faultTypes[type]
    const stored = made.filter(({ settled }) => settled === 'stored')
    const silent = made.filter(({ settled }) => settled === 'silent')
    const journalled = type === 'queue:test:call' ? silent : []
    const certain = [...stored, ...journalled].map(({ n }) => n)
    // If the disk did not confirm a call in time, the call may have been rejected or dropped although its event is
    // stored.
    const unknown = made.filter(({ settled }) => settled === 'OUTCOME_UNKNOWN')
    const unknownLosses = reported.gaps.get(`${type} outcome_unknown`) ?? 0
    const droppedAsUnknown = unknownLosses - unknown.length
    const maybe = droppedAsUnknown > 0 || type.startsWith('queue:') ? silent : []
    // A journalled call of a throttled type may be suppressed when it is replayed.
    const possible = new Set<unknown>([...stored, ...unknown, ...maybe].map(({ n }) => n))
    expect(
      certain.filter((n) => !there.includes(n)),
      type,
    ).toEqual([])
    expect(
      there.filter((n) => !possible.has(n)),
      type,
    ).toEqual([])
    if (type.startsWith('queue:') && !isCrowded) expect(there, type).toEqual(rising(there))

    const late = made.filter(({ settled }) => settled === 'DEADLINE_EXCEEDED').length
    const lost = dropped.filter((one) => one === type).length
    expect(reported.gaps.get(`${type} deadline_exceeded`) ?? 0, type).toBe(late)
    expect((reported.gaps.get(`${type} dropped`) ?? 0) + droppedAsUnknown, type).toBe(lost)
    const rejected = made.length - stored.length - silent.length
    const isLost = ({ settled, n }: Call): boolean => settled !== 'stored' && there.includes(n)
    const kept = [...unknown, ...(droppedAsUnknown > 0 ? silent : [])].filter(isLost).length
    const expected = isThrottled ? made.length - there.length - rejected - lost + kept : 0
    const suppressed = reported.suppressed.get(type) ?? 0
    if (isReported()) expect(suppressed, type).toBe(expected)
    else expect(suppressed, type).toBeLessThanOrEqual(expected)
  }
}

/** Waits until the journal is replayed and the suppressed calls are recorded. Returns all events. */
async function settleDown(place: Place): Promise<AuditEvent[]> {
  const journal = place.openJournal()
  const audit = new AuditLog({ ...faultOptions, store: place.openStore(), journal })
  while (journal.length > 0) await delay(5)
  await audit.flush()
  await delay(2 * PERIOD_MS + 20)
  await audit.cleaning.run()
  const events = await allEvents(audit)
  await audit.close()
  return events
}

export interface RoundTotals extends AuditLogStats {
  readonly late: number
}

/** Runs the steps, checks the statistics and the log, and returns the totals. */
export async function runFaultRound(
  steps: readonly Step[],
  place: Place,
  maxWaiting: number,
): Promise<RoundTotals> {
  const opened = place.openStore()
  // The deadline of a call is too short for creating the tables.
  await opened.openEvents()
  const store = faultyStore(opened)
  const observed = observe(store, place.openJournal(), maxWaiting)
  const { audit, calls, check } = observed
  try {
    // Repeats until the store is connected and stores events in time.
    do await makeCall(observed, 'block:test:call')
    while (calls.at(-1)!.settled !== 'stored')
    const made: Promise<void>[] = []
    for (const step of steps) {
      made.push(...(await take(step, observed, store)))
      check()
    }
    store.heal()
    await Promise.all(made)
    expectOutcomes(observed)
    await audit.close()
    expectOutcomes(observed)
  } finally {
    store.heal()
    await audit.close()
    observed.end()
  }
  expectLog(observed, await settleDown(place))
  const late = calls.filter(({ settled }) => settled === 'DEADLINE_EXCEEDED').length
  return { ...audit.stats(), late }
}
