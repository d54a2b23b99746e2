import { isStorableText } from '../../../src/event/json-copy.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { openSegment } from '../../../src/store-kit/index/segment.js'
import {
  type ChunkLines,
  type ChunkReader,
  type ChunkValues,
  type Key,
  keyOf,
  NO_NAME,
  type PlaceRange,
  type SegmentInfo,
} from '../../../src/store-kit/index/segment-source.js'
import { readValues } from '../../../src/store-kit/index/read-chunks.js'
import { BLOCK } from '../../../src/store-kit/index/time-blocks.js'
import { keyBytes } from './segment-keys.js'
import type { ChunkRow, Lists } from './chunk-requests.js'
import { before, behind, END, type Place, START } from './known-chunks.js'
import { bulkKey, MISSING, type Reading } from './chunk-loader.js'

// Chunks that are fetched at once where all are gone through.
const BULK = 64

const ALL: readonly PlaceRange[] = [{ from: 0, to: Infinity }]

const hexOf = (key: Key): string => keyBytes(key).toString('hex')

/** The chunks as far as they have been fetched; throws {@link MISSING} where they have not. */
function createChunkReader(reading: Reading): ChunkReader<Lists> {
  const batch = new Map<number, ChunkRow>()

  const tryDown = (
    lists: Lists,
    place: Place,
    most: () => number,
  ): ChunkValues | undefined | 'unknown' => {
    const found = reading.known(lists).down(place)
    if (found === 'unknown') reading.note({ by: 'down', lists, place, most: most() })
    return found
  }
  const known = <Found>(found: Found | 'unknown'): Found => {
    if (found === 'unknown') throw MISSING
    return found
  }
  const down = (lists: Lists, place: Place, most: () => number): ChunkValues | undefined =>
    known(tryDown(lists, place, most))
  const up = (lists: Lists, place: Place, most: () => number): ChunkValues | undefined => {
    const found = reading.known(lists).up(place)
    if (found === 'unknown') reading.note({ by: 'up', lists, place, most: most() })
    return known(found)
  }
  const one = (): number => 1

  const piecesOf = (lists: Lists, key: Key): readonly ChunkValues[] => {
    const first = hexOf(key)
    const found = reading.known(lists).pieces(first)
    if (found === 'unknown') reading.note({ by: 'pieces', lists, first })
    return known(found)
  }

  const endsOf = (lists: Lists): readonly [number, number] | 'none' => {
    const { ends } = reading.known(lists)
    if (!ends) reading.note({ by: 'ends', lists })
    return known(ends ?? 'unknown')
  }

  /** Yields nothing as long as something is to be fetched: what came before is not to be done again. */
  function* inBulk(lists: Lists, places = ALL): Generator<readonly ChunkLines[], void> {
    const ends = endsOf(lists)
    if (ends === 'none') return
    const { segment } = lists
    for (const { from, to } of places) {
      const last = Math.min(ends[0] + to - 1, ends[1])
      for (let next = ends[0] + from; next <= last; next += BULK) {
        const until = Math.min(next + BULK - 1, last)
        const key = bulkKey(segment, next, until)
        while (!reading.bulk.has(key)) {
          reading.note({ by: 'numbers', segment, from: next, to: until })
          yield []
        }
        const rows = reading.bulk.get(key)!
        reading.bulk.delete(key)
        batch.clear()
        for (const row of rows) batch.set(row.number, row)
        yield rows.map(({ number, vals }) => ({ id: number, lines: vals }))
      }
    }
  }

  return {
    inBulk,
    at(id, lines) {
      const { posts } = batch.get(id)!
      const [first] = readValues(lines.slice(0, (lines.indexOf('\n') + 1 || Infinity) - 1))
      return [keyOf(first!), 0, lines, posts]
    },
    floor: (lists, key) => down(lists, behind(hexOf(key)), one),
    floors: (lists, keys) =>
      keys.map((key) => tryDown(lists, behind(hexOf(key)), one)).map((found) => known(found)),
    before: (lists, key) => down(lists, before(hexOf(key)), () => reading.ahead(lists, 'down')),
    after: (lists, key) => up(lists, behind(hexOf(key)), () => reading.ahead(lists, 'up')),
    first: (lists) => up(lists, START, one),
    last: (lists) => down(lists, END, one),
    pieceAt: (lists, key, ordinal) =>
      piecesOf(lists, key).findLast(([, first]) => first <= ordinal),
    pieceAfter: (lists, key, ordinal) => piecesOf(lists, key).find(([, first]) => first > ordinal),
  }
}

/** A segment as far as it has been fetched: what is not throws {@link MISSING}. */
export function readSegment(reading: Reading, info: SegmentInfo): IndexPart {
  const { id: segment, size } = info
  const source = {
    chunks: createChunkReader(reading),
    listsOf(name: string | undefined, kind: number) {
      // What has a name that is no text for Postgres is among the unindexed.
      if (name !== undefined && !isStorableText(name)) return undefined
      const number = name === undefined ? NO_NAME : reading.numberOf(name)
      return number === undefined ? undefined : { segment, name: number, kind }
    },
    timesOf: (block: number) => reading.times(segment, block),
    firstTimeOf: (block: number) => reading.firsts(segment, Math.ceil(size / BLOCK))[block]!,
  }
  return openSegment(source, info)
}
