import type { AuditEvent, JsonObject, JsonValue } from '../../event/event.js'
import { isOwnField } from '../../event/own-fields.js'
import { searchedAttributes } from '../../event/searched.js'
import type { Scalar } from '../../filter/attributes.js'
import type { Steps } from '../../filter/steps.js'
import { compareText } from '../../filter/values.js'
import {
  type Column,
  type ColumnTable,
  createColumnTable,
  emptyColumn,
  type GrowingColumn,
} from './column-table.js'
import { createPlaceFinder, type Place } from './column-places.js'
import { INDEX_BOUNDS } from './index-bounds.js'
import {
  createOtherNames,
  hashOfState,
  nameHash,
  type OtherNames,
  PAIR_BYTES,
} from './other-names.js'
import { indexedText, Kind, kindOf, mayBeCut } from './part.js'

/**
 * The attributes of some events, by name. A filter on a name leads to the events that its column lists for
 * a value; to the column's `partial` events; to the events that `otherNames` lists for the name; and, if the name has no
 * column, to `others`.
 */
export interface Columns {
  /**
   * Adds an event; its ordinal is the number of events before it. Returns the rest of the work if the event has
   * very many values; it has to be done before the next addition.
   */
  add(
    event: Pick<AuditEvent, 'type' | 'username' | 'system' | 'source' | 'attributes'>,
  ): Steps<void> | undefined
  readonly size: number
  /** Approximate memory. */
  readonly bytes: number
  readonly byName: ReadonlyMap<string, Column>
  /** The events that have names without a column. */
  readonly otherNames: OtherNames
  /** Ordinals of events that have more names without a column than `otherNames` lists. */
  readonly others: readonly number[]
  /** See `IndexPart.sources`. */
  readonly sources: Column
  /** Ordinals of events that may have more texts than the columns list. */
  readonly partialTexts: readonly number[]
}

const NUMBER_BYTES = 24
const TEXT_BYTES = 48
const EVENT_BYTES = 64

/** Values of an event that are added at once, in some milliseconds. More than are listed: the rest is only noted. */
const ADDED_AT_ONCE = 10_000

/** A value that is not added yet: the value of a key below the parent, or without key an element of the parent. */
interface PendingValue {
  readonly parent: Place | undefined
  readonly key: string | undefined
  readonly value: JsonValue
}

// Copies a cut text, because a substring would keep the whole text in memory.
const ownText = (text: string): string => {
  const cut = indexedText(text)
  return cut.length === text.length ? text : Buffer.from(cut).toString()
}

const bytesOf = (value: Scalar): number =>
  typeof value === 'string' ? TEXT_BYTES + value.length : NUMBER_BYTES

/** The work on one event that is done at once. */
interface AtOnce {
  /** Number of values that may still be added. */
  left: number
  pending: PendingValue[]
}

/** The lists of a part that belong to no column. */
const emptyLists = () => ({
  otherNames: createOtherNames(),
  others: [] as number[],
  sources: emptyColumn(''),
  partialTexts: [] as number[],
})

