import {
  eventAttributes,
  type Scalar,
  scalarsInSteps,
  someScalar,
} from '../../filter/attributes.js'
import type { Facet } from '../../store/counts.js'
import type { FigureTally } from './figure-tally.js'
import { createSeenValues } from './seen-values.js'

/** Counts the values of one attribute. */
export interface FacetTally extends FigureTally {
  facet(top: number, scale: (count: number) => number): Facet
}

// Limits of the distinct values kept.
const MAX_VALUES = 100_000
const MAX_CHARACTERS = 4_000_000
// Longer texts are not useful in a list of values.
const MAX_TEXT = 1000

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
    facet: (top, scale) => ({
      values: values.top(top, scale),
      distinct: values.size,
      missing: scale(missing),
    }),
  }
}
