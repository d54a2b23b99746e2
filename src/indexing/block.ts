import type { AuditEvent, JsonValue } from '../event.js'
import { eventAttributes, isPresent, type Scalar, someScalar } from '../filter/attributes.js'
import { compareScalars } from '../filter/order.js'
import { isOwnField } from '../own-fields.js'
import type { Microseconds } from '../timestamp.js'
import {
  type Column,
  createColumns,
  groupColumn,
  type SortedValues,
  sortGroups,
  valuedOrdinals,
  type ValueGroups,
} from './columns.js'
import {
  indexedValue,
  type IndexPart,
  type Kind,
  kindOf,
  type Order,
  type ValueEntry,
} from './part.js'
import { EMPTY, listPostings, type Postings } from './postings.js'
import { valueFilter } from './value-filter.js'

/** Events that are taken in one after another, as an index in memory has them. */
export interface BlockSource {
  add(event: AuditEvent): void
  readonly size: number
  /** `undefined` where the name leads to nothing. */
  column(name: string): Column | undefined
  readonly unindexed: readonly number[]
}

/** Takes each event apart at once, and lets go of it. */
export function extractedSource(): BlockSource {
  const columns = createColumns()
  return {
    add: (event) => columns.add(event),
    get size() {
      return columns.size
    },
    column: (name) => columns.byName.get(name),
    unindexed: columns.unindexed,
  }
}

/** Keeps the events, and looks through them for the attributes that are asked for. */
export function keptSource(): BlockSource {
  const events: AuditEvent[] = []
  const keys = new Set<string>()
  /** The keys of so many of the events are known. */
  let keyed = 0

  /** Whether some event has a key with which a path to the name can begin. */
  const mayLead = (name: string): boolean => {
    for (; keyed < events.length; keyed++)
      for (const key in events[keyed]!.attributes) keys.add(key)
    for (let end = name.indexOf('_'); end !== -1; end = name.indexOf('_', end + 1))
      if (keys.has(name.slice(0, end))) return true
    return keys.has(name)
  }
  return {
    add: (event) => void events.push(event),
    get size() {
      return events.length
    },
    column: (name) => (isOwnField(name) || mayLead(name) ? columnOf(events, name) : undefined),
    unindexed: [],
  }
}

function columnOf(events: readonly AuditEvent[], name: string): Column {
  const column = {
    name,
    values: [] as Scalar[],
    ordinals: [] as number[],
    containers: [] as number[],
  }
  let ordinal = 0
  const visit = (value: JsonValue): boolean => {
    if (typeof value === 'object' && isPresent(value) && column.containers.at(-1) !== ordinal)
      column.containers.push(ordinal)
    return someScalar(value, (scalar) => {
      column.values.push(indexedValue(scalar))
      column.ordinals.push(ordinal)
      return false
    })
  }
  const walk = eventAttributes.walk(name, (value) => value !== null && visit(value))
  for (; ordinal < events.length; ordinal++) walk(events[ordinal]!)
  return column
}

interface ColumnIndex {
  readonly groups: ValueGroups
  readonly find: (value: Scalar) => Postings
  readonly sorted: () => readonly SortedValues[]
  readonly valued: () => Postings
  readonly containers: Postings
}

function indexColumn(column: Column): ColumnIndex {
  const groups = groupColumn(column)
  const mayHave = valueFilter(groups.keys(), groups.size)
  let sorted: readonly SortedValues[] | undefined
  let valued: readonly number[] | undefined
  return {
    groups,
    find(value) {
      const found = mayHave && !mayHave(value) ? undefined : groups.get(value)
      return found ? listPostings(found) : EMPTY
    },
    sorted: () => (sorted ??= sortGroups(groups)),
    valued: () => listPostings((valued ??= valuedOrdinals(column))),
    containers: listPostings(column.containers),
  }
}

/** Some events in the order of their times, with an index of those attributes that are asked for. */
export interface Block {
  readonly size: number
  readonly last: Microseconds
  /** The event is later than all that are there. */
  add(time: Microseconds, event: AuditEvent): void
  /** As it is now. */
  part(): IndexPart
}

export function createBlock(id: string, createSource: () => BlockSource): Block {
  const times: Microseconds[] = []
  const source = createSource()
  let indexes = new Map<string, ColumnIndex | undefined>()
  let part: IndexPart | undefined

  const indexOf = (name: string): ColumnIndex | undefined => {
    const known = indexes.get(name)
    if (known || indexes.has(name)) return known
    const column = source.column(name)
    const index = column && indexColumn(column)
    indexes.set(name, index)
    return index
  }
  return {
    get size() {
      return times.length
    },
    get last() {
      return times.at(-1) ?? -Infinity
    },
    add(time, event) {
      times.push(time)
      source.add(event)
      if (indexes.size > 0) indexes = new Map()
      part = undefined
    },
    part: () => (part ??= blockPart(id, times, source.unindexed, indexOf)),
  }
}

function blockPart(
  id: string,
  times: readonly Microseconds[],
  unindexed: readonly number[],
  indexOf: (name: string) => ColumnIndex | undefined,
): IndexPart {
  const size = times.length
  return {
    id,
    size,
    first: times[0] ?? 0,
    last: times[size - 1] ?? 0,
    timeOf: (ordinal) => times[ordinal]!,
    countBefore: (time) => lowerBound(size, (at) => times[at]! < time),
    values: (name, kind, order, from) => entriesOf(indexOf(name)?.sorted()[kind], order, from),
    inAnyOrder: (name, kind) => entriesOfGroups(indexOf(name)?.groups, kind),
    find: (name, value) => indexOf(name)?.find(value) ?? EMPTY,
    valued: (name) => indexOf(name)?.valued() ?? EMPTY,
    containers: (name) => indexOf(name)?.containers ?? EMPTY,
    unindexed: listPostings(unindexed),
  }
}

/** In the order in which events have them, in which they mostly lie in memory; one entry for all. */
function* entriesOfGroups(
  groups: ValueGroups | undefined,
  kind: Kind,
): Generator<ValueEntry, void> {
  if (!groups) return
  let ordinals: readonly number[] = []
  const entry = {
    value: '' as Scalar,
    get size() {
      return ordinals.length
    },
    postings: () => listPostings(ordinals),
  }
  for (const [value, having] of groups) {
    if (kindOf(value) !== kind) continue
    entry.value = value
    ordinals = having
    yield entry
  }
}

/** The first of so many indexes that is not below. */
function lowerBound(size: number, isBelow: (index: number) => boolean): number {
  let [low, high] = [0, size]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBelow(middle)) low = middle + 1
    else high = middle
  }
  return low
}

function* entriesOf(
  sorted: SortedValues | undefined,
  order: Order,
  from: Scalar | undefined,
): Generator<ValueEntry, void> {
  if (!sorted) return
  const { values, ordinals } = sorted
  const size = values.length
  const entryAt = (index: number): ValueEntry => ({
    value: values[index]!,
    size: ordinals[index]!.length,
    postings: () => listPostings(ordinals[index]!),
  })
  if (order === 'asc') {
    const start =
      from === undefined ? 0 : lowerBound(size, (at) => compareScalars(values[at]!, from) < 0)
    for (let index = start; index < size; index++) yield entryAt(index)
  } else {
    const end =
      from === undefined ? size : lowerBound(size, (at) => compareScalars(values[at]!, from) <= 0)
    for (let index = end - 1; index >= 0; index--) yield entryAt(index)
  }
}
