import type { JsonObject, JsonValue } from '../../event/event.js'
import { jsonPointer } from '../../event/json-copy.js'
import { HttpProblem } from '../problem.js'
import { requireObject } from '../request-document.js'

const malformed = (detail: string, pointer: string): HttpProblem =>
  new HttpProblem('MALFORMED_DOCUMENT', detail, { pointer })

/** The arguments of an action. Throws `HttpProblem` 400 for one that it does not have. */
export function readMeta(document: JsonObject, ...names: readonly string[]): JsonObject {
  const meta = document['meta'] === undefined ? {} : requireObject(document['meta'], '/meta')
  const other = Object.keys(meta).find((name) => !names.includes(name))
  if (other === undefined) return meta
  const known = names.length === 0 ? 'none are allowed here' : `the only one is ${names.join(', ')}`
  throw malformed(`/meta/${other} is not a member; ${known}`, jsonPointer(['meta', other]))
}

/** Which parked events: all, or those with these ids. */
export function readWhich(document: JsonObject): 'all' | readonly string[] {
  const which: JsonValue | undefined = readMeta(document, 'which')['which']
  if (which === 'all') return which
  if (Array.isArray(which) && which.every((id) => typeof id === 'string')) return which
  throw malformed("/meta/which must be 'all' or a list of event ids", '/meta/which')
}

/** A text or null in the arguments of an action. */
export function readText(meta: JsonObject, name: string): string | null | undefined {
  const value = meta[name]
  if (value === undefined || value === null || typeof value === 'string') return value
  throw malformed(`/meta/${name} must be a text`, `/meta/${name}`)
}
