import type { AuditEvent } from '../../event/event.js'
import { eventAttributes, someScalar } from '../../filter/attributes.js'
import type { Facet } from '../../store/counts.js'
import { createSeenValues } from './seen-values.js'

/** Counts the values of one attribute. */
export interface FacetTally {
  /** Counts an event that stands for `count` equal ones. */
  add(event: AuditEvent, number: number, count: number): void
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
  let event = 0
  let count = 0
  const walk = eventAttributes.walk(attribute, (value) =>
    someScalar(value, (scalar) => {
      hasValue = true
      if (typeof scalar !== 'string' || scalar.length <= MAX_TEXT) values.add(scalar, event, count)
      return false
    }),
  )
  return {
    add(one, number, equal) {
      hasValue = false
      event = number
      count = equal
      walk(one)
      if (!hasValue) missing += equal
    },
    facet: (top, scale) => ({
      values: values.top(top, scale),
      distinct: values.size,
      missing: scale(missing),
    }),
  }
}
