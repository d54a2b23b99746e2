import type { SummedChunk } from './checksums.js'
import { timesOf } from './segment-times.js'
import { eventsDigest } from '../../../src/store-kit/index/checksums.js'
import {
  type ChunkValues,
  DamagedSegment,
  type Key,
  missingRows,
  NO_NAME,
  TIMES_KIND,
} from '../../../src/store-kit/index/segment-source.js'
import { Kind } from '../../../src/store-kit/index/part.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import { type Lists, readChunkRow, type Requests } from './chunk-requests.js'
import { numberOfKey } from './segment-keys.js'

/** Chunks in the order in which they were requested. */
export interface Run {
  readonly chunks: readonly ChunkValues[]
  /** True if no chunk follows in this direction. */
  readonly isEnd: boolean
}

/** The answers to requests, which never change. */
export interface Answers {
  readonly down: Run
  readonly up: Run
  readonly pieces: readonly ChunkValues[]
  /** The numbers of the first and the last chunk; empty if there are none. */
  readonly ends: readonly number[]
  readonly numbers: readonly SummedChunk[]
  readonly times: readonly Microseconds[]
  readonly firsts: Float64Array
}

type Readers = {
  readonly [By in keyof Answers]: (request: Requests[By], rows: readonly TextRow[]) => Answers[By]
}

function chunksOf(lists: Lists, rows: readonly TextRow[]): readonly ChunkValues[] {
  return rows.map((row): ChunkValues => {
    const { first, ordinal, values, postings } = readChunkRow(lists, row)
    const bytes = Buffer.from(first, 'hex')
    const key: Key = lists.kind === Kind.text ? bytes.toString() : numberOfKey(bytes)
    return [key, ordinal, values, postings]
  })
}

const readRun: Readers['up'] = ({ lists, max }, rows) => ({
  chunks: chunksOf(lists, rows),
  isEnd: rows.length < max,
})

/** Reads the rows of an answer. Throws `DamagedSegment`. */
export const READERS: Readers = {
  down: readRun,
  up: readRun,
  pieces: ({ lists }, rows) => chunksOf(lists, rows),
  ends(_, [row]) {
    const [, , first, last] = row!
    return first === null ? [] : [Number(first), Number(last)]
  },
  numbers({ lists, from, to }, rows) {
    if (rows.length !== to + 1 - from) throw missingRows(lists.segment)
    return rows.map((row) => readChunkRow(lists, row))
  },
  times({ segment }, [row]) {
    if (!row) throw missingRows(segment)
    return timesOf(readChunkRow({ segment, name: NO_NAME, kind: TIMES_KIND }, row))
  },
  firsts({ segment, digest }, [row]) {
    const bytes = Buffer.from(row![4] ?? '', 'base64')
    const times = new Float64Array(Math.floor(bytes.length / 8))
    for (const i of times.keys()) times[i] = numberOfKey(bytes.subarray(i * 8, i * 8 + 8))
    if (eventsDigest(times) !== digest)
      throw new DamagedSegment(segment, 'the digest of its first times is wrong')
    return times
  },
}

const ANSWER_BYTES = 300
const NUMBER_BYTES = 8

const bytesOfChunk = ([first, , values, postings]: ChunkValues): number =>
  ANSWER_BYTES + String(first).length + values.length + postings.length

/** Approximate memory. */
export function bytesOf(answer: Exclude<Answers[keyof Answers], Answers['numbers']>): number {
  const chunks = answer instanceof Float64Array || !('chunks' in answer) ? answer : answer.chunks
  let bytes = ANSWER_BYTES
  for (const one of chunks) bytes += typeof one === 'object' ? bytesOfChunk(one) : NUMBER_BYTES
  return bytes
}
