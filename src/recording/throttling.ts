import { randomUUID } from 'node:crypto'
import { type Duration, milliseconds } from 'date-fns'
import { LRUCache } from 'lru-cache'
import { AuditLogError, untilAborted } from '../errors.js'
import type { DraftThrottle, EventDraft } from '../event/event.js'
import { type EventTypes, isPeriod } from '../event/event-types.js'
import { type JsonLimits, toJsonText } from '../event/json.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import type { EventStore, SuppressedCount, SuppressedReport } from '../store/store.js'
import { throttleKey } from '../store/throttle-state.js'
import type { Clock, Microseconds } from '../event/timestamp.js'

/** Periods of the host's, by event type: they replace those of the registry; `false` lifts a throttle. */
export type ThrottlePeriods = Readonly<Record<string, Duration | false>>

/** What is known here of one throttle. */
interface Gate {
  readonly throttle: DraftThrottle
  readonly type: string
  /** It is closed from the one time to the other. */
  from: Microseconds
  until: Microseconds
  /** Calls held back that no report has told of. */
  count: number
  first: Microseconds
  last: Microseconds
}

/** The throttles as one process sees them, in front of the store, which decides. */
export interface Throttling {
  /**
   * What the type's draft with this data carries: its throttle, or `undefined` where it has none.
   * `heldBack` where the throttle is known to be closed: the call is counted then.
   */
  gate(type: string, data: object): DraftThrottle | 'heldBack' | undefined
  /** A draft is on its way: others are held back until it is known what became of it. */
  pending(draft: EventDraft): void
  /** The draft was kept, or will be. */
  kept(draft: EventDraft): void
  /** The store held it back: the call is counted. */
  heldBack(draft: EventDraft, opensIn: Microseconds): void
  /** Nothing came of the draft. */
  lost(draft: EventDraft): void
  /** Tells the store what was held back. */
  report(signal: AbortSignal): Promise<void>
  close(): void
}

const TOLD_BYTES = 2048
const MAX_GATES = 10_000
const MAX_TEXT = 200
const REPORT_MS = 1000
const MAX_PAUSE_MS = 10_000

interface Rule {
  readonly period: Microseconds
  readonly scope: readonly string[]
  readonly finder: ReturnType<typeof createFinder>
}

function readRules(types: EventTypes, periods: ThrottlePeriods): ReadonlyMap<string, Rule> {
  const rules = new Map<string, Rule>()
  const rule = (period: Duration, scope: readonly string[] = []): Rule => ({
    period: Math.round(milliseconds(period) * 1000),
    scope,
    finder: createFinder(scope),
  })
  for (const [type, { throttle }] of Object.entries(types))
    if (throttle) rules.set(type, rule(throttle.period, throttle.scope))
  for (const [type, period] of Object.entries(periods)) {
    if (!Object.hasOwn(types, type))
      throw new AuditLogError(
        'INVALID_OPTION',
        `throttles.${type} is not in the registry of event types`,
      )
    if (period === false) rules.delete(type)
    else if (isPeriod(period)) rules.set(type, rule(period, rules.get(type)?.scope))
    else
      throw new AuditLogError(
        'INVALID_OPTION',
        `throttles.${type} must be a date-fns Duration such as { hours: 1 }, or false`,
      )
  }
  return rules
}

/** The values of the scope's data keys. */
function pick(scope: readonly string[], data: object): object {
  const picked = scope.map((key): [string, unknown] => {
    try {
      return [key, (data as Record<string, unknown>)[key] ?? null]
    } catch {
      return [key, null]
    }
  })
  return Object.fromEntries(picked)
}

/** Gates by the values of a scope's data keys, one after the other, as they were given. */
interface Branch {
  gate: Gate | undefined
  readonly branches: Map<unknown, Branch>
}

const newBranch = (): Branch => ({ gate: undefined, branches: new Map() })

const isUsual = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.length <= MAX_TEXT
    : value === null || (typeof value !== 'object' && typeof value !== 'function')

/**
 * Finds gates without making a key of the values, of which the text would cost more than all the
 * rest: strings, numbers and the like are looked up as they are. Holds so many of them, then none.
 */
function createFinder(scope: readonly string[]): {
  find(data: object): Gate | undefined
  remember(data: object, gate: Gate): void
} {
  let root = newBranch()
  let size = 0
  const walk = (data: object, next: (branch: Branch, value: unknown) => Branch | undefined) => {
    let branch: Branch | undefined = root
    try {
      for (const key of scope) {
        const value = (data as Record<string, unknown>)[key]
        branch = branch && isUsual(value) ? next(branch, value) : undefined
      }
    } catch {
      return undefined
    }
    return branch
  }
  const existing = ({ branches }: Branch, value: unknown): Branch | undefined => branches.get(value)
  const made = ({ branches }: Branch, value: unknown): Branch => {
    const branch = branches.get(value) ?? newBranch()
    branches.set(value, branch)
    return branch
  }
  return {
    find: (data) => walk(data, existing)?.gate,
    remember(data, gate) {
      if (++size > MAX_GATES) {
        root = newBranch()
        size = 1
      }
      const branch = walk(data, made)
      if (branch) branch.gate = gate
    },
  }
}

