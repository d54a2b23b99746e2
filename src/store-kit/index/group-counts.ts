import type { Scalar } from '../../filter/attributes.js'
import type { TimeBounds } from '../../filter/bounds.js'
import { type IndexPart, mayBeCut, type ValueEntry } from './part.js'
import { allEntries, type Work } from './find-postings.js'
import { addCounts, allOfPostings, listPostings, NONE, type Postings } from './postings.js'

/** A name by whose values events are counted. */
export interface GroupName {
  readonly name: string
  /** Values of the same class count as one; by default each value is a class. */
  readonly classOf?: ((value: Scalar) => unknown) | undefined
}

/** Events of one range that have the same values. */
export interface GroupCount {
  /** The number of the range. */
  readonly range: number
  /** For each name its value, or the first one of the class; `undefined` without one. */
  readonly values: readonly (Scalar | undefined)[]
  readonly count: number
}

// With more distinct values, reading the events takes less memory.
const MAX_VALUES = 10_000
// With more groups, too.
const MAX_GROUPS = 100_000
// Ordinals that are grouped at once.
const WINDOW = 65_536
/** Values between two points where the work may pause. */
const STEP = 64
// The same in ordinals. Reading a list takes as long as some of its ordinals.
const MAX_UNITS = 16_384
const LIST_UNITS = 4000

/** The values of one name. */
interface Column {
  readonly entries: readonly ValueEntry[]
  /** For each entry, the index of its class. */
  readonly classes: readonly number[]
  /** For each class, its first value. */
  readonly values: readonly Scalar[]
}

/**
 * Counts the events of each range by their values, of which an event has at most one for each name. Leaves
 * out the `removed` ordinals, which are ascending. The ranges do not overlap. `undefined` if the index does not have
 * all values, or if there are too many.
 */
export function* groupCounts(
  part: IndexPart,
  names: readonly GroupName[],
  ranges: readonly TimeBounds[],
  removed: ArrayLike<number> = [],
): Work<readonly GroupCount[] | undefined> {
  const spans = ranges.flatMap(({ from, to }, range) => {
    const span = { range, from: part.countBefore(from), to: part.countBefore(to + 1) }
    return span.from < span.to ? [span] : []
  })
  if (spans.length === 0) return []
  const columns: Column[] = []
  for (const name of names) {
    const column = yield* columnOf(part, name)
    if (!column) return undefined
    columns.push(column)
  }
  const left = { spans, removed: listPostings(removed) }
  if (columns.length === 1) return yield* countEach(columns[0]!, left, part.size)
  const groups = columns.reduce((product, { values }) => product * (values.length + 1), 1)
  return groups * spans.length > MAX_GROUPS ? undefined : yield* countSpans(columns, groups, left)
}

function* columnOf(part: IndexPart, { name, classOf }: GroupName): Work<Column | undefined> {
  if (part.partial(name).size > 0) return undefined
  const indexes = new Map<unknown, number>()
  const column = { entries: [] as ValueEntry[], classes: [] as number[], values: [] as Scalar[] }
  for (const entry of allEntries(part, name)) {
    const { value } = entry
    if (mayBeCut(value) || column.entries.length === MAX_VALUES) return undefined
    const key = classOf ? classOf(value) : value
    let index = indexes.get(key)
    if (index === undefined) {
      indexes.set(key, (index = column.values.length))
      column.values.push(value)
    }
    column.classes.push(index)
    if (column.entries.push(entry) % STEP === 0) yield
  }
  return column
}

