import { describe, expect, it } from 'vitest'
import type { Answers, Run } from '../../../adapters/postgres/index/answers.js'
import type { ChunkLoader } from '../../../adapters/postgres/index/chunk-loader.js'
import type { SummedChunk } from '../../../adapters/postgres/index/checksums.js'
import type { Place, Request } from '../../../adapters/postgres/index/chunk-requests.js'
import { keyOf } from '../../../adapters/postgres/index/chunk-requests.js'
import { hexOf } from '../../../adapters/postgres/index/known-floors.js'
import { readSegment } from '../../../adapters/postgres/index/segment-reader.js'
import type { SegmentRow } from '../../../src/store-kit/maintenance/index-rows.js'
import { type Chunk, encodeChunks } from '../../../src/store-kit/index/chunks.js'
import { emptySet } from '../../../src/store-kit/index/bit-set.js'
import { exactFilter } from '../../../src/store-kit/index/exact-filter.js'
import { exactMatches } from '../../../src/store-kit/index/exact-matches.js'
import { addFigures, createFigures } from '../../../src/store-kit/index/figure-counts.js'
import { findPostings } from '../../../src/store-kit/index/find-postings.js'
import { indexFilter } from '../../../src/store-kit/index/index-filter.js'
import { type FetchedPart, Kind } from '../../../src/store-kit/index/part.js'
import { addToSet, anyOfPostings, countInSet, NONE } from '../../../src/store-kit/index/postings.js'
import {
  type ChunkValues,
  type Key,
  ListKind,
  keyOf as keyOfValue,
} from '../../../src/store-kit/index/segment-source.js'
import { inSortOrder } from '../../../src/store-kit/index/sort-order.js'
import { TIMES_PER_BLOCK } from '../../../src/store-kit/index/time-blocks.js'
import { timesOfSets } from '../../../src/store-kit/index/time-order.js'
import { readAll, readOne, WAIT, type Work } from '../../../src/store-kit/index/work.js'
import { parseQuery } from 'daybook'
import { memorySegment } from '../../support/memory-segment.js'

const SIZE = 40_000
const EVENTS = Array.from({ length: SIZE }, (_, i) => i)

/** Every event has one of 3 numbers, and one of 400 texts: the lists of numbers have many pieces. */
const numberOf = (event: number): number => (event * 7919) % 3
const textOf = (event: number): string => `text ${String((event * 104_729) % 400).padStart(3, '0')}`

function chunksBy(valueOf: (event: number) => string | number): Chunk[] {
  const lists = new Map<string | number, number[]>()
  for (const event of EVENTS) {
    const value = valueOf(event)
    const list = lists.get(value)
    if (list) list.push(event)
    else lists.set(value, [event])
  }
  const sorted = [...lists.keys()].toSorted((a, b) => (a < b ? -1 : 1))
  return [...encodeChunks(sorted.map((value) => ({ value, ordinals: lists.get(value)! })))]
}

const KINDS = new Map<number, readonly Chunk[]>([
  [Kind.number, chunksBy(numberOf)],
  [Kind.text, chunksBy(textOf)],
  [ListKind.valued, chunksBy(() => 0)],
])

interface Row extends SummedChunk {
  readonly key: Key
}

/** The chunks of all kinds, numbered after the blocks of times. */
const ROWS: readonly Row[] = [...KINDS]
  .flatMap(([kind, chunks]) => chunks.map((chunk) => ({ kind, chunk })))
  .map(({ kind, chunk }, i) => ({
    segment: 1,
    name: 1,
    kind,
    key: keyOfValue(chunk.first),
    first: hexOf(keyOfValue(chunk.first)),
    ordinal: chunk.ordinal,
    number: Math.ceil(SIZE / TIMES_PER_BLOCK) + i,
    values: chunk.values,
    postings: chunk.postings,
  }))

const toValues = ({ key, ordinal, values, postings }: Row): ChunkValues => [
  key,
  ordinal,
  values,
  postings,
]

const isAfter = (row: SummedChunk, { first, ordinal }: Place): boolean =>
  row.first === first ? row.ordinal > ordinal : row.first > first

