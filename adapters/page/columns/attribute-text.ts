import { shortText } from '../../../src/describing/visible-text.js'
import type { AuditEvent, JsonValue } from '../../../src/event/event.js'
import { eventAttributes, type Scalar, someScalar } from '../../../src/filter/attributes.js'

const MAX_TEXT = 300

/** Returns a function that reads the values of a filter with this name in an event: scalars, else other values. */
export function attributeReader(name: string): (event: AuditEvent) => readonly JsonValue[] {
  let scalars: Scalar[] = []
  let others: JsonValue[] = []
  const walk = eventAttributes.walk(name, (value) => {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) others.push(value)
    someScalar(value, (scalar) => {
      if (scalar !== null) scalars.push(scalar)
      return false
    })
    return false
  })
  return (event) => {
    scalars = []
    others = []
    walk(event)
    return scalars.length > 0 ? scalars : others
  }
}

/** The values as one line. */
export const valuesText = (values: readonly JsonValue[]): string =>
  values
    .map((value) => shortText(typeof value === 'string' ? value : JSON.stringify(value), MAX_TEXT))
    .join(', ')
