import { AuditLogError } from '../errors.js'
import type { JsonValue } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'
import type { ChangeStates, EventStore } from './store.js'

/* Shared code of stores for the values that processes share. */

/** The JSON text of a value; `undefined` without a value. */
export type StateText = string | undefined

/** The values of some keys, as JSON text. */
export type StateTexts = ReadonlyMap<string, StateText>

const parse = (text: StateText): JsonValue | undefined =>
  text === undefined ? undefined : (JSON.parse(text) as JsonValue)

/**
 * Calls `change` and returns the changed values. Throws `INVALID_VALUE` for a key that is not among the given keys.
 */
export function changedStates(
  before: StateTexts,
  change: ChangeStates,
  now: Microseconds,
): StateTexts {
  const values = new Map(Array.from(before, ([key, text]) => [key, parse(text)]))
  const after = new Map<string, StateText>()
  for (const [key, value] of change(values, now)) {
    if (!before.has(key))
      throw new AuditLogError('INVALID_VALUE', `updateStates: ${key} is not one of the keys`)
    const text = value === undefined ? undefined : JSON.stringify(value)
    if (text !== before.get(key)) after.set(key, text)
  }
  return after
}

/** `updateState` of a store that has `updateStates`. */
export const updateStateBy =
  (updateStates: EventStore['updateStates']): EventStore['updateState'] =>
  async (key, change, options) => {
    let next: JsonValue | undefined
    const changeOne: ChangeStates = (values, now) => {
      next = change(values.get(key), now)
      return new Map([[key, next]])
    }
    await updateStates([key], changeOne, options)
    return next
  }
