import type { AuditEvent, JsonValue } from '../event/event.js'
import { eventAttributes } from './attributes.js'
import { spend, type Steps } from './steps.js'

const CHARS_PER_UNIT = 8

/** Text as it is, other values as JSON, several as an array; null without a value. */
function valuesText(values: readonly JsonValue[]): string | null {
  const some = values.filter((value) => value !== null)
  if (some.length === 0) return null
  const value = some.length > 1 ? some : some[0]!
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  spend(Math.ceil(text.length / CHARS_PER_UNIT))
  return text
}

/** Returns a function that reads an attribute as one text, with the values that filters find by this name. */
export function attributeText(name: string): (event: AuditEvent) => string | null {
  let values: JsonValue[] = []
  const collect = eventAttributes.walk(name, (value) => {
    values.push(value)
    return false
  })
  return (event) => {
    values = []
    collect(event)
    return valuesText(values)
  }
}

/** As {@link attributeText}, for events with many values. */
export const attributeTextInSteps = (name: string) =>
  function* (event: AuditEvent): Steps<string | null> {
    return valuesText(yield* eventAttributes.valuesInSteps(event, name))
  }
