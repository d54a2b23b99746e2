import { timeoutSignal } from '../async/timeout-signal.js'
import type { AuditEvent, JsonValue } from '../event/event.js'
import { type Duration, subtract } from '../event/duration.js'
import {
  DAY,
  formatTimestamp,
  HOUR,
  type Microseconds,
  MINUTE,
  parseTimestamp,
} from '../event/timestamp.js'
import type { ChangeStates, EventStore, WaitOptions } from '../store/store.js'
import type { ClockDoubt } from '../store/clock-guard.js'
import { readAll } from '../store/read-states.js'
import { findExpected } from './expected-time.js'
import type { Rule } from './task.js'

/*
 * A clock that is far ahead makes all events look old. So a rule removes by age only while the clock agrees with the
 * expected time. In a running process, this is the last trusted reading plus the time since. At a start, it is the
 * last trusted reading of any process, or a later time to which the events lead; for a new rule, it is the time of
 * the newest event.
 */

/** Time for which the clock must be in doubt before it is trusted again. */
const WAIT = 7 * DAY
/** A smaller difference raises no doubt, even for a rule that removes young events. */
const MIN_TOLERANCE = MINUTE
/**
 * Longest time between two starts that counts as waited. No process has measured this time, so a longer time may be
 * another jump of the clock.
 */
const LONGEST_GAP = 8 * DAY
/** The part of a longer time that counts as waited. */
const SHARE_OF_LONG_GAP = DAY
/** Longest time after which the trusted reading of a rule that is not due is renewed. */
const MAX_STALE = HOUR

/** Time after the end of a wait. A rule that has not run in this time is assumed to be gone. */
const FORGOTTEN = 30 * DAY
/** Time limit for storing an acceptance. */
const ACCEPT_MS = 10_000

/**
 * Reason why a rule removes nothing by age: its clock is ahead of the expected time by more than half of `maxAge`.
 */
export interface ClockWait {
  /** The last reading of the clock. */
  readonly clock_time: string
  readonly expected_time: string
  /** Latest end of the wait, by the doubted clock. */
  readonly until: string
}

/** The state of the clock of a rule that all processes share. */
interface ClockState {
  /** The latest time that is known to have been reached. */
  readonly trusted: Microseconds
  readonly doubt?: {
    readonly expected: Microseconds
    readonly seen: Microseconds
    /** Time for which the clock has been in doubt. */
    readonly waited: Microseconds
  }
}

/** The state of the clock of a rule in one process. */
interface OwnClock {
  /** The latest trusted reading minus the monotonic clock at that moment. */
  offset?: Microseconds
  /**
   * The latest time that was reached before this process started; null if the log was empty, `undefined` if it was
   * not searched for.
   */
  start?: Microseconds | null
  /** True if the clock was trusted in this process. */
  wasTrusted?: boolean
  /** The monotonic clock when the wait was last added to. */
  addedAt?: Microseconds | undefined
  judgedAt?: number
}

interface Reading {
  readonly time: Microseconds
  /** The monotonic clock; `undefined` for a clock without one, which is trusted while the process runs. */
  readonly at: Microseconds | undefined
}

/** Times that a process found when its clock was in doubt. */
type Report = Readonly<Record<'clock' | 'expected', Microseconds>>

/** The clock of a log, as a process knows it. */
interface LogClock {
  /** The high-water mark when the log was opened. */
  highWater?: Microseconds | undefined
  /** The first event that this process has stored. */
  firstEvent?: Microseconds
  readonly rules: Map<string, OwnClock>
}

/** Facts about the clock that the logs of a process share. */
export interface SharedClock {
  /** The monotonic clock at the start. */
  openedAt?: Microseconds | undefined
  /** Reading of the clock at the start. A store without a clock shows the reading with its first event. */
  started?: Reading
  /** Time of the newest event in any of the logs at the start, minus the monotonic clock at that moment. */
  reached?: Microseconds
  readonly logs: Map<string, LogClock>
}

export const newSharedClock = (): SharedClock => ({ logs: new Map() })

const newLogClock = (): LogClock => ({ rules: new Map() })

const sharedClocks = new WeakMap<EventStore, readonly [shared: SharedClock, log: LogClock]>()

