import jsonPatch, { type Operation } from 'fast-json-patch'
import type { JsonObject, JsonValue } from './event.js'

export type { Operation }

const ROOT = '/root'

/**
 * The RFC 6902 operations that turn `before` into `after`. With `invertible`, a `test` for the old value
 * precedes each operation but `add`.
 */
export function comparePatch(
  before: JsonValue,
  after: JsonValue,
  { invertible = false } = {},
): Operation[] {
  // `compare` works on members, so make the values members.
  const operations = jsonPatch.compare({ root: before }, { root: after }, invertible)
  return operations.map((operation) => ({ ...operation, path: operation.path.slice(ROOT.length) }))
}

// Paths that patching libraries refuse, because they could change a prototype.
const REFUSED = /\/(?:__proto__|constructor\/prototype)(?:\/|$)/

/** A patch between two objects that every library applies. */
export function safePatch(before: JsonObject, after: JsonObject): Operation[] {
  const patch = comparePatch(before, after)
  return patch.some(({ path }) => REFUSED.test(path)) ? replaceAllPatch(after) : patch
}

/** The patch that turns any document into this one. */
export function replaceAllPatch(value: JsonObject): Operation[] {
  return [{ op: 'replace', path: '', value: structuredClone(value) }]
}
