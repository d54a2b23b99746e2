import type { JsonObject, JsonValue } from '../../event/event.js'
import { isOwnField } from '../../event/own-fields.js'
import { AuditLogError } from '../../errors.js'
import { eventTypeFault } from '../../event/event-types.js'
import { findUnstorable, type JsonLimits } from '../../event/json.js'
import { jsonPointer } from '../../event/json-copy.js'
import { HttpProblem } from '../problem.js'
import { checkResourceType, parseJson, refuseClientId, requireObject } from '../request-document.js'
import { findInexactNumber } from './json-numbers.js'
import type { RedactEvent } from './redact-event.js'

/** A custom event as sent by a client. */
export interface NewEvent {
  readonly type: string
  readonly attributes: JsonObject
}

const ATTRIBUTES = '/data/attributes'

// Filters examine each member.
const MAX_MEMBERS = 10_000

/** The number of members of objects and arrays, at all depths. */
function countMembers(value: JsonValue): number {
  if (value === null || typeof value !== 'object') return 0
  const members = Object.values(value)
  return members.reduce((count: number, member) => count + countMembers(member), members.length)
}

function invalidEvent(message: string, pointer: string): AuditLogError {
  return new AuditLogError('INVALID_EVENT', message, { pointer })
}

/**
 * Reads the document of a POST: `data.type` `Event` (or `event`), `data.attributes.type` and any other
 * attributes, whose secrets `redact` replaces. Other members, beside and within `data`, are ignored. Throws
 * if the document is invalid.
 */
export function readNewEvent(
  bytes: Uint8Array,
  { maxBytes, maxDepth }: JsonLimits,
  redact: RedactEvent,
): NewEvent {
  const { document, json } = parseJson(bytes)
  const data = requireObject(requireObject(document, '')['data'], '/data')
  checkResourceType(data, ['Event', 'event'])
  refuseClientId(data)
  const { type, ...sent } = requireObject(data['attributes'], ATTRIBUTES)
  const fault = eventTypeFault(type)
  if (fault) throw invalidEvent(`the event's type ${fault}`, `${ATTRIBUTES}/type`)
  const reserved = Object.keys(sent).find(isOwnField)
  if (reserved !== undefined)
    throw invalidEvent(
      `the attribute ${reserved} is set by the service`,
      `${ATTRIBUTES}/${reserved}`,
    )
  const unstorable = findUnstorable(sent, maxDepth)
  if (unstorable)
    throw invalidEvent(
      `the attribute ${unstorable.pointer} ${unstorable.reason}`,
      ATTRIBUTES + unstorable.pointer,
    )
  const inexact = findInexactNumber(json, ['data', 'attributes'])
  if (inexact) {
    const pointer = jsonPointer(inexact.path)
    const place = pointer.slice(ATTRIBUTES.length)
    throw invalidEvent(
      `the attribute ${place} is ${inexact.text}, which a double cannot hold; send it as a text`,
      pointer,
    )
  }
  const count = countMembers(sent)
  if (count > MAX_MEMBERS)
    throw invalidEvent(
      `the attributes may have ${MAX_MEMBERS} members in total, at all depths; they have ${count}`,
      ATTRIBUTES,
    )
  const attributes = redact(sent)
  // A number such as 1e20 takes more bytes in the store than in the request.
  if (Buffer.byteLength(JSON.stringify(attributes)) > maxBytes)
    throw new HttpProblem(
      'BODY_TOO_LARGE',
      `the attributes may have at most ${maxBytes} bytes with all numbers in decimal notation`,
      { pointer: ATTRIBUTES },
    )
  return { type: type as string, attributes }
}

/**
 * Converts an error of `recordCustom` for the client. Pointers of the core are relative to the attributes;
 * those of the response to the document. Errors of the host's `resolveSource` are unwrapped for the host.
 */
export function toClientError(error: unknown): unknown {
  if (!(error instanceof AuditLogError)) return error
  const { code, message, pointer, cause } = error
  if (pointer !== undefined)
    return new AuditLogError(code, message, { pointer: ATTRIBUTES + pointer, cause: error })
  return code === 'INVALID_EVENT' ? (cause ?? error) : error
}