/** Shares the facts about the clock with the log on this store, also when the log is opened again. */
export function shareClock(store: EventStore, shared: SharedClock, key: string): void {
  const log = shared.logs.get(key) ?? newLogClock()
  shared.logs.set(key, log)
  sharedClocks.set(store, [shared, log])
}

/** The clock of a log. */
interface ProcessClock {
  readonly store: EventStore
  readonly shared: SharedClock
  readonly log: LogClock
  /** The monotonic clock. */
  readonly now: () => Microseconds | undefined
  /** `time` is the time that the store gave to a state. */
  readonly read: (time: Microseconds) => Reading
}

interface Judgement {
  readonly now: Microseconds
  readonly reading: Reading
  readonly tolerance: Microseconds
  /** A time that is known to have been reached. */
  readonly known: Microseconds | undefined
  readonly state: ClockState | undefined
  /** True while the clock is in doubt, or not known to be right. */
  readonly isDoubted: boolean
  /** `undefined` if the rule may run, or if the start is not known yet. */
  readonly wait?: ClockWait
}

export interface Judged {
  /** `undefined` if the rule may remove by age. */
  readonly wait?: ClockWait | undefined
  /** The reading of the clock that was judged; `undefined` for a rule without `maxAge`. */
  readonly now?: Microseconds
}

type JudgeOptions = WaitOptions & { readonly preview?: boolean }

const PREFIX = 'cleaning-clock:'
/** The key of the accepted clock. No rule has this name. */
const ACCEPTED = 'cleaning-clock-accepted'
const REPORTED = 'cleaning-clock-reported'

/** Decides if the clock may be used for rules by age. */
export interface AgeClock {
  /** Judges the clock for a rule. A preview stores nothing. */
  judge(rule: Rule, options?: JudgeOptions): Promise<Judged>
  /** Like `judge`, for a rule that does not run now. Does nothing if the rule was judged a short time ago. */
  keepUp(rule: Rule, options?: WaitOptions): Promise<void>
  /** Trusts the clock from now on, in all processes on the store. */
  accept(): void
  /** Reads the clock at the start of the process. Not needed without rules by age. */
  begin(): void
  /**
   * Stores the doubted time for processes that start later. Events that are recorded while the clock is in doubt have
   * the wrong time.
   */
  noteDoubt(doubt: ClockDoubt): Promise<void>
  /** Takes note of the first event that this process has stored. */
  stored(events: readonly Pick<AuditEvent, 'created_at'>[]): void
  /** Resolves when an acceptance has been stored, or could not be. */
  close(): Promise<void>
}

const toleranceOf = (maxAge: Duration, now: Microseconds): Microseconds =>
  Math.max(MIN_TOLERANCE, (now - subtract(now, maxAge)) / 2)

/** `-Infinity` if there is none. */
const latest = (...times: readonly (Microseconds | null | undefined)[]): Microseconds =>
  Math.max(...times.map((time) => time ?? -Infinity))

export const waitText = ({ clock_time, expected_time, until }: ClockWait): string =>
  `the clock reads ${clock_time}, and ${expected_time} was expected: maxAge waits until the clock is right, ` +
  `acceptClock() is called, or it is ${until}`

const waitOf = ({ expected, seen, waited }: NonNullable<ClockState['doubt']>): ClockWait => ({
  clock_time: formatTimestamp(seen),
  expected_time: formatTimestamp(expected),
  until: formatTimestamp(seen + WAIT - waited),
})

/** The waits that are stored, by the names of their rules. */
export async function readWaits(
  store: EventStore,
  options?: WaitOptions,
): Promise<ReadonlyMap<string, ClockWait>> {
  const states = await readAll<ClockState>(store, PREFIX, options)
  return new Map(
    Array.from(states).flatMap(([name, { doubt }]) => (doubt ? [[name, waitOf(doubt)]] : [])),
  )
}

/** The waiting rules, except rules that have not run for 30 days after their wait. */
export async function readWaitingRules(
  store: EventStore,
  options?: WaitOptions,
): Promise<readonly (ClockWait & { readonly rule: string })[]> {
  const now = store.clock?.() ?? Date.now() * 1000
  const waits = await readWaits(store, options)
  return Array.from(waits, ([rule, wait]) => ({ rule, ...wait })).filter(
    ({ until }) => parseTimestamp(until)! > now - FORGOTTEN,
  )
}

