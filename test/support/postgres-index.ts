import { setImmediate as nextTurn } from 'node:timers/promises'
import type pg from 'pg'
import type { Steps } from '../../adapters/postgres/index/steps.js'
import { namesIn } from '../../adapters/postgres/schema/names.js'
import { keyBytes, NO_NAME, State, TIMES } from '../../adapters/postgres/index/segment-keys.js'
import { type IndexPart, Kind } from '../../src/store-kit/index/part.js'
import { NONE } from '../../src/store-kit/index/postings.js'
import { openSegment } from '../../src/store-kit/index/segment.js'
import {
  type ChunkReader,
  type ChunkValues,
  type Key,
  keyOf,
  type SegmentInfo,
} from '../../src/store-kit/index/segment-source.js'
import { readValues } from '../../src/store-kit/index/read-chunks.js'
import { BLOCK, decodeTimes } from '../../src/store-kit/index/time-blocks.js'

/** Steps as they come, of which each may be held up: `before` is waited for. */
export const stepsOn = (
  pool: pg.Pool,
  schema: string,
  before: () => Promise<void> = () => Promise.resolve(),
): Steps => ({
  names: namesIn(schema),
  async run(step) {
    await before()
    const client = await pool.connect()
    try {
      return await step(client)
    } finally {
      client.release()
    }
  },
  isTurn: () => false,
  turn: () => nextTurn(),
  restFor: () => {},
})

/** Work on an index that goes on step by step. */
export interface SlowWork {
  /** Goes on for so many steps, or to the end; true there. */
  advance(steps: number): Promise<boolean>
  /** Goes on to the end, and gives what comes of it. */
  finish(): Promise<boolean>
}

export function slowWork(
  pool: pg.Pool,
  schema: string,
  start: (steps: Steps) => Promise<boolean>,
): SlowWork {
  let go: (() => void) | undefined
  let isOver = false
  let wake = (): void => {}
  const before = (): Promise<void> =>
    new Promise((resolve) => {
      go = resolve
      wake()
    })
  const result = start(stepsOn(pool, schema, before)).finally(() => {
    isOver = true
    wake()
  })
  // Whoever finishes it hears of its errors.
  result.catch(() => {})
  const untilStep = async (): Promise<void> => {
    if (!go && !isOver) await new Promise<void>((resolve) => (wake = resolve))
  }
  const advance = async (steps: number): Promise<boolean> => {
    await untilStep()
    for (let step = 0; step < steps && !isOver; step++) {
      const next = go
      go = undefined
      next?.()
      await untilStep()
    }
    return isOver
  }
  return {
    advance,
    async finish() {
      await advance(Infinity)
      return result
    },
  }
}

export interface StoredSegment extends SegmentInfo {
  readonly level: number
}

/** Chunks of one name and kind, in the order of their keys as the table has it. */
type Lists = readonly ChunkValues[]

interface ChunkRow {
  readonly number: number
  readonly name: string | null
  readonly kind: number
  readonly first: Buffer
  readonly ordinal: number
  readonly vals: string
  readonly posts: Buffer
}

export async function storedSegments(pool: pg.Pool, schema: string): Promise<StoredSegment[]> {
  const { rows } = await pool.query<Record<keyof StoredSegment, string>>(
    `SELECT id, level, size, first, last FROM ${schema}.segments
     WHERE state = ${State.visible} ORDER BY first, id`,
  )
  return rows.map((row) => ({
    id: Number(row.id),
    level: Number(row.level),
    size: Number(row.size),
    first: Number(row.first),
    last: Number(row.last),
  }))
}

const compareKeys = (a: Key, b: Key): number => Buffer.compare(keyBytes(a), keyBytes(b))

