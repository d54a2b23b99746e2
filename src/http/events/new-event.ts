import type { JsonObject, JsonValue } from '../../event/event.js'
import { isOwnField } from '../../event/own-fields.js'
import { AuditLogError } from '../../errors.js'
import { eventTypeFault } from '../../event/event-types.js'
import { findUnstorable, type JsonLimits } from '../../event/json.js'
import { HttpProblem } from '../problem.js'

/** A custom event as sent by a client. */
export interface NewEvent {
  readonly type: string
  readonly attributes: JsonObject
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'the bytes are not UTF-8'
    throw new HttpProblem('MALFORMED_DOCUMENT', `the body is not JSON: ${reason}`)
  }
}

const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

function requireObject(value: JsonValue | undefined, pointer: string): JsonObject {
  if (isObject(value)) return value
  throw new HttpProblem('MALFORMED_DOCUMENT', `${pointer} must be an object`, { pointer })
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
 * attributes. Other members, beside and within `data`, are ignored. Throws if the document is invalid.
 */
export function readNewEvent(bytes: Uint8Array, { maxBytes, maxDepth }: JsonLimits): NewEvent {
  const document = parseJson(bytes)
  if (!isObject(document))
    throw new HttpProblem('MALFORMED_DOCUMENT', 'the document must be an object', { pointer: '' })
  const data = requireObject(document['data'], '/data')
  if (data['type'] !== 'Event' && data['type'] !== 'event') {
    const given = JSON.stringify(data['type']) ?? 'missing'
    throw new HttpProblem('WRONG_RESOURCE_TYPE', `/data/type must be Event; it is ${given}`, {
      pointer: '/data/type',
    })
  }
  if (data['id'] !== undefined)
    throw new HttpProblem('CLIENT_ID', '/data/id must be omitted', { pointer: '/data/id' })
  const { type, ...attributes } = requireObject(data['attributes'], ATTRIBUTES)
  const fault = eventTypeFault(type)
  if (fault) throw invalidEvent(`the event's type ${fault}`, `${ATTRIBUTES}/type`)
  const reserved = Object.keys(attributes).find(isOwnField)
  if (reserved !== undefined)
    throw invalidEvent(
      `the attribute ${reserved} is set by the service`,
      `${ATTRIBUTES}/${reserved}`,
    )
  const unstorable = findUnstorable(attributes, maxDepth)
  if (unstorable)
    throw invalidEvent(
      `the attribute ${unstorable.pointer} ${unstorable.reason}`,
      ATTRIBUTES + unstorable.pointer,
    )
  const count = countMembers(attributes)
  if (count > MAX_MEMBERS)
    throw invalidEvent(
      `the attributes may have ${MAX_MEMBERS} members in total, at all depths; they have ${count}`,
      ATTRIBUTES,
    )
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
