import jsonPatch, { type Operation } from 'fast-json-patch'
import type { JsonObject, JsonValue } from './event.js'

export type { Operation }

const ROOT = '/root'

/**
 * The RFC 6902 operations that make the one value the other; each but `add` comes after a `test`
 * for what is there before where they are to be `invertible`.
 */
export function comparePatch(
  before: JsonValue,
  after: JsonValue,
  { invertible = false } = {},
): Operation[] {
  // It compares members only, so the values become members.
  const operations = jsonPatch.compare({ root: before }, { root: after }, invertible)
  return operations.map((operation) => ({ ...operation, path: operation.path.slice(ROOT.length) }))
}

// Patching libraries refuse what might change the prototype.
const REFUSED = /\/(?:__proto__|constructor\/prototype)(?:\/|$)/

/** A patch between two objects that anybody can apply. */
export function safePatch(before: JsonObject, after: JsonObject): Operation[] {
  const patch = comparePatch(before, after)
  return patch.some(({ path }) => REFUSED.test(path)) ? wholePatch(after) : patch
}

/** The patch that makes any document this one. */
export function wholePatch(value: JsonObject): Operation[] {
  return [{ op: 'replace', path: '', value: structuredClone(value) }]
}
