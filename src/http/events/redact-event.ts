import type { JsonObject } from '../../event/event.js'
import { redactWithin } from '../../event/redact.js'
import { REDACT_OPTIONS, type RedactOptions, secretsOf } from '../../event/secrets.js'
import { checkOptions } from '../../options.js'

/** Replaces the secrets of an event's attributes. */
export type RedactEvent = (attributes: JsonObject) => JsonObject

/** A name for the client's own attribute `recording`. */
function freeName(attributes: JsonObject): string {
  let name = 'attributes_recording'
  while (Object.hasOwn(attributes, name)) name = `attributes_${name}`
  return name
}

/**
 * Returns a function that replaces the secrets of a created event; `recording.redacted` has the JSON Pointers of at most 50
 * of them. By default nothing is replaced. Throws `INVALID_OPTION` for values that are not keys or paths.
 */
export function redactEvent(option: boolean | RedactOptions = false): RedactEvent {
  if (option === false) return (attributes) => attributes
  if (option !== true) checkOptions(option, REDACT_OPTIONS, 'redact')
  const isSecret = secretsOf(option === true ? {} : option, () => true)
  return (attributes) => {
    const { copy, redacted } = redactWithin(attributes, [], isSecret, Infinity)
    const { recording, ...others } = copy as JsonObject
    if (redacted.length === 0) return attributes
    return {
      ...others,
      ...(recording !== undefined && { [freeName(others)]: recording }),
      recording: { redacted: [...redacted] },
    }
  }
}
