import type pg from 'pg'
import { keyBytes } from '../../adapters/postgres/index/segment-keys.js'
import type { TestedSegment } from './index-fixture.js'
import type { IndexPart } from '../../src/store-kit/index/part.js'
import { openSegment } from '../../src/store-kit/index/segment.js'
import {
  type ChunkReader,
  type ChunkValues,
  type Key,
  keyOf,
  NO_NAME,
  UNNAMED_LISTS,
  SegmentState,
  TIMES_KIND,
} from '../../src/store-kit/index/segment-source.js'
import { readValues } from '../../src/store-kit/index/read-chunks.js'
import { TIMES_PER_BLOCK, decodeTimes } from '../../src/store-kit/index/time-blocks.js'
import { compareEvents, type IndexTruth } from './index-truth.js'
import { walkArray } from './memory-segment.js'

/** The chunks of one name and kind, in the order of their keys. */
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

export async function storedSegments(pool: pg.Pool, schema: string): Promise<TestedSegment[]> {
  const { rows } = await pool.query<Record<keyof TestedSegment | 'partial', string>>(
    `SELECT id, level, size, first, last, partial FROM ${schema}.segments
     WHERE state = ${SegmentState.visible} ORDER BY first, id`,
  )
  return rows.map((row) => ({
    id: Number(row.id),
    level: Number(row.level),
    size: Number(row.size),
    first: Number(row.first),
    last: Number(row.last),
    isPartial: Number(row.partial) === 1,
  }))
}

const compareKeys = (a: Key, b: Key): number => Buffer.compare(keyBytes(a), keyBytes(b))

/** Reads a whole segment. */
export async function loadSegment(
  pool: pg.Pool,
  schema: string,
  info: TestedSegment,
): Promise<IndexPart> {
  const { rows } = await pool.query<ChunkRow>(
    `SELECT number, names.name, kind, first, ordinal, vals, posts
     FROM ${schema}.segment_chunks AS chunk LEFT JOIN ${schema}.attribute_names AS names ON names.id = chunk.name
     WHERE segment = $1 AND (names.name IS NOT NULL OR chunk.name IN (${NO_NAME}, ${UNNAMED_LISTS}))
     ORDER BY kind <> ${TIMES_KIND}, chunk.name, kind, chunk.first, ordinal`,
    [info.id],
  )
  if (rows.some(({ number }, i) => number !== i))
    throw new Error(`the chunks of segment ${info.id} are not numbered in the order of their keys`)
  const byLists = new Map<string, ChunkValues[]>()
  for (const { name, kind, ordinal, vals, posts, first } of rows) {
    const key = `${kind} ${name ?? ''}`
    const value = kind === TIMES_KIND ? undefined : keyOf(readValues(vals)[0]!)
    if (value !== undefined && !keyBytes(value).equals(first))
      throw new Error(`a chunk of ${key} does not have the key of its first value`)
    byLists.set(key, [...(byLists.get(key) ?? []), [value ?? 0, ordinal, vals, posts]])
  }
  const times = rows
    .filter(({ kind }) => kind === TIMES_KIND)
    .map(({ first, posts }) => decodeTimes(doubleOf(first), posts))
  if (times.length !== Math.ceil(info.size / TIMES_PER_BLOCK))
    throw new Error('blocks of times are missing')
  return openSegment(
    {
      chunks: READER,
      listsOf: (name, kind) => byLists.get(`${kind} ${name ?? ''}`),
      timesOf: (block) => times[block]!,
      firstTimeOf: (block) => times[block]![0]!,
    },
    info,
  ) as IndexPart
}

/** The key belongs to a number that is not negative. */
function doubleOf(key: Buffer): number {
  const bytes = Buffer.from(key)
  bytes[0]! &= 0x7f
  return bytes.readDoubleBE()
}

const READER: ChunkReader<Lists> = {
  inBulk: () => {
    throw new Error('this reader cannot search')
  },
  floor: (lists, key) => lists.findLast((chunk) => compareKeys(chunk[0], key) <= 0),
  walk: walkArray,
  pieceAt: (lists, key, at) =>
    lists.findLast((chunk) => compareKeys(chunk[0], key) === 0 && chunk[1] <= at),
  pieceAfter: (lists, key, at) =>
    lists.find((chunk) => compareKeys(chunk[0], key) === 0 && chunk[1] > at),
}

/** The state of the index of a log. */
export async function postgresTruth(pool: pg.Pool, schema: string): Promise<IndexTruth> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    return await truthOf(client as unknown as pg.Pool, schema)
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

async function truthOf(client: pg.Pool, schema: string): Promise<IndexTruth> {
  const segments = await storedSegments(client, schema)
  const parts: IndexPart[] = []
  for (const segment of segments) parts.push(await loadSegment(client, schema, segment))
  const { rows } = await client.query<{ time: string; type: string; unsealed: boolean }>(
    `SELECT created_at AS time, type, created_at > sealed_to
       OR created_at IN (SELECT created_at FROM ${schema}.late_events) AS unsealed
     FROM ${schema}.events, ${schema}.index_state ORDER BY created_at`,
  )
  const { rows: counts } = await client.query<{ hidden: number; stray: number }>(
    `SELECT
       (SELECT count(*) FROM ${schema}.segments WHERE state <> ${SegmentState.visible})::int AS hidden,
       (SELECT count(*) FROM ${schema}.segment_chunks
        WHERE segment NOT IN (SELECT id FROM ${schema}.segments))::int AS stray`,
  )
  const { hidden, stray } = counts[0]!
  return {
    segments: segments.map(({ level, size }) => [level, size]),
    hidden,
    ...compareEvents(
      parts,
      rows.map(({ time, type, unsealed }) => ({ time: Number(time), type, isUnsealed: unsealed })),
    ),
    damage: stray === 0 ? [] : [`${stray} chunks of segments that do not exist`],
  }
}