export function createColumns({ names, values } = INDEX_BOUNDS): Columns {
  const lists = emptyLists()
  const { otherNames, others, sources, partialTexts } = lists
  const table = createColumnTable(names, others)
  const { placeBelow, clear } = createPlaceFinder(table.columnOf, names)
  let size = 0
  let left = 0
  const atOnce: AtOnce = { left: 0, pending: [] }
  let bytes = 0

  /** Notes that the event has something at the place that is not listed. */
  const note = ({ column, name, hashState }: Place): void => {
    if (column) addOnce(column.partial, size)
    else if (name !== undefined && isOwnField(name)) return
    else if (left >= 0) otherNames.add(hashOfState(hashState), size)
    else addOnce(others, size)
    bytes += PAIR_BYTES
  }
  const list = (column: GrowingColumn, value: Scalar): void =>
    void (bytes += addTo(column, value, size))
  const addScalar = (place: Place, value: Scalar): void => {
    const indexed = typeof value === 'string' ? ownText(value) : value
    // A database's text cannot hold a lone surrogate.
    const canList = left >= 0 && (typeof indexed !== 'string' || indexed.isWellFormed())
    if (place.column && canList) return list(place.column, indexed)
    note(place)
    if (typeof value === 'string') addOnce(partialTexts, size)
  }
  const addContainer = (place: Place): void => {
    if (place.column && left >= 0) addOnce(place.column.containers, size)
    else note(place)
  }
  const addValue = (place: Place, value: JsonValue): void => {
    if (value === null) return
    left -= 1
    if (typeof value !== 'object') return addScalar(place, value)
    if (!Array.isArray(value)) return addMembers(place, value)
    if (value.length > 0) addContainer(place)
    for (const element of value) addSoon(place, undefined, element)
  }
  const addSoon = (parent: Place | undefined, key: string | undefined, value: JsonValue): void => {
    atOnce.left -= 1
    if (atOnce.left < 0) atOnce.pending.push({ parent, key, value })
    else addValue(key === undefined ? parent! : placeBelow(parent, key), value)
  }
  const addMembers = (parent: Place | undefined, object: JsonObject): void => {
    let isEmpty = true
    for (const key in object) {
      if (isEmpty && parent) addContainer(parent)
      isEmpty = false
      addSoon(parent, key, object[key]!)
    }
  }
  const end = (): undefined => void (size += 1)

  return {
    byName: table.byName,
    ...lists,
    get size() {
      return size
    },
    get bytes() {
      return bytes + table.bytes
    },
    add({ type, username, system, source, attributes }) {
      // No place is in use between two events.
      if (table.isCrowded()) clear()
      bytes += makeRoom(table, lists)
      left = values
      atOnce.left = ADDED_AT_ONCE
      bytes += EVENT_BYTES
      list(table.ownColumn('type'), ownText(type))
      if (username !== null) list(table.ownColumn('username'), ownText(username))
      list(table.ownColumn('system'), system)
      if (source !== null) list(sources, listedSource(source, attributes))
      addMembers(undefined, searchedAttributes(attributes))
      return atOnce.pending.length > 0 ? addPending(atOnce, addSoon, end) : end()
    },
  }
}

/** The source, without what follows its last slash if a text of the attributes ends with that. */
function listedSource(source: string, attributes: JsonObject): string {
  const end = source.lastIndexOf('/') + 1
  const rest = source.slice(end)
  for (const key in attributes) {
    const value = attributes[key]
    // A long text is cut.
    if (typeof value === 'string' && !mayBeCut(value) && value.endsWith(rest))
      return ownText(source.slice(0, end))
  }
  return ownText(source)
}

/** Adds the values that are left, with pauses. */
function* addPending(
  atOnce: AtOnce,
  add: (parent: Place | undefined, key: string | undefined, value: JsonValue) => void,
  end: () => void,
): Steps<void> {
  while (atOnce.pending.length > 0) {
    const values = atOnce.pending
    atOnce.pending = []
    for (const { parent, key, value } of values) {
      if (atOnce.left <= 0) {
        yield
        atOnce.left = ADDED_AT_ONCE
      }
      add(parent, key, value)
    }
  }
  end()
}

/** The ordinals that have a text in the column. */
const textOrdinals = ({ values, ordinals }: Column): number[] =>
  ordinals.filter((_, i) => typeof values[i] === 'string')

/** Returns the memory that the value takes. */
function addTo(column: GrowingColumn, value: Scalar, ordinal: number): number {
  if (column.ordinals[column.ordinals.length - 1] !== ordinal) column.events += 1
  column.ordinals.push(ordinal)
  column.values.push(value)
  return bytesOf(value)
}

/** Takes columns from rare names of a crowded table, and lists their events by the hashes of the names. Returns the memory of that. */
function makeRoom(
  table: ColumnTable,
  { otherNames, partialTexts }: Pick<ReturnType<typeof emptyLists>, 'otherNames' | 'partialTexts'>,
): number {
  if (!table.isCrowded()) return 0
  const before = otherNames.size
  const evicted = table.evict()
  for (const column of evicted) addToOtherNames(otherNames, column)
  addOrdinals(partialTexts, evicted.flatMap(textOrdinals))
  return (otherNames.size - before) * PAIR_BYTES
}

/** Adds ordinals in any order to a list that stays ascending. */
function addOrdinals(list: number[], ordinals: readonly number[]): void {
  const all = Array.from(new Set([...list, ...ordinals])).toSorted((a, b) => a - b)
  list.length = 0
  for (const ordinal of all) list.push(ordinal)
}

/** Lists the events of a column by its name's hash, as the column is left out. */
export function addToOtherNames(otherNames: OtherNames, column: Column): void {
  const hash = nameHash(column.name)
  const { containers, partial } = column
  for (const ordinals of [valuedOrdinals(column), containers, partial])
    for (const ordinal of ordinals) otherNames.add(hash, ordinal)
}

/** Appends an ordinal that is not below those of the list. */
function addOnce(ordinals: number[], ordinal: number): void {
  if (ordinals.at(-1) !== ordinal) ordinals.push(ordinal)
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
