import type { AuditEvent } from '../../event/event.js'
import { type Decide, decideWithin, type Steps } from '../../filter/steps.js'

/** An event that stands for `count` equal ones. */
export interface CountedEvent {
  readonly event: AuditEvent
  readonly count: number
  /** The number of the event, different for each. */
  readonly number: number
}

/** Counts what one figure shows of events. */
export interface FigureTally {
  add(counted: CountedEvent): void
  /** The same in steps. Completes an `add` of the event that was broken off. */
  addInSteps(counted: CountedEvent): Steps<void>
}

/** Adds an event to the figures that it concerns. True, or the work that adds it. */
export function addToEach<
  Figure extends { readonly tally: FigureTally },
  Added extends CountedEvent,
>(figures: readonly Figure[], concerns: (figure: Figure, added: Added) => boolean): Decide<Added> {
  /** How many of the figures have the event that is added at once. */
  let done = 0
  function* addToRest(added: Added, rest: readonly Figure[]): Steps<boolean> {
    for (const figure of rest) {
      if (concerns(figure, added)) yield* figure.tally.addInSteps(added)
      yield
    }
    return true
  }
  return decideWithin(
    (added) => {
      for (done = 0; done < figures.length; done++)
        if (concerns(figures[done]!, added)) figures[done]!.tally.add(added)
      return true
    },
    (added) => addToRest(added, figures.slice(done)),
  )
}
