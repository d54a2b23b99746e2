import {
  afterPointer,
  concealedNames,
  isCutTree,
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
    } else if (typeof left === 'string' || isCutTree(change, member, left)) take(place, member)
    else setKey(shown, name, without(member, left, take, place))
  }
  return shown
}

/** The attribute `recording` without pointers below the names, whose keys are values. */
function separateRecording(
  recording: JsonObject,
  { rests, hidesChanges }: { readonly rests: readonly Rest[]; readonly hidesChanges: boolean },
  take: Take,
): JsonObject {
  const isShown = (pointer: JsonValue): boolean =>
    typeof pointer !== 'string' ||
    !(
      (hidesChanges && pointer.startsWith('/changes/')) ||
      typeof afterPointer(rests, pointer) === 'string'
    )
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
    // Pointers remain of values that were cut away.
    const hidesChanges = values.length > 0 || !Array.isArray(changes)
    const noted = isObject(recording)
      ? { ...shown, recording: separateRecording(recording, { rests: all, hidesChanges }, take) }
      : shown
    return { rest: values.length === 0 ? attributes : noted, values }
  }
}

/** Containers that were copied, so that each is copied once and may be changed. */
type Owned = Set<JsonValue>

function ownList(container: JsonValue | undefined, owned: Owned): JsonValue[] {
  if (Array.isArray(container) && owned.has(container)) return container
  const list = Array.isArray(container) ? [...container] : []
  owned.add(list)
  return list
}

function ownObject(container: JsonValue | undefined, owned: Owned): JsonObject {
  if (isObject(container) && owned.has(container)) return container
  const object = isObject(container) ? { ...container } : {}
  owned.add(object)
  return object
}

function place(
  container: JsonValue | undefined,
  { path, at, owned }: { readonly path: Path; readonly at: number; readonly owned: Owned },
  value: JsonValue,
): JsonValue {
  if (at === path.length) return value
  const key = path[at]!
  const next = { path, at: at + 1, owned }
  if (typeof key === 'number') {
    const list = ownList(container, owned)
    const index = key === LAST ? list.length : Math.min(key, list.length)
    list[index] = place(list[index], next, value)
    return list
  }
  const object = ownObject(container, owned)
  const member = Object.hasOwn(object, key) ? object[key] : undefined
  setKey(object, key, place(member, next, value))
  return object
}

/** A copy of the attributes with the values at their places. Costs as much as the attributes and the values have members. */
export function withValues(attributes: JsonObject, values: readonly PlacedValue[]): JsonObject {
  const owned: Owned = new Set()
  return values.reduce<JsonValue>(
    (whole, [path, value]) => place(whole, { path, at: 0, owned }, value),
    attributes,
  ) as JsonObject
}