/** The time that the wait has lasted since the clock was last read. */
function waitedSince(seen: Microseconds, { time, at }: Reading, own: OwnClock): Microseconds {
  const gap = Math.max(0, time - seen)
  if (own.addedAt !== undefined && at !== undefined) return Math.min(gap, at - own.addedAt)
  return gap > LONGEST_GAP ? SHARE_OF_LONG_GAP : gap
}

/** The time that is expected; `-Infinity` if there is nothing to compare the clock with. */
function expectedAt(
  { at }: Reading,
  own: OwnClock,
  { reached }: SharedClock,
  known: Microseconds,
): Microseconds {
  const running = (offset: Microseconds | undefined) =>
    offset === undefined || at === undefined ? undefined : offset + at
  return latest(known, running(own.offset), running(reached), own.start)
}

function isTrusted(reading: Reading, own: OwnClock, ahead: Microseconds, most: Microseconds) {
  if (ahead <= most) return true
  if (reading.at === undefined && own.wasTrusted) return true
  return ahead === Infinity && own.start === null
}

interface Shared {
  readonly state: ClockState | undefined
  readonly accepted: Microseconds | undefined
  readonly report: Report | undefined
  readonly clock: SharedClock
}

/**
 * The expected time according to a process that has doubted the clock. `undefined` if its report is old or later than
 * this clock, or if the doubt is within the tolerance.
 */
function reportedAt(
  report: Report | undefined,
  { time }: Reading,
  tolerance: Microseconds,
): Microseconds | undefined {
  if (!report || report.clock > time || report.clock <= time - WAIT) return undefined
  return report.clock - report.expected > tolerance ? report.expected : undefined
}

function judgementOf(
  reading: Reading,
  own: OwnClock,
  tolerance: Microseconds,
  { state, accepted, report, clock }: Shared,
): Omit<Judgement, 'now'> {
  const { time } = reading
  const stored = latest(state?.trusted, accepted)
  // That process may have recorded the newest event, with a wrong time. A stored time needs no report.
  const known = stored === -Infinity ? latest(reportedAt(report, reading, tolerance)) : stored
  const expected = expectedAt(reading, own, clock, known)
  const found = { reading, tolerance, known: known === -Infinity ? undefined : known }
  if (isTrusted(reading, own, time - expected, tolerance))
    return { ...found, isDoubted: false, state: { trusted: latest(state?.trusted, time) } }
  if (own.start === undefined) return { ...found, isDoubted: true, state }
  const last = state?.doubt
  const waited = last ? last.waited + waitedSince(last.seen, reading, own) : 0
  if (waited >= WAIT) return { ...found, isDoubted: false, state: { trusted: time } }
  const doubt = { expected, seen: time, waited }
  const trusted = latest(state?.trusted, expected)
  return { ...found, isDoubted: true, state: { trusted, doubt }, wait: waitOf(doubt) }
}

/** Finds the time that was reached before this process started, and compares the clock at the start with it. */
async function findStart(
  { store, shared, log, now }: ProcessClock,
  own: OwnClock,
  { known, tolerance }: Judgement,
  options: WaitOptions,
): Promise<void> {
  const { started, openedAt } = shared
  const at = now()
  const passed = at === undefined ? 0 : at - openedAt!
  const { firstEvent, highWater = store.highWaterAtStart?.() } = log
  const given = { known, tolerance, started: started?.time, passed, highWater, firstEvent }
  const start = await findExpected(store, given, options)
  own.start = start ?? null
  const wasRight = started && (start === undefined || started.time - start <= tolerance)
  own.wasTrusted = wasRight ?? start === undefined
  if (at === undefined) return
  if (wasRight) own.offset = started.time - started.at!
  if (start === undefined) return
  const isEarlier = started && start <= started.time
  const offset = start - (isEarlier ? openedAt! : at)
  if (!wasRight) own.offset = offset
  // The trust of one rule is no evidence for a rule with less tolerance. The time of an event is evidence for all
  // rules.
  if (known === undefined) shared.reached = latest(shared.reached, offset)
}

