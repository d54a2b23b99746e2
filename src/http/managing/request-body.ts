import { AuditLogError, type AuditLogErrorCode } from '../../errors.js'
import type { JsonObject } from '../../event/event.js'
import { findUnstorable } from '../../event/json.js'
import { jsonPointer } from '../../event/json-copy.js'
import type { HttpRequest } from '../exchange.js'
import { checkMediaType } from '../media.js'
import { HttpProblem } from '../problem.js'
import { checkResourceType, parseJson, refuseClientId, requireObject } from '../request-document.js'

/** A filter may have 64 KiB. */
export const MAX_BODY_BYTES = 128 * 1024

const MAX_DEPTH = 16

const malformed = (detail: string, pointer: string): HttpProblem =>
  new HttpProblem('MALFORMED_DOCUMENT', detail, { pointer })

/**
 * The document of a request; `{}` without a body. Throws `HttpProblem` 400, 413 and 415: the media type is required even without a
 * body, because pages of other sites cannot send it.
 */
export async function readDocument(request: HttpRequest): Promise<JsonObject> {
  checkMediaType(request.header('content-type'))
  const bytes = await request.body(MAX_BODY_BYTES)
  if (bytes.length === 0) return {}
  const document = requireObject(parseJson(bytes).document, '')
  const unstorable = findUnstorable(document, MAX_DEPTH)
  if (unstorable) throw malformed(`${unstorable.pointer} ${unstorable.reason}`, unstorable.pointer)
  return document
}

/** The name of a resource, and the members that a request may set. */
export interface WritableResource {
  /** Accepted as `data.type`; some clients send the plural. */
  readonly types: readonly string[]
  /** The code of an error in an attribute. */
  readonly code: Extract<AuditLogErrorCode, `INVALID_${string}`>
  readonly settable: readonly string[]
}

const DATA = ['data', 'attributes']

/** Throws 422 for an attribute that cannot be set. */
function readAttributes(data: JsonObject, { settable, code }: WritableResource): JsonObject {
  const attributes = requireObject(data['attributes'], jsonPointer(DATA))
  const other = Object.keys(attributes).find((name) => !settable.includes(name))
  if (other === undefined) return attributes
  throw new AuditLogError(
    code,
    `the attribute ${other} cannot be set here; those that can are ${settable.join(', ')}`,
    { pointer: jsonPointer([...DATA, other]) },
  )
}

/** The attributes in a document that creates a resource. */
export function readNewResource(document: JsonObject, resource: WritableResource): JsonObject {
  const data = requireObject(document['data'], '/data')
  checkResourceType(data, resource.types)
  refuseClientId(data)
  return readAttributes(data, resource)
}

/** The attributes in a document that changes the resource with this id. */
export function readChange(
  document: JsonObject,
  id: string,
  resource: WritableResource,
): JsonObject {
  const data = requireObject(document['data'], '/data')
  checkResourceType(data, resource.types)
  if (data['id'] !== undefined && data['id'] !== id)
    throw new HttpProblem('WRONG_RESOURCE_ID', '/data/id must be the id in the path', {
      pointer: '/data/id',
    })
  return readAttributes(data, resource)
}
