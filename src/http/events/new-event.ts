import type { JsonObject, JsonValue } from '../../event/event.js'
import { isOwnField } from '../../event/own-fields.js'
import { AuditLogError } from '../../errors.js'
import { eventTypeFault } from '../../event/event-types.js'
import { findUnstorable, type JsonLimits } from '../../event/json.js'
import { HttpProblem } from '../problem.js'

/** A custom event as a client asks for it. */
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

// Each is a name that filters look at.
const MAX_MEMBERS = 10_000

/** The members of objects and arrays, however deep. */
function countMembers(value: JsonValue): number {
  if (value === null || typeof value !== 'object') return 0
  const members = Object.values(value)
  return members.reduce((count: number, member) => count + countMembers(member), members.length)
}

function unusable(message: string, pointer: string): AuditLogError {
  return new AuditLogError('INVALID_EVENT', message, { pointer })
}

/**
 * Reads the document of a POST: `data.type` `Event` (or `event`), `data.attributes.type`, any other
 * attributes. Members beside `data`, and others within, are ignored. Throws what is wrong with it.
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
    throw new HttpProblem('CLIENT_ID', 'leave out /data/id', { pointer: '/data/id' })
  const { type, ...attributes } = requireObject(data['attributes'], ATTRIBUTES)
  const fault = eventTypeFault(type)
  if (fault) throw unusable(`the event's type ${fault}`, `${ATTRIBUTES}/type`)
  const reserved = Object.keys(attributes).find(isOwnField)
  if (reserved !== undefined)
    throw unusable(`the attribute ${reserved} is given by the service`, `${ATTRIBUTES}/${reserved}`)
  const unstorable = findUnstorable(attributes, maxDepth)
  if (unstorable)
    throw unusable(
      `the attribute ${unstorable.pointer} ${unstorable.reason}`,
      ATTRIBUTES + unstorable.pointer,
    )
  const count = countMembers(attributes)
  if (count > MAX_MEMBERS)
    throw unusable(
      `the attributes may have ${MAX_MEMBERS} members in all, at any depth; they have ${count}`,
      ATTRIBUTES,
    )
  // A number such as 1e20 takes more bytes to keep than it came with.
  if (Buffer.byteLength(JSON.stringify(attributes)) > maxBytes)
    throw new HttpProblem(
      'BODY_TOO_LARGE',
      `the attributes may have at most ${maxBytes} bytes with all numbers written out`,
      { pointer: ATTRIBUTES },
    )
  return { type: type as string, attributes }
}

/**
 * What `recordCustom` rejects with, as it concerns the client. Pointers of the core are into the
 * attributes; a client's are into its document. What the host's `resolveSource` throws is the host's to
 * answer.
 */
export function toClientError(error: unknown): unknown {
  if (!(error instanceof AuditLogError)) return error
  const { code, message, pointer, cause } = error
  if (pointer !== undefined)
    return new AuditLogError(code, message, { pointer: ATTRIBUTES + pointer, cause: error })
  return code === 'INVALID_EVENT' ? (cause ?? error) : error
}