/** All of a segment, read at once. */
export async function loadSegment(
  pool: pg.Pool,
  schema: string,
  info: StoredSegment,
): Promise<IndexPart> {
  const { rows } = await pool.query<ChunkRow>(
    `SELECT number, names.name, kind, first, ordinal, vals, posts
     FROM ${schema}.segment_chunks AS chunk LEFT JOIN ${schema}.attribute_names AS names ON names.id = chunk.name
     WHERE segment = $1 AND (names.name IS NOT NULL OR chunk.name = ${NO_NAME})
     ORDER BY kind <> ${TIMES}, chunk.name, kind, chunk.first, ordinal`,
    [info.id],
  )
  if (rows.some(({ number }, i) => number !== i))
    throw new Error(`the chunks of segment ${info.id} are numbered otherwise than by their keys`)
  const byLists = new Map<string, ChunkValues[]>()
  for (const { name, kind, ordinal, vals, posts, first } of rows) {
    const key = `${kind} ${name ?? ''}`
    const value = kind === TIMES ? undefined : keyOf(readValues(vals)[0]!)
    if (value !== undefined && !keyBytes(value).equals(first))
      throw new Error(`a chunk of ${key} has another key than that of its first value`)
    byLists.set(key, [...(byLists.get(key) ?? []), [value ?? 0, ordinal, vals, posts]])
  }
  const times = rows
    .filter(({ kind }) => kind === TIMES)
    .map(({ first, posts }) => decodeTimes(doubleOf(first), posts))
  if (times.length !== Math.ceil(info.size / BLOCK)) throw new Error('blocks of times are missing')
  return openSegment(
    {
      chunks: READER,
      listsOf: (name, kind) => byLists.get(`${kind} ${name ?? ''}`),
      timesOf: (block) => times[block]!,
      firstTimeOf: (block) => times[block]![0]!,
    },
    info,
  )
}

/** Of a number that is not negative. */
function doubleOf(key: Buffer): number {
  const bytes = Buffer.from(key)
  bytes[0]! &= 0x7f
  return bytes.readDoubleBE()
}

const READER: ChunkReader<Lists> = {
  inBulk: () => {
    throw new Error('nothing is searched here')
  },
  at: () => {
    throw new Error('nothing is searched here')
  },
  floor: (lists, key) => lists.findLast((chunk) => compareKeys(chunk[0], key) <= 0),
  floors: (lists, keys) =>
    keys.map((key) => lists.findLast((chunk) => compareKeys(chunk[0], key) <= 0)),
  before: (lists, key) => lists.findLast((chunk) => compareKeys(chunk[0], key) < 0),
  after: (lists, key) => lists.find((chunk) => compareKeys(chunk[0], key) > 0),
  first: (lists) => lists[0],
  last: (lists) => lists.at(-1),
  pieceAt: (lists, key, at) =>
    lists.findLast((chunk) => compareKeys(chunk[0], key) === 0 && chunk[1] <= at),
  pieceAfter: (lists, key, at) =>
    lists.find((chunk) => compareKeys(chunk[0], key) === 0 && chunk[1] > at),
}

export interface PostgresTruth {
  /** Level and size of each visible segment, by its first event. */
  readonly segments: readonly (readonly [level: number, size: number])[]
  /** How many segments are there that nobody sees. */
  readonly hidden: number
  readonly unsealed: number
  /** The times of events that no visible segment finds by their type, and that are not unsealed. */
  readonly missing: readonly number[]
  /** Chunks of segments that are not there. */
  readonly stray: number
}

/** Where the index of a log stands, from all of its rows, as of one moment. */
export async function postgresTruth(pool: pg.Pool, schema: string): Promise<PostgresTruth> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    return await truthOf(client as unknown as pg.Pool, schema)
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

async function truthOf(client: pg.Pool, schema: string): Promise<PostgresTruth> {
  const segments = await storedSegments(client, schema)
  const found = new Set<string>()
  for (const segment of segments) addFound(await loadSegment(client, schema, segment), found)
  const { rows } = await client.query<{ time: string; type: string; unsealed: boolean }>(
    `SELECT created_at AS time, type, created_at > sealed_to
       OR created_at IN (SELECT created_at FROM ${schema}.late_events) AS unsealed
     FROM ${schema}.events, ${schema}.index_state ORDER BY created_at`,
  )
  const { rows: counts } = await client.query<{ hidden: number; stray: number }>(
    `SELECT
       (SELECT count(*) FROM ${schema}.segments WHERE state <> ${State.visible})::int AS hidden,
       (SELECT count(*) FROM ${schema}.segment_chunks
        WHERE segment NOT IN (SELECT id FROM ${schema}.segments))::int AS stray`,
  )
  return {
    segments: segments.map(({ level, size }) => [level, size]),
    ...counts[0]!,
    unsealed: rows.filter(({ unsealed }) => unsealed).length,
    missing: rows
      .filter(({ time, type, unsealed }) => !unsealed && !found.has(`${time} ${type}`))
      .map(({ time }) => Number(time)),
  }
}

function addFound(part: IndexPart, found: Set<string>): void {
  for (const { value, postings } of part.values('type', Kind.text, 'asc')) {
    const ordinals = postings()
    for (let at = ordinals.seek(0, 1); at !== NONE; at = ordinals.seek(at + 1, 1))
      found.add(`${part.timeOf(at)} ${String(value)}`)
  }
}