/** Judges the clock, and stores the result unless it is a preview. */
async function look(
  { store, read, shared }: ProcessClock,
  { name, maxAge }: Rule,
  own: OwnClock,
  { preview = false, signal }: JudgeOptions,
): Promise<Judgement> {
  const key = PREFIX + name
  let judgement: Judgement | undefined
  const judge: ChangeStates = (values, now) => {
    const state = values.get(key) as unknown as ClockState | undefined
    const accepted = values.get(ACCEPTED) as Microseconds | undefined
    const reading = read(now)
    const tolerance = toleranceOf(maxAge!, reading.time)
    const report = values.get(REPORTED) as Report | undefined
    const given = { state, accepted, report, clock: shared }
    judgement = { now, ...judgementOf(reading, own, tolerance, given) }
    const next = judgement.state as unknown as JsonValue | undefined
    return new Map(preview || next === undefined ? [] : [[key, next]])
  }
  await store.updateStates([key, ACCEPTED, REPORTED], judge, { signal })
  return judgement!
}

function noteJudgement(
  own: OwnClock,
  { isDoubted, reading: { time, at } }: Judgement,
  preview: boolean,
): void {
  own.judgedAt = performance.now()
  if (isDoubted) {
    if (!preview) own.addedAt = at
    return
  }
  if (at !== undefined) own.offset = latest(own.offset, time - at)
  own.wasTrusted = true
  own.addedAt = undefined
}

function processClock(store: EventStore): ProcessClock {
  const { clock } = store
  const monotonic = clock ? clock.monotonic : () => performance.now()
  const now = () => monotonic && Math.floor(monotonic() * 1000)
  const [shared, log] = sharedClocks.get(store) ?? [newSharedClock(), newLogClock()]
  shared.openedAt ??= now()
  log.highWater ??= store.highWaterAtStart?.()
  return {
    store,
    shared,
    log,
    now,
    read: (time) => ({ time: time + (clock?.ahead?.() ?? 0), at: now() }),
  }
}

export function createAgeClock(store: EventStore): AgeClock {
  const clock = processClock(store)
  const { shared, log } = clock
  let mustAccept = false
  let accepting: Promise<void> = Promise.resolve()

  const storeAcceptance = async ({ signal }: WaitOptions = {}): Promise<void> => {
    using wait = timeoutSignal(ACCEPT_MS, signal)
    await store.updateState(ACCEPTED, (_, now) => clock.read(now).time, { signal: wait.signal })
    mustAccept = false
    log.rules.clear()
  }

  const judge: AgeClock['judge'] = async (rule, options = {}) => {
    if (!rule.maxAge) return {}
    const { signal, preview = false } = options
    await accepting
    if (mustAccept) await storeAcceptance({ signal })
    const own = log.rules.get(rule.name) ?? {}
    log.rules.set(rule.name, own)
    let judgement = await look(clock, rule, own, options)
    if (judgement.isDoubted && !judgement.wait) {
      await findStart(clock, own, judgement, { signal })
      judgement = await look(clock, rule, own, options)
    }
    noteJudgement(own, judgement, preview)
    return { wait: judgement.wait, now: judgement.now }
  }

  return {
    judge,
    begin() {
      if (store.clock && !store.readOnly) shared.started ??= clock.read(store.clock())
    },
    async keepUp(rule, options) {
      if (!rule.maxAge) return
      const { judgedAt = -Infinity } = log.rules.get(rule.name) ?? {}
      const passed = (performance.now() - judgedAt) * 1000
      const tolerance = toleranceOf(rule.maxAge, Date.now() * 1000)
      if (passed >= Math.min(MAX_STALE, tolerance / 4)) await judge(rule, options)
    },
    accept() {
      if (store.readOnly) return
      mustAccept = true
      // If this write fails, the next rule that runs repeats it.
      accepting = storeAcceptance().catch(() => {})
    },
    async noteDoubt({ clock: doubted, expected }) {
      await store.updateState(REPORTED, () => ({ clock: doubted, expected }))
    },
    stored([first]) {
      if (log.firstEvent !== undefined || first === undefined) return
      const time = parseTimestamp(first.created_at)!
      log.firstEvent = time
      shared.started ??= { time, at: clock.now() }
    },
    close: () => accepting,
  }
}
