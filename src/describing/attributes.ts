import type { JsonObject, JsonValue } from '../event/event.js'
import { remembered } from './remembered.js'

export type Scalar = string | number | boolean

// A sentence lists only a few values.
const MAX_VALUES = 5

// Bounds the time of a sentence.
const MAX_ELEMENTS = 10_000

/**
 * The first values that a filter finds under the name. `parent_code` finds the attribute with this name, and `code`
 * in `parent`. Leaves out null. Reads only the first elements of arrays, some thousand in all.
 */
export function valuesAt(attributes: JsonObject, name: string): JsonValue[] {
  const search: Search = { found: [], elements: 0 }
  collect(attributes, name, search)
  return search.found
}

interface Search {
  readonly found: JsonValue[]
  elements: number
}

const isOver = ({ found, elements }: Search): boolean =>
  found.length >= MAX_VALUES || elements >= MAX_ELEMENTS

function collect(value: JsonValue, name: string, search: Search): void {
  if (value === null || typeof value !== 'object') return
  if (Array.isArray(value)) {
    for (const element of value) {
      if (isOver(search)) return
      search.elements += 1
      collect(element, name, search)
    }
    return
  }
  if (Object.hasOwn(value, name) && value[name] !== null) search.found.push(value[name]!)
  // A beginning of the name may be a key whose object has the rest.
  for (const [key, rest] of partsOf(name))
    if (Object.hasOwn(value, key)) collect(value[key]!, rest, search)
}

/** `a_b_c` as `a` and `b_c`, and as `a_b` and `c`. */
const partsOf = remembered((name) => {
  const parts: (readonly [key: string, rest: string])[] = []
  for (let end = name.indexOf('_'); end !== -1; end = name.indexOf('_', end + 1))
    parts.push([name.slice(0, end), name.slice(end + 1)])
  return parts
})

/** The first scalars among the values and the elements of their arrays. */
export function scalarsIn(values: readonly JsonValue[]): Scalar[] {
  const scalars: Scalar[] = []
  for (const value of values) {
    if (scalars.length >= MAX_VALUES) break
    if (Array.isArray(value)) scalars.push(...scalarsIn(value))
    else if (value !== null && typeof value !== 'object' && value !== '') scalars.push(value)
  }
  return scalars.slice(0, MAX_VALUES)
}
