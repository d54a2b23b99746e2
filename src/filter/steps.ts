/** Work that can pause wherever it yields. */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** Does all of the work at once. */
export function finishSteps<Result>(steps: Generator<unknown, Result, undefined>): Result {
  for (;;) {
    const next = steps.next()
    if (next.done) return next.value
  }
}

/** True or false if deciding took little work; otherwise the whole work, not begun. */
export type Decision = boolean | Steps<boolean>

/** Decides about an item within less than about two milliseconds, or returns the work. */
export type Decide<Item> = (item: Item) => Decision

function* andThen(steps: Steps<boolean>, act: (is: boolean) => Decision): Steps<boolean> {
  const decision = act(yield* steps)
  return typeof decision === 'boolean' ? decision : yield* decision
}

/** Passes the decision to `act` once it is known, and returns the result of `act` as a decision. */
export const thenDecided = (decision: Decision, act: (is: boolean) => Decision): Decision =>
  typeof decision === 'boolean' ? act(decision) : andThen(decision, act)

/** Does the work, and pauses when the time slice is over. */
export async function finishInTurns<Result>(
  steps: Generator<unknown, Result, undefined>,
  isPauseDue: () => boolean,
  pause: () => Promise<void>,
): Promise<Result> {
  for (;;) {
    const next = steps.next()
    if (next.done) return next.value
    if (isPauseDue()) await pause()
  }
}

/*
 * The budget of work that is done at once. Walks and tests spend a unit for each value, for each key
 * looked up in an element of an array, or for a few characters; each takes some ten nanoseconds.
 */
const MAX_UNITS = 50_000
const OVERSPENT = new Error('the work would take too long to be done at once')

// Whole numbers that stay small: V8 would allocate memory for each other number.
let spent = 0
let limit = Infinity

/** Counts work in whole units. Ends work that {@link decideWithin} has started once its budget is spent. */
export function spend(units: number): void {
  spent += units
  if (spent > limit) throw OVERSPENT
}

/** Does the work for the item at once if it is little; otherwise it returns `steps` of the item. */
export function decideWithin<Item, Result, Work = Steps<Result>>(
  atOnce: (item: Item) => Result,
  steps: (item: Item) => Work,
): (item: Item) => Result | Work {
  return (item) => {
    spent = 0
    limit = MAX_UNITS
    try {
      return atOnce(item)
    } catch (error) {
      if (error !== OVERSPENT) throw error
      return steps(item)
    } finally {
      limit = Infinity
    }
  }
}
