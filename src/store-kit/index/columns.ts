import type { AuditEvent, JsonObject, JsonValue } from '../../event/event.js'
import type { Scalar } from '../../filter/attributes.js'
import { compareText } from '../../filter/values.js'
import { isOwnField } from '../../event/own-fields.js'
import { indexedText, Kind, kindOf } from './part.js'

/** The values of one attribute of some events, in the order in which the events were added. */
export interface Column {
  readonly name: string
  /** `values[i]` belongs to the event with ordinal `ordinals[i]`; an event may have several values. */
  readonly values: readonly Scalar[]
  readonly ordinals: readonly number[]
  /** Ordinals of the events in which the name leads to an object or array that is not empty. */
  readonly containers: readonly number[]
}

interface GrowingColumn extends Column {
  readonly values: Scalar[]
  readonly ordinals: number[]
  readonly containers: number[]
}

/** The attributes of some events, by name. */
export interface Columns {
  /** Adds an event; its ordinal is the number of events before it. */
  add(event: Pick<AuditEvent, 'type' | 'username' | 'system' | 'attributes'>): void
  readonly size: number
  readonly byName: ReadonlyMap<string, Column>
  /** Ordinals of events with too many values, or too long names, to be indexed. */
  readonly unindexed: readonly number[]
}

/** A key at the end of a path of keys, and the column of the path's joined name. */
interface Place {
  readonly column: GrowingColumn | undefined
  readonly below: Map<string, Place>
}

// Larger events are listed as unindexed, so that hostile ones cost little.
const MAX_VALUES = 2000
const MAX_NAME = 500

// Copies a cut text, because a substring would keep the whole text in memory.
const ownText = (text: string): string => {
  const cut = indexedText(text)
  return cut.length === text.length ? text : Buffer.from(cut).toString()
}

/**
 * The returned function finds the place of a key below a parent, or without parent the place of a path's
 * first key. It returns `undefined` if the joined name is too long. Places are kept by their keys, so that
 * each name is joined only once.
 */
function createPlaceFinder(
  columnOf: (name: string) => GrowingColumn,
): (parent: Place | undefined, key: string) => Place | undefined {
  const roots = new Map<string, Place>()
  const names = new Map<Place, string>()

  // A path whose joined name is that of an own field cannot be queried.
  const placeOf = (name: string): Place => ({
    column: isOwnField(name) ? undefined : columnOf(name),
    below: new Map(),
  })

  return (parent, key) => {
    const places = parent ? parent.below : roots
    let place = places.get(key)
    if (!place) {
      const name = parent ? `${names.get(parent)!}_${key}` : key
      if (name.length > MAX_NAME) return undefined
      place = placeOf(name)
      names.set(place, name)
      places.set(key, place)
    }
    return place
  }
}

export function createColumns(): Columns {
  const byName = new Map<string, GrowingColumn>()
  const unindexed: number[] = []
  let size = 0
  let left = 0

  const columnOf = (name: string): GrowingColumn => {
    let column = byName.get(name)
    if (!column) {
      column = { name, values: [], ordinals: [], containers: [] }
      byName.set(name, column)
    }
    return column
  }

  const placeBelow = createPlaceFinder(columnOf)

  const addContainer = ({ column }: Place): void => {
    if (column && column.containers.at(-1) !== size) column.containers.push(size)
  }

  /** False once the event has too many values. */
  const addValue = (place: Place, value: JsonValue): boolean => {
    if (value === null) return true
    if (left-- <= 0) return false
    if (typeof value !== 'object') {
      if (place.column) {
        place.column.ordinals.push(size)
        place.column.values.push(typeof value === 'string' ? ownText(value) : value)
      }
      return true
    }
    if (!Array.isArray(value)) return addMembers(place, value)
    if (value.length > 0) addContainer(place)
    return value.every((element) => addValue(place, element))
  }

  const addMembers = (parent: Place | undefined, object: JsonObject): boolean => {
    let hasSome = false
    for (const key in object) {
      hasSome = true
      const place = placeBelow(parent, key)
      if (!place || !addValue(place, object[key]!)) return false
    }
    if (parent && hasSome) addContainer(parent)
    return true
  }

  const addOwn = (name: string, value: Scalar): void => {
    const column = columnOf(name)
    column.ordinals.push(size)
    column.values.push(value)
  }

  return {
    byName,
    unindexed,
    get size() {
      return size
    },
    add({ type, username, system, attributes }) {
      left = MAX_VALUES
      addOwn('type', ownText(type))
      if (username !== null) addOwn('username', ownText(username))
      addOwn('system', system)
      // The values that were added already may stay, as the caller checks each event it finds.
      if (!addMembers(undefined, attributes)) unindexed.push(size)
      size += 1
    },
  }
}

/** The distinct values of one type, sorted, and the ordinals that have each, ascending. */
export interface SortedValues {
  readonly values: readonly Scalar[]
  readonly ordinals: readonly (readonly number[])[]
}

const NEEDS_RANK = /[\uD800-\uFFFF]/

function sortTexts(texts: string[]): string[] {
  // Sorting by UTF-16 units is much faster. It differs from the order of code points only if a text has
  // surrogates or units above them.
  texts.sort()
  return texts.some((text) => NEEDS_RANK.test(text)) ? texts.toSorted(compareText) : texts
}

const SORTS: Readonly<Record<Kind, (values: Scalar[]) => readonly Scalar[]>> = {
  [Kind.boolean]: (values) => values.toSorted((a, b) => Number(a) - Number(b)),
  [Kind.number]: (values) => Array.from(Float64Array.from(values as number[]).toSorted()),
  [Kind.text]: (values) => sortTexts(values as string[]),
}

/** The values by type ({@link Kind}), sorted. */
export function sortByKind(values: Iterable<Scalar>): readonly (readonly Scalar[])[] {
  const kinds: Scalar[][] = [[], [], []]
  for (const value of values) kinds[kindOf(value)]!.push(value)
  return kinds.map((some, kind) => SORTS[kind as Kind](some))
}

/** A column's values by type, sorted. */
export function sortColumn({ values, ordinals }: Column): readonly SortedValues[] {
  const groups = new Map<Scalar, number[]>()
  for (const [i, value] of values.entries()) {
    const ordinal = ordinals[i]!
    const found = groups.get(value)
    if (!found) groups.set(value, [ordinal])
    else if (found.at(-1) !== ordinal) found.push(ordinal)
  }
  return sortByKind(groups.keys()).map((sorted) => ({
    values: sorted,
    ordinals: sorted.map((value) => groups.get(value)!),
  }))
}

/** The ordinals that have any value in the column, ascending. */
export const valuedOrdinals = ({ ordinals }: Column): number[] =>
  ordinals.filter((ordinal, i) => i === 0 || ordinal !== ordinals[i - 1])
