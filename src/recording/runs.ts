import { randomUUID } from 'node:crypto'
import { createIntervalLoop } from '../async/loops.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import { createAbandonedCheck } from '../coordination/heartbeats.js'
import { TIMES } from '../coordination/times.js'
import type { AuditEvent, JsonObject, JsonValue } from '../event/event.js'
import { formatTimestamp } from '../event/timestamp.js'
import { readState } from '../store/read-states.js'
import type { EventStore } from '../store/store.js'

/** The time from the start of a log in a process to its end, as other processes see it. */
type Run = {
  readonly heartbeats: number
  readonly config_hash: string
  readonly started_at: string
  readonly last_seen_at: string
}

type Runs = Readonly<Record<string, Run>>

/** The value of the shared state: runs that have not ended, and the configuration of the last start. */
type State = { readonly config_hash?: string | undefined; readonly runs: Runs }

const KEY = 'runs'
const WAIT_MS = 5000
/** Maximum time that `close` waits for the state. */
const CLOSE_MS = 1000

const START = 'info:audit_log:start'
const STOP = 'info:audit_log:stop'
const CONFIG = 'info:audit_log:config'

const stateOf = (value: JsonValue | undefined): State =>
  (value as State | undefined) ?? { runs: {} }

const without = (runs: Runs, id: string): Runs =>
  Object.fromEntries(Object.entries(runs).filter(([other]) => other !== id))

/** Configuration of a log, without secrets. */
export type LogConfiguration = JsonObject & { readonly config_hash: string }

type RecordRun = (type: string, data: JsonObject, ms?: number) => Promise<AuditEvent | undefined>

/** The store, and the signal that ends waiting for it. */
interface Waiting {
  readonly store: EventStore
  readonly signal: AbortSignal
}

/** Changes the state, and returns the state before. */
async function changeState(
  { store, signal }: Waiting,
  next: (state: State, now: string) => State,
): Promise<State> {
  using wait = timeoutSignal(WAIT_MS, signal)
  let before: State = { runs: {} }
  const change = (value: JsonValue | undefined, now: number): JsonValue => {
    before = stateOf(value)
    return next(before, formatTimestamp(now)) as unknown as JsonObject
  }
  await store.updateState(KEY, change, { signal: wait.signal })
  return before
}

/**
 * Records the stop of a run whose process sends no heartbeat. A negative number of heartbeats, which no process sends, claims it first, so that
 * one process records it; if that process ends too, the others wait again.
 */
async function takeOver(waiting: Waiting, record: RecordRun, id: string, last: Run) {
  const isIn = (state: State, heartbeats: number): boolean =>
    state.runs[id]?.heartbeats === heartbeats
  const claimed = { ...last, heartbeats: -Math.abs(last.heartbeats) - 1 }
  const before = await changeState(waiting, (state) =>
    isIn(state, last.heartbeats) ? { ...state, runs: { ...state.runs, [id]: claimed } } : state,
  )
  if (!isIn(before, last.heartbeats)) return
  const { heartbeats: _, ...facts } = last
  await record(STOP, { run: id, ...facts, unclean: true })
  await changeState(waiting, (state) =>
    isIn(state, claimed.heartbeats) ? { ...state, runs: without(state.runs, id) } : state,
  )
}

/**
 * Records the start and the stop of this log, a changed configuration, and the stops of processes that have ended without
 * `close`. Works in the background until `last`, and sends a heartbeat every 5 seconds. After a failure, the next heartbeat continues.
 * Keeps no process alive.
 */
export function startRuns(
  store: EventStore,
  configuration: LogConfiguration,
  record: RecordRun,
): { last(ms: number): Promise<void> } {
  const run = randomUUID()
  const { config_hash } = configuration
  const findAbandoned = createAbandonedCheck()
  const closing = new AbortController()
  const waiting = { store, signal: closing.signal }
  let heartbeats = 0
  let startedAt: string | undefined
  const starting = record(START, { run, ...configuration }).then(
    (event) => (startedAt = event?.created_at),
    // The gap event counts it.
    () => undefined,
  )
  const beat = async (): Promise<void> => {
    const isFirst = heartbeats === 0
    const { config_hash: earlier } = await changeState(waiting, (state, now) => {
      const times = { started_at: (startedAt ??= now), last_seen_at: now }
      const own = { heartbeats: heartbeats + 1, config_hash, ...times }
      const hash = isFirst ? config_hash : state.config_hash
      return { ...state, config_hash: hash, runs: { ...state.runs, [run]: own } }
    })
    heartbeats += 1
    if (!isFirst || earlier === undefined || earlier === config_hash) return
    await record(CONFIG, { run, ...configuration, earlier_config_hash: earlier })
  }
  const watch = async (): Promise<void> => {
    using wait = timeoutSignal(WAIT_MS, closing.signal)
    const { runs } = stateOf(await readState<JsonObject>(store, KEY, { signal: wait.signal }))
    const others = Object.entries(without(runs, run)).map(([id, one]) => ({ id, ...one }))
    for (const { id } of findAbandoned(others)) await takeOver(waiting, record, id, runs[id]!)
  }
  const loop = createIntervalLoop(async () => {
    await starting
    await beat()
    await watch()
  }, TIMES.work.everyMs)
  loop.now()
  loop.start()
  return {
    async last(ms) {
      const timer = setTimeout(() => closing.abort(), CLOSE_MS)
      await loop.stop()
      clearTimeout(timer)
      const facts = startedAt === undefined ? {} : { started_at: startedAt }
      await record(STOP, { run, config_hash, ...facts }, ms)
      // If the process ends before this, its stop is reported once more.
      using wait = timeoutSignal(CLOSE_MS)
      await changeState({ store, signal: wait.signal }, (state) => ({
        ...state,
        runs: without(state.runs, run),
      }))
    },
  }
}
