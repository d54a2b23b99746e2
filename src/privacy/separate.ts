import {
  afterPointer,
  concealedNames,
  isObject,
  type Path,
  type Rest,
  type Take,
  without,
} from '../event/concealed.js'
import type { JsonObject, JsonValue } from '../event/event.js'
import { setKey } from '../event/json-copy.js'

/** A value and its place. The index -1 stands for a new last element. */
export type PlacedValue = readonly [path: Path, value: JsonValue]

/** Attributes without some of their values, and these values. */
export interface Separated {
  readonly rest: JsonObject
  readonly values: readonly PlacedValue[]
}

const LAST = -1

/** The pointer up to what a name leads to; `undefined` if it does not lead further. */
function shortened(rests: readonly Rest[], pointer: JsonValue): string | undefined {
  const found = typeof pointer === 'string' ? afterPointer(rests, pointer) : rests
  return typeof found === 'string' && found !== pointer ? found : undefined
}

/** An operation of a JSON Patch without the values of the names. Keys below a name are values too, so its pointers end there. */
function separateChange(
  change: JsonValue,
  rests: readonly Rest[],
  take: Take,
  at: Path,
): JsonValue {
  if (!isObject(change)) return change
  const left = typeof change['path'] === 'string' ? afterPointer(rests, change['path']) : rests
  const shown: JsonObject = {}
  for (const [name, member] of Object.entries(change)) {
    const place = [...at, name]
    if (name === 'op') shown[name] = member
    else if (name === 'path' || name === 'from') {
      const short = shortened(rests, member)
      if (short !== undefined) take(place, member)
      shown[name] = short ?? member
    } else if (typeof left === 'string') take(place, member)
    else setKey(shown, name, without(member, left, take, place))
  }
  return shown
}

/** The attribute `recording` without pointers below the names, whose keys are values. */
function separateRecording(recording: JsonObject, rests: readonly Rest[], take: Take): JsonObject {
  const isShown = (pointer: JsonValue): boolean =>
    typeof pointer !== 'string' ||
    !(pointer.startsWith('/changes/') || typeof afterPointer(rests, pointer) === 'string')
  const shown: JsonObject = {}
  for (const [key, list] of Object.entries(recording)) {
    if (!Array.isArray(list)) setKey(shown, key, list)
    else {
      for (const pointer of list) if (!isShown(pointer)) take(['recording', key, LAST], pointer)
      setKey(shown, key, list.filter(isShown))
    }
  }
  return shown
}

/** Returns a function that separates the values that the names lead to, as `conceal` leaves them out. */
export function separator(names: readonly string[]): (attributes: JsonObject) => Separated {
  const all = concealedNames(names).map((name) => ({ name, at: 0 }))
  const given = names.map((name) => ({ name, at: 0 }))
  return (attributes) => {
    const values: PlacedValue[] = []
    const take: Take = (path, value) => void values.push([path, value])
    const rest = without(attributes, all, take) as JsonObject
    const { changes } = rest
    const shown = Array.isArray(changes)
      ? {
          ...rest,
          changes: changes.map((change, i) => separateChange(change, given, take, ['changes', i])),
        }
      : rest
    const { recording } = shown
    if (values.length === 0) return { rest: attributes, values }
    if (!isObject(recording)) return { rest: shown, values }
    return { rest: { ...shown, recording: separateRecording(recording, all, take) }, values }
  }
}

function place(
  container: JsonValue | undefined,
  { path, at }: { readonly path: Path; readonly at: number },
  value: JsonValue,
): JsonValue {
  if (at === path.length) return value
  const key = path[at]!
  const next = { path, at: at + 1 }
  if (typeof key === 'number') {
    const list = Array.isArray(container) ? [...container] : []
    const index = key === LAST ? list.length : Math.min(key, list.length)
    list[index] = place(list[index], next, value)
    return list
  }
  const object = isObject(container) ? { ...container } : {}
  const member = Object.hasOwn(object, key) ? object[key] : undefined
  setKey(object, key, place(member, next, value))
  return object
}

/** A copy of the attributes with the values at their places. */
export const withValues = (attributes: JsonObject, values: readonly PlacedValue[]): JsonObject =>
  values.reduce<JsonValue>(
    (whole, [path, value]) => place(whole, { path, at: 0 }, value),
    attributes,
  ) as JsonObject
