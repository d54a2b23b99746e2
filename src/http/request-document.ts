import type { JsonObject, JsonValue } from '../event/event.js'
import { HttpProblem } from './problem.js'

/** Throws `HttpProblem` 400. */
export function parseJson(bytes: Uint8Array): {
  readonly document: unknown
  readonly json: string
} {
  try {
    const json = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { document: JSON.parse(json), json }
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'the bytes are not UTF-8'
    throw new HttpProblem('MALFORMED_DOCUMENT', `the body is not JSON: ${reason}`)
  }
}

const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** A member of a document, or with the pointer `''` the document itself. Throws `HttpProblem` 400. */
export function requireObject(value: unknown, pointer: string): JsonObject {
  if (isObject(value)) return value
  const what = pointer === '' ? 'the document' : pointer
  throw new HttpProblem('MALFORMED_DOCUMENT', `${what} must be an object`, { pointer })
}

/** A value for a message. An array or object is not quoted: it may be nested too deeply to be written. */
function describeValue(value: JsonValue | undefined): string {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'an array'
  return isObject(value) ? 'an object' : JSON.stringify(value)
}

/** Throws `HttpProblem` 409 unless `data.type` is one of these; the message names the first. */
export function checkResourceType(data: JsonObject, types: readonly string[]): void {
  const { type } = data
  if (typeof type === 'string' && types.includes(type)) return
  throw new HttpProblem(
    'WRONG_RESOURCE_TYPE',
    `/data/type must be ${types[0]}; it is ${describeValue(type)}`,
    { pointer: '/data/type' },
  )
}

/** Throws `HttpProblem` 403 if the client has chosen an id. */
export function refuseClientId(data: JsonObject): void {
  if (data['id'] !== undefined)
    throw new HttpProblem('CLIENT_ID', '/data/id must be omitted', { pointer: '/data/id' })
}
