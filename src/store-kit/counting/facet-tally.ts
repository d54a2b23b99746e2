import {
  eventAttributes,
  type Scalar,
  scalarsInSteps,
  someScalar,
} from '../../filter/attributes.js'
import type { Facet } from '../../store/counts.js'
import type { Steps } from '../../filter/steps.js'
import type { FigureTally } from './figure-tally.js'
import { createSeenValues, type SeenValues } from './seen-values.js'

/** Counts the values of one attribute. */
export interface FacetTally extends FigureTally {
  /** Adds counts of events: for each value the events that have it, and the events without a value. */
  addCounted(values: Iterable<readonly [Scalar, number]>, missing: number): Steps<void>
  facet(top: number, exact: boolean): Facet
}

// Limits of the distinct values kept.
const MAX_VALUES = 100_000
const MAX_CHARACTERS = 4_000_000
// Longer texts are not useful in a list of values.
const MAX_TEXT = 1000
// Values that are added at once, in less than a millisecond.
const STRIDE = 1000
// No event that is added one by one has this number.
const COUNTED = 0

export function createFacetTally(attribute: string): FacetTally {
  const values = createSeenValues({ values: MAX_VALUES, characters: MAX_CHARACTERS })
  let missing = 0
  let hasValue = false
  let number = 0
  let count = 0
  const addValue = (scalar: Scalar): false => {
    hasValue = true
    if (typeof scalar !== 'string' || scalar.length <= MAX_TEXT) values.add(scalar, number, count)
    return false
  }
  const walk = eventAttributes.walk(attribute, (value) => someScalar(value, addValue))
  return {
    add(counted) {
      hasValue = false
      ;({ number, count } = counted)
      walk(counted.event)
      if (!hasValue) missing += count
    },
    *addInSteps(counted) {
      const found = yield* eventAttributes.valuesInSteps(counted.event, attribute)
      const scalars = yield* scalarsInSteps(found)
      ;({ number, count } = counted)
      for (const scalar of scalars) {
        addValue(scalar)
        yield
      }
      if (scalars.length === 0) missing += count
    },
    addCounted(counted, more) {
      missing += more
      return addAll(values, counted)
    },
    facet: (top, exact) => ({
      values: values.top(top),
      distinct: values.size,
      missing,
      exact: exact && values.isComplete,
    }),
  }
}

function* addAll(values: SeenValues, counted: Iterable<readonly [Scalar, number]>): Steps<void> {
  let added = 0
  for (const [value, count] of counted) {
    values.add(value, COUNTED, count)
    if (++added % STRIDE === 0) yield
  }
}