/** Counts the events of each class without looking at each event. */
function* countEach(
  { entries, classes, values }: Column,
  { spans, removed }: Left,
  size: number,
): Work<GroupCount[]> {
  const isWhole = spans.length === 1 && spans[0]!.to - spans[0]!.from === size
  const hasRemoved = removed.size > 0
  const bounds = spans.flatMap(({ from, to }) => [from, to])
  const counts = values.map(() => bounds.map(() => 0))
  let units = 0
  for (const [index, entry] of entries.entries()) {
    const ofClass = counts[classes[index]!]!
    if (isWhole) ofClass[0]! += entry.size
    else addCounts(entry.postings(), bounds, ofClass)
    if (hasRemoved) takeCounts(allOfPostings([entry.postings(), removed]), bounds, ofClass)
    units += LIST_UNITS + (isWhole ? 0 : entry.size) + Math.min(entry.size, removed.size)
    if (units < MAX_UNITS) continue
    yield
    units = 0
  }
  const present = spans.flatMap(({ from, to }) => [to - from, 0])
  takeCounts(removed, bounds, present)
  return spans.flatMap(({ range }, i) => {
    const found = values.map((value, index) => ({
      range,
      values: [value],
      count: counts[index]![2 * i]!,
    }))
    const rest = found.reduce((left, { count }) => left - count, present[2 * i]!)
    return [...found, { range, values: [undefined], count: rest }].filter(({ count }) => count > 0)
  })
}

/** Takes from `counts` what `addCounts` would add. */
function takeCounts(set: Postings, bounds: readonly number[], counts: number[]): void {
  const taken = counts.map(() => 0)
  addCounts(set, bounds, taken)
  for (const [i, count] of taken.entries()) counts[i]! -= count
}

/** The events to count: those of the spans that were not removed. */
interface Left {
  readonly spans: readonly Span[]
  readonly removed: Postings
}

/** A range of ordinals; `to` is exclusive. */
interface Span {
  readonly range: number
  readonly from: number
  readonly to: number
}

/**
 * Goes through the spans, which are in order, in windows. The classes of an event's values are the digits of its
 * group's number; 0 stands for no value.
 */
function* countSpans(
  columns: readonly Column[],
  groupCount: number,
  { spans, removed }: Left,
): Work<GroupCount[]> {
  const sets = columns.map(({ entries }) => entries.map((entry) => entry.postings()))
  const groups = new Uint32Array(WINDOW)
  const found = new Uint32Array(groupCount)
  const counts: GroupCount[] = []
  const end = spans.at(-1)!.to
  let next = 0
  for (let start = spans[0]!.from; start < end; start += WINDOW) {
    groups.fill(0)
    yield* numberGroups(columns, sets, { groups, start })
    for (; next < spans.length && spans[next]!.from < start + WINDOW; next++) {
      const { range, from, to } = spans[next]!
      const last = Math.min(to, start + WINDOW)
      const first = Math.max(from, start)
      for (let at = first; at < last; at++) found[groups[at - start]!]! += 1
      for (let at = removed.seek(first, 1); at !== NONE && at < last; at = removed.seek(at + 1, 1))
        found[groups[at - start]!]! -= 1
      if (to > start + WINDOW) break
      for (const [group, count] of found.entries())
        if (count > 0) counts.push({ range, values: valuesOf(columns, group), count })
      found.fill(0)
    }
    yield
  }
  return counts
}

function* numberGroups(
  columns: readonly Column[],
  sets: readonly (readonly Postings[])[],
  { groups, start }: { readonly groups: Uint32Array; readonly start: number },
): Work<void> {
  let factor = 1
  for (const [i, { classes, values }] of columns.entries()) {
    for (const [index, set] of sets[i]!.entries()) {
      const digit = (classes[index]! + 1) * factor
      for (let at = set.seek(start, 1); at !== NONE; at = set.seek(at + 1, 1)) {
        if (at >= start + groups.length) break
        groups[at - start]! += digit
      }
      if (index % STEP === STEP - 1) yield
    }
    factor *= values.length + 1
  }
}

function valuesOf(columns: readonly Column[], group: number): readonly (Scalar | undefined)[] {
  let rest = group
  return columns.map(({ values }) => {
    const digit = rest % (values.length + 1)
    rest = Math.floor(rest / (values.length + 1))
    return digit === 0 ? undefined : values[digit - 1]
  })
}
