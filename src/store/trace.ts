import { type Decide, thenDecided } from '../filter/steps.js'

/**
 * Methods of finding events. `probe`: check events one by one from the end where the query begins, mostly the newest,
 * up to a bound. `index`: look up candidates in the index. `sort`: look up candidates in the index in the order of
 * the sort. `scan`: check all remaining events one by one.
 */
export type QueryMethod = 'probe' | 'index' | 'sort' | 'scan'

/** The work of one method. Several uses of a method are one step. */
export interface QueryStep {
  readonly method: QueryMethod
  /** Reason for choosing this method, as text; `undefined` without a special reason. */
  readonly reason: string | undefined
  /** Parts of the index (segments, blocks in memory) within the time range of the query. */
  readonly parts: number
  /** Number of parts that were read. */
  readonly parts_read: number
  /** Chunks of the index that were read. */
  readonly reads: number
  /** Number of examined events, including events that the database excluded, if it reports them. */
  readonly rows: number
  /** Number of events that were tested with the whole filter. */
  readonly checked: number
  /** Number of tested events that matched. */
  readonly matched: number
  /** Time until the next step began, including waits between turns of the event loop. */
  readonly took_ms: number
}

/** The step in progress. The store adds to all its figures but the time. */
export type StepTrace = { -readonly [Key in keyof QueryStep]: QueryStep[Key] }

/** Records how a store answers a list. */
export interface QueryTrace {
  /** Steps in the order of their first use. */
  readonly steps: readonly StepTrace[]
  /** The step that was entered last. */
  readonly current: StepTrace | undefined
  /** The store uses this method from now on. Time is added to its step. */
  enter(method: QueryMethod): StepTrace
  /** The store starts over: removes all steps. */
  restart(): void
  /** Stops the time for work that only the trace needs. The returned function resumes it. */
  pause(): () => void
  /** Total milliseconds of pauses. */
  readonly paused_ms: number
  /** The store has finished: stops the time. */
  stop(): void
  /** True if the store may run extra statements to get figures. */
  readonly detailed: boolean
}

export function createTrace({ detailed }: { readonly detailed: boolean }): QueryTrace {
  const steps: StepTrace[] = []
  let current: StepTrace | undefined
  let since = 0
  let paused_ms = 0

  const stop = (): void => {
    const now = performance.now()
    if (current) current.took_ms += now - since
    since = now
  }

  return {
    steps,
    get current() {
      return current
    },
    enter(method) {
      stop()
      current = steps.find((step) => step.method === method)
      if (!current) steps.push((current = emptyStep(method)))
      return current
    },
    restart() {
      steps.length = 0
      current = undefined
    },
    pause() {
      stop()
      return () => {
        const now = performance.now()
        paused_ms += now - since
        since = now
      }
    },
    get paused_ms() {
      return paused_ms
    },
    stop() {
      stop()
      current = undefined
    },
    detailed,
  }
}

const emptyStep = (method: QueryMethod): StepTrace => ({
  method,
  reason: undefined,
  parts: 0,
  parts_read: 0,
  reads: 0,
  rows: 0,
  checked: 0,
  matched: 0,
  took_ms: 0,
})

/** Wraps the filter to count in the current step. Without a trace it returns the filter unchanged. */
export function tracedFilter<Item>(
  trace: QueryTrace | undefined,
  decide: Decide<Item>,
): Decide<Item> {
  if (!trace) return decide
  const note = (isMatch: boolean): boolean => {
    const step = trace.current
    if (step) {
      step.checked += 1
      if (isMatch) step.matched += 1
    }
    return isMatch
  }
  return (item) => thenDecided(decide(item), note)
}