function runOf(request: Extract<Request, { by: 'up' | 'down' }>): Run {
  const rows = ROWS.filter(({ kind }) => kind === request.lists.kind)
  const inOrder =
    request.by === 'up'
      ? rows.filter((row) => isAfter(row, request.place))
      : rows.filter((row) => !isAfter(row, request.place)).toReversed()
  const some = inOrder.slice(0, request.max)
  return {
    chunks: some.map(toValues),
    isEnd: some.length < request.max,
  }
}

function answerTo(request: Exclude<Request, { by: 'names' }>): Answers[keyof Answers] {
  if (request.by === 'times') {
    const from = request.block * TIMES_PER_BLOCK
    return EVENTS.slice(from, from + TIMES_PER_BLOCK)
  }
  if (request.by === 'firsts')
    return Float64Array.from({ length: request.blocks }, (_, i) => i * TIMES_PER_BLOCK)
  const rows = ROWS.filter(({ kind }) => kind === request.lists.kind)
  if (request.by === 'ends') return rows.length === 0 ? [] : [rows[0]!.number, rows.at(-1)!.number]
  if (request.by === 'numbers')
    return rows.filter(({ number }) => number >= request.from && number <= request.to)
  if (request.by === 'pieces')
    return rows.filter(({ first }) => first === request.first).map(toValues)
  return runOf(request)
}

/** A loader to which nothing is known before the next fetch. */
function createFakeLoader() {
  let known = new Map<string, Answers[keyof Answers]>()
  let missing = new Map<string, Exclude<Request, { by: 'names' }>>()
  let fetches = 0
  const read = (request: Exclude<Request, { by: 'names' }>): Answers[keyof Answers] | null => {
    const found = known.get(keyOf(request))
    if (!found) missing.set(keyOf(request), request)
    return found ?? WAIT
  }
  const loader: ChunkLoader = {
    read: read as ChunkLoader['read'],
    floor(lists, first) {
      const run = read({ by: 'down', lists, place: { first, ordinal: 2 ** 31 - 1 }, max: 1 })
      return run && (run as Run).chunks[0]
    },
    take(request) {
      const found = read(request)
      known.delete(keyOf(request))
      return found as Answers['numbers'] | null
    },
    numberOf: () => 1,
    fetch() {
      if (missing.size === 0) throw new Error('nothing is missing')
      fetches += 1
      for (const [key, request] of missing) known.set(key, answerTo(request))
      missing = new Map()
      return Promise.resolve()
    },
    release: () => void (known = new Map()),
  }
  return { loader, fetches: () => fetches }
}

async function finish<Result>(loader: ChunkLoader, work: Work<Result>): Promise<Result> {
  for (;;) {
    const next = work.next()
    if (next.done) return next.value
    if (next.value === WAIT) await loader.fetch()
  }
}

const ROW = { id: 1, size: SIZE, first: 0, last: SIZE - 1, isPartial: false, starts: 0, names: 1 }
const segmentOf = (loader: ChunkLoader): FetchedPart => readSegment(loader, ROW as SegmentRow)

function* ordinals(part: FetchedPart, ...values: readonly (number | string)[]): Work<number[]> {
  const sets = yield* readAll(values.map((value) => () => part.find('x', value)))
  const postings = anyOfPostings(sets)
  const met: number[] = []
  for (let at = yield* readOne(() => postings.seek(0, 1)); at !== NONE;) {
    met.push(at)
    const next = at + 1
    at = yield* readOne(() => postings.seek(next, 1))
  }
  return met
}

function* down(part: FetchedPart, value: number | string, most: number): Work<number[]> {
  const postings = yield* readOne(() => part.find('x', value))
  const met: number[] = []
  for (let at = SIZE; met.length < most;) {
    const from = at - 1
    at = yield* readOne(() => postings.seek(from, -1))
    if (at === NONE) return met
    met.push(at)
  }
  return met
}

function* counted(part: FetchedPart, value: number): Work<number> {
  const all = emptySet(SIZE)
  const postings = yield* readOne(() => part.find('x', value))
  while (addToSet(postings, all) === WAIT) yield WAIT
  return yield* readOne(() => countInSet(postings, all))
}

