/**
 * How events were come by. `probe`: the ones at the end where the query begins, mostly the newest,
 * each looked at, as far as a bound. `index`: those that the index names. `sort`: those that the
 * index names, in the order of the sort. `scan`: all that are left, each looked at.
 */
export type QueryMethod = 'probe' | 'index' | 'sort' | 'scan'

/** What was done in one way. All that was done in the same way is told together. */
export interface QueryStep {
  readonly method: QueryMethod
  /** Why this way was taken, for people to read; `undefined` where there is nothing to tell. */
  readonly reason: string | undefined
  /** Parts of the index (segments, blocks in memory) that cover the query's time. */
  readonly parts: number
  /** Of them, those that were looked into. */
  readonly parts_read: number
  /** Pieces of the index that were read. */
  readonly reads: number
  /** Events that were gone through, also those that the database ruled out itself, as far as it tells. */
  readonly rows: number
  /** Of them, those that were held against the whole filter. */
  readonly checked: number
  /** Of these, those that match. */
  readonly matched: number
  /** Until the next step began, waits between turns included. */
  readonly took_ms: number
}

/** A step under way: a store adds to its figures, but for the time. */
export type StepTrace = { -readonly [Key in keyof QueryStep]: QueryStep[Key] }

/** What a store tells while it answers a list. */
export interface QueryTrace {
  /** In the order in which they were first entered. */
  readonly steps: readonly StepTrace[]
  /** The last one that was entered. */
  readonly current: StepTrace | undefined
  /** From now on the store works in this way; the time goes to its step. */
  enter(method: QueryMethod): StepTrace
  /** The store begins again from the start: forgets all steps. */
  restart(): void
  /** What is done until the call of what this gives is for the trace alone, and costs no time. */
  pause(): () => void
  /** Milliseconds of all pauses. */
  readonly paused_ms: number
  /** The store has ended: the time stands still. */
  stop(): void
  /** Whether figures are worth further questions to the database. */
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

/** The filter, which also counts for the step under way; without a trace as it is. */
export function tracedFilter<Item>(
  trace: QueryTrace | undefined,
  matches: (item: Item) => boolean,
): (item: Item) => boolean {
  if (!trace) return matches
  return (item) => {
    const isMatch = matches(item)
    const step = trace.current
    if (step) {
      step.checked += 1
      if (isMatch) step.matched += 1
    }
    return isMatch
  }
}
