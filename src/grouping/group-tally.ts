import type { AuditEvent } from '../event/event.js'
import { levelOf } from '../event/level.js'
import { parseTimestamp } from '../event/timestamp.js'
import { eventAttributes, type Scalar, scalarsInSteps } from '../filter/attributes.js'
import type { Steps } from '../filter/steps.js'
import type { GroupsQuery, GroupValue } from '../store/groups.js'
import { createNumberSamples, type NumberSample } from './number-samples.js'

/** Figures of the read events of a group. A slice is a part of the log that is read in one piece. */
export interface TalliedGroup {
  readonly values: readonly GroupValue[]
  count: number
  /** The events of the current slice. */
  inSlice: number
  /** Number of slices that have events of the group. */
  slices: number
  /** The sum over the slices of the squared number of events. */
  squares: number
  /** The sum over the slices: the number of events in the group times the number of all matching events. */
  products: number
  readonly buckets: Uint32Array | undefined
  /** By the index of the attribute. */
  readonly numbers: readonly NumberSample[]
}

/** Collects the groups of the events that are added. */
export interface GroupTally {
  readonly groups: ReadonlyMap<string, TalliedGroup>
  /** The number of events. */
  readonly read: number
  /** Number of slices that were read to their end. */
  readonly slices: number
  /** The sum over the slices of the squared number of events. */
  readonly squares: number
  /** True if there were more groups than are kept. */
  readonly isFull: boolean
  add(event: AuditEvent): Steps<void>
  endSlice(): void
}

export const keyOf = (values: readonly GroupValue[]): string => JSON.stringify(values)

export interface GroupCapacity {
  readonly groups: number
  readonly characters: number
}

const MAX_GROUPS = 100_000
const MAX_CHARACTERS = 4_000_000
/** Limits the buckets of all groups together. */
const MAX_CELLS = 4_000_000
// Longer texts are not useful in a list of values.
const MAX_TEXT = 1000
/** Combinations of one event between two pauses. */
const STRIDE = 256

function* scalarsOf(event: AuditEvent, name: string): Steps<Scalar[]> {
  if (name === 'level') return [levelOf(event.type)]
  return yield* scalarsInSteps(yield* eventAttributes.valuesInSteps(event, name))
}

/** The distinct values of an event, without long texts; null if it has none. */
function* groupValuesOf(event: AuditEvent, name: string): Steps<readonly GroupValue[]> {
  const scalars = yield* scalarsOf(event, name)
  if (scalars.length === 0) return [null]
  if (scalars.length === 1) return isShort(scalars[0]!) ? scalars : []
  return [...new Set(scalars.filter(isShort))]
}

const isShort = (value: Scalar): boolean => typeof value !== 'string' || value.length <= MAX_TEXT

/** The index of the bucket that contains the time. */
function bucketAt(edges: readonly number[], time: number): number {
  let [low, high] = [0, edges.length - 2]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (edges[middle]! <= time) low = middle
    else high = middle - 1
  }
  return low
}

const charactersOf = (values: readonly GroupValue[]): number =>
  values.reduce((sum: number, value) => sum + (typeof value === 'string' ? value.length : 1), 0)

/** The groups by their keys, up to the capacity. */
interface KeptGroups {
  readonly groups: ReadonlyMap<string, TalliedGroup>
  readonly isFull: boolean
  /** The group of these values; `undefined` if the tally has no room for it. */
  find(values: readonly GroupValue[]): TalliedGroup | undefined
}

function createKeptGroups(
  capacity: GroupCapacity,
  bucketCount: number,
  createNumbers: () => readonly NumberSample[],
): KeptGroups {
  const groups = new Map<string, TalliedGroup>()
  const maxGroups = Math.min(capacity.groups, Math.floor(MAX_CELLS / Math.max(1, bucketCount)))
  let characters = capacity.characters
  let isFull = false
  return {
    groups,
    get isFull() {
      return isFull
    },
    find(values) {
      const key = keyOf(values)
      const known = groups.get(key)
      if (known) return known
      const length = charactersOf(values)
      if (groups.size >= maxGroups || characters < length) {
        isFull = true
        return undefined
      }
      characters -= length
      const added: TalliedGroup = {
        values,
        count: 0,
        inSlice: 0,
        slices: 0,
        squares: 0,
        products: 0,
        buckets: bucketCount > 0 ? new Uint32Array(bucketCount) : undefined,
        numbers: createNumbers(),
      }
      groups.set(key, added)
      return added
    },
  }
}

/** `edges` are the beginnings of the buckets and the end of the last bucket. Empty without buckets. */
export function createGroupTally(
  { by, numbers }: Pick<GroupsQuery, 'by' | 'numbers'>,
  edges: readonly number[],
  capacity: GroupCapacity = { groups: MAX_GROUPS, characters: MAX_CHARACTERS },
): GroupTally {
  const samples = createNumberSamples()
  const bucketCount = Math.max(0, edges.length - 1)
  const kept = createKeptGroups(capacity, bucketCount, () => numbers.map(() => samples.create()))
  const inSlice = new Set<TalliedGroup>()
  let [read, readInSlice, slices, squares] = [0, 0, 0, 0]

  function* numbersOf(event: AuditEvent): Steps<readonly (readonly number[])[]> {
    const found: (readonly number[])[] = []
    for (const name of numbers) {
      const scalars = yield* scalarsOf(event, name)
      found.push(scalars.filter((scalar) => typeof scalar === 'number'))
    }
    return found
  }

  const addTo = (
    group: TalliedGroup,
    bucket: number,
    found: readonly (readonly number[])[],
  ): void => {
    group.count += 1
    group.inSlice += 1
    inSlice.add(group)
    if (group.buckets) group.buckets[bucket]! += 1
    for (const [i, some] of found.entries())
      for (const number of some) group.numbers[i]!.add(number)
  }

  return {
    groups: kept.groups,
    get read() {
      return read
    },
    get slices() {
      return slices
    },
    get squares() {
      return squares
    },
    get isFull() {
      return kept.isFull
    },
    *add(event) {
      read += 1
      readInSlice += 1
      const first = yield* groupValuesOf(event, by[0]!)
      const second = by.length > 1 ? yield* groupValuesOf(event, by[1]!) : undefined
      const found = yield* numbersOf(event)
      const bucket = bucketCount > 0 ? bucketAt(edges, parseTimestamp(event.created_at)!) : 0
      let added = 0
      for (const one of first)
        for (const values of second ? second.map((other) => [one, other]) : [[one]]) {
          const group = kept.find(values)
          if (group) addTo(group, bucket, found)
          if (++added % STRIDE === 0) yield
        }
    },
    endSlice() {
      slices += 1
      squares += readInSlice ** 2
      for (const group of inSlice) {
        group.slices += 1
        group.squares += group.inSlice ** 2
        group.products += group.inSlice * readInSlice
        group.inSlice = 0
      }
      inSlice.clear()
      readInSlice = 0
    },
  }
}