function* matches(part: FetchedPart, filter: string): Work<number[]> {
  const found = findPostings(part, indexFilter(parseQuery(filter).where), () => [])
  const postings = 'seek' in found ? found : yield* found
  const times: number[] = []
  for (const time of timesOfSets([{ part, postings }], 'asc', { from: 0, to: SIZE }))
    if (typeof time === 'number') times.push(time)
    else yield time
  return times
}

function* sorted(part: FetchedPart, direction: 'asc' | 'desc', limit: number): Work<unknown[]> {
  const postings = { size: SIZE, seek: (at: number) => (at >= 0 && at < SIZE ? at : NONE) }
  const met: unknown[] = []
  const order = {
    bounds: { from: 0, to: SIZE },
    isFull: () => met.length >= limit,
    requires: () => true,
  }
  const sorts = [{ attribute: 'x', direction }]
  for (const one of inSortOrder([{ part, postings }], sorts, order))
    if (one) met.push([one.time, ...one.keys])
    else yield one
  return met
}

function* figures(part: FetchedPart, filter: string): Work<unknown> {
  const shared = exactFilter(parseQuery(filter).where)!
  const counts = createFigures({ shared, own: new Map(), facets: ['x'] })
  const isExact = yield* addFigures(counts, part, [{ from: 100, to: SIZE - 100 }], [])
  return { isExact, facets: counts.facets }
}

const exact = (part: FetchedPart, filter: string): Work<unknown> =>
  exactMatches(part, exactFilter(parseQuery(filter).where)!)

const CASES: readonly (readonly [name: string, work: (part: FetchedPart) => Work<unknown>])[] = [
  ['a list in pieces', (part) => ordinals(part, 1)],
  ['a list in pieces, from the end', (part) => down(part, 2, 20_000)],
  ['two lists in pieces', (part) => ordinals(part, 0, 'text 007', 1)],
  ['a list among others', (part) => ordinals(part, 'text 123')],
  ['a value that no event has', (part) => ordinals(part, 'text')],
  ['the size of a list in pieces', (part) => counted(part, 0)],
  ['a filter by values', (part) => matches(part, 'filter[x_in][]=1&filter[x_in][]=text 007')],
  ['a filter by a range', (part) => matches(part, 'filter[x_gteq]=text 390')],
  ['a filter by a start', (part) => matches(part, 'filter[x_start]=text 39')],
  [
    'two searches of the same chunks',
    (part) => matches(part, 'filter[x_cont_any][]=xt 39&filter[x_cont_any][]=xt 1'),
  ],
  ['a filter by a part', (part) => matches(part, 'filter[x_cont]=xt 39')],
  [
    'several conditions',
    (part) => matches(part, 'filter[x_eq]=1&filter[x_not_null]=1&filter[x_lt]=2'),
  ],
  ['alternatives', (part) => matches(part, 'filter[m]=or&filter[x_eq]=0&filter[x_start]=text 0')],
  ['the absence of a value', (part) => matches(part, 'filter[x_null]=1')],
  ['a rising order', (part) => sorted(part, 'asc', 30)],
  ['a falling order', (part) => sorted(part, 'desc', 3000)],
  ['exact matches', (part) => exact(part, 'filter[m]=or&filter[x_eq]=2&filter[x_cont]=39')],
  ['exact matches of a negation', (part) => exact(part, 'filter[x_not_eq]=text 001')],
  ['figures', (part) => figures(part, 'filter[x_lt]=2')],
]

describe('work that waits for each chunk finds the same as work that does not wait', () => {
  const truth = memorySegment(SIZE, KINDS).part

  it.each(CASES)('%s', async (_, work) => {
    const { loader, fetches } = createFakeLoader()
    const never: ChunkLoader = { ...loader, fetch: () => Promise.reject(new Error('waits')) }
    const expected = await finish(never, work(truth))
    expect(await finish(loader, work(segmentOf(loader)))).toEqual(expected)
    expect(fetches()).toBeGreaterThan(0)
  })
})
