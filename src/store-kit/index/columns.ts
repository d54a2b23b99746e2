import type { AuditEvent, JsonObject, JsonValue } from '../../event/event.js'
import type { Scalar } from '../../filter/attributes.js'
import { compareText } from '../../filter/values.js'
import { isOwnField } from '../../event/own-fields.js'
import { indexedText, Kind, kindOf } from './part.js'

/** What some events have in one attribute, in the order in which they were added. */
export interface Column {
  readonly name: string
  /** The value at an index belongs to the event whose ordinal is there; several may be of one event. */
  readonly values: readonly Scalar[]
  readonly ordinals: readonly number[]
  /** The events in which the name leads to an object or an array that has members. */
  readonly containers: readonly number[]
}

interface GrowingColumn extends Column {
  readonly values: Scalar[]
  readonly ordinals: number[]
  readonly containers: number[]
}

/** The attributes of some events, taken apart by their names. */
export interface Columns {
  /** Adds the next event; its ordinal is the number of those before. */
  add(event: Pick<AuditEvent, 'type' | 'username' | 'system' | 'attributes'>): void
  readonly size: number
  readonly byName: ReadonlyMap<string, Column>
  /** The ordinals of events that have too much to be taken apart. */
  readonly unindexed: readonly number[]
}

/** A key that stands below others, and the column of the name that all of them join to. */
interface Place {
  readonly column: GrowingColumn | undefined
  readonly below: Map<string, Place>
}

// Hostile or huge events are looked at one by one.
const MAX_VALUES = 2000
const MAX_NAME = 500

// The reason of a copy: a part of a text would keep the whole in memory.
const ownText = (text: string): string => {
  const cut = indexedText(text)
  return cut.length === text.length ? text : Buffer.from(cut).toString()
}

/** Places are found by their keys, so that names are joined once for all events. */
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

  // A path that joins to an own field's name is never reached by it.
  const placeOf = (name: string): Place => ({
    column: isOwnField(name) ? undefined : columnOf(name),
    below: new Map(),
  })

  const roots = new Map<string, Place>()
  const names = new Map<Place, string>()

  const placeBelow = (parent: Place | undefined, key: string): Place | undefined => {
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

  const addContainer = ({ column }: Place): void => {
    if (column && column.containers.at(-1) !== size) column.containers.push(size)
  }

  /** False once it is too much. */
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
      // What has been added of it by then stays: each hit is looked at.
      if (!addMembers(undefined, attributes)) unindexed.push(size)
      size += 1
    },
  }
}

/** The distinct values of one type in their order, and of each the ordinals that have it, rising. */
export interface SortedValues {
  readonly values: readonly Scalar[]
  readonly ordinals: readonly (readonly number[])[]
}

const NEEDS_RANK = /[\uD800-\uFFFF]/

function sortTexts(texts: string[]): string[] {
  // By UTF-16 units, which is the order of code points below the surrogates, and faster by far.
  texts.sort()
  return texts.some((text) => NEEDS_RANK.test(text)) ? texts.toSorted(compareText) : texts
}

const SORTS: Readonly<Record<Kind, (values: Scalar[]) => readonly Scalar[]>> = {
  [Kind.boolean]: (values) => values.toSorted((a, b) => Number(a) - Number(b)),
  [Kind.number]: (values) => Array.from(Float64Array.from(values as number[]).toSorted()),
  [Kind.text]: (values) => sortTexts(values as string[]),
}

/** The values by their types ({@link Kind}), and in order. */
export function sortByKind(values: Iterable<Scalar>): readonly (readonly Scalar[])[] {
  const kinds: Scalar[][] = [[], [], []]
  for (const value of values) kinds[kindOf(value)]!.push(value)
  return kinds.map((some, kind) => SORTS[kind as Kind](some))
}

/** A column's values in order, by their types. */
export function sortColumn({ values, ordinals }: Column): readonly SortedValues[] {
  const groups = new Map<Scalar, number[]>()
  for (const [i, value] of values.entries()) {
    const ordinal = ordinals[i]!
    const met = groups.get(value)
    if (!met) groups.set(value, [ordinal])
    else if (met.at(-1) !== ordinal) met.push(ordinal)
  }
  return sortByKind(groups.keys()).map((sorted) => ({
    values: sorted,
    ordinals: sorted.map((value) => groups.get(value)!),
  }))
}

/** The ordinals that have any value in the column, rising. */
export const valuedOrdinals = ({ ordinals }: Column): number[] =>
  ordinals.filter((ordinal, i) => i === 0 || ordinal !== ordinals[i - 1])