export interface ThrottlingParts {
  readonly types: EventTypes
  readonly periods: ThrottlePeriods
  readonly store: EventStore
  readonly now: Clock
  readonly limits: JsonLimits
}

export function createThrottling({
  types,
  periods,
  store,
  now,
  limits,
}: ThrottlingParts): Throttling {
  const rules = readRules(types, periods)
  const reporter = randomUUID()
  const gates = new LRUCache<string, Gate>({ max: MAX_GATES })
  /** Gates with calls that no report has told of: these must not be forgotten. */
  const counting = new Map<string, Gate>()
  let number = 0
  let unsent: SuppressedReport | undefined
  let sending: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let pauseMs = REPORT_MS
  const closing = new AbortController()

  const throttleOf = (type: string, { period, scope }: Rule, data: object): DraftThrottle => {
    if (scope.length === 0) return { key: type, scope: {}, period }
    const picked = pick(scope, data)
    const values = toJsonText(picked, limits).attributes
    const texts = scope.map((key) => JSON.stringify(values[key] ?? null))
    // Told beside a count: what is long of it is cut.
    const told = toJsonText(picked, { ...limits, maxBytes: TOLD_BYTES }).attributes
    return { key: throttleKey(type, texts), scope: told, period }
  }

  const takeReport = (): SuppressedReport => {
    const counts = [...counting.values()].map(
      ({ throttle, type, count, first, last }): SuppressedCount => ({
        ...throttle,
        type,
        count,
        first,
        last,
      }),
    )
    for (const gate of counting.values()) gate.count = 0
    counting.clear()
    return { reporter, number: ++number, counts }
  }
  const send = async (signal: AbortSignal): Promise<void> => {
    while (unsent || counting.size > 0) {
      unsent ??= takeReport()
      await store.reportSuppressed(unsent, { signal })
      unsent = undefined
    }
  }
  const report = (signal: AbortSignal): Promise<void> => {
    const turn = sending.then(() => send(signal))
    sending = turn.catch(() => {})
    // The one before it may have more time.
    return untilAborted(turn, signal)
  }
  const reportInTurn = async (): Promise<void> => {
    using wait = timeoutSignal(MAX_PAUSE_MS, closing.signal)
    try {
      await report(wait.signal)
      pauseMs = REPORT_MS
    } catch {
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
    }
    timer = undefined
    if (unsent || counting.size > 0) schedule()
  }
  const schedule = (): void => {
    if (timer || closing.signal.aborted) return
    timer = setTimeout(() => {
      void reportInTurn()
    }, pauseMs).unref()
  }

  const count = (gate: Gate, time: Microseconds): void => {
    if (gate.count++ === 0) {
      gate.first = time
      counting.set(gate.throttle.key, gate)
      schedule()
    }
    gate.last = time
  }
  const gateOf = ({ throttle, type }: EventDraft): Gate => {
    const { key } = throttle!
    let gate = gates.get(key) ?? counting.get(key)
    if (!gate) gate = { throttle: throttle!, type, from: 0, until: 0, count: 0, first: 0, last: 0 }
    gates.set(key, gate)
    return gate
  }
  const closeGate = (draft: EventDraft, period: Microseconds): Gate => {
    const gate = gateOf(draft)
    gate.from = now()
    gate.until = gate.from + period
    return gate
  }

  return {
    gate(type, data) {
      const rule = rules.get(type)
      if (!rule) return undefined
      const found = rule.finder.find(data)
      const throttle = found?.throttle ?? throttleOf(type, rule, data)
      const gate = gates.get(throttle.key)
      if (!gate) return throttle
      if (gate !== found) rule.finder.remember(data, gate)
      const time = now()
      // Outside of its times, also before them, where the clock was set back, the store is asked.
      if (time < gate.from || time >= gate.until) return throttle
      count(gate, time)
      return 'heldBack'
    },
    pending: (draft) => void closeGate(draft, Infinity),
    kept: (draft) => void closeGate(draft, draft.throttle!.period),
    heldBack(draft, opensIn) {
      const gate = closeGate(draft, opensIn)
      count(gate, gate.from)
    },
    lost(draft) {
      gateOf(draft).until = 0
    },
    report,
    close() {
      closing.abort()
      clearTimeout(timer)
    },
  }
}
