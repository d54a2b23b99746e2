import { keyOf } from '../../../src/store-kit/index/segment-source.js'
import type { NamedChunk } from '../../../src/store-kit/index-builder/column-chunks.js'
import { BLOCK, encodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { keyBytes, NO_NAME, State, TIMES } from './segment-keys.js'
import { byteaArray, int4Array, textArray } from './binary-array.js'
import { type Steps, WITHOUT_WAITING } from './steps.js'

/** A segment on its way. */
export interface Building {
  readonly id: number
  /** How many chunks it has by now, its blocks of times among them. */
  readonly chunks: number
  /** True once somebody has taken it for left behind. */
  readonly isLost: boolean
}

// So that a transaction takes some milliseconds.
const MOST_BYTES = 262_144

/** Begins a segment of these events, which nobody sees yet. That it has been begun outlasts a crash, and so does its id. */
async function beginSegment(
  { names, run }: Steps,
  level: number,
  times: ArrayLike<Microseconds>,
): Promise<number> {
  const [row] = await run((client) =>
    ask(
      client,
      `INSERT INTO ${names.segments} (state, level, size, first, last)
       VALUES (${State.building}, $1, $2, $3, $4) RETURNING id`,
      level,
      times.length,
      times[0],
      times[times.length - 1],
    ),
  )
  return Number(row![0])
}

/** False where the segment is not to be gone on with. Whoever is to remove it waits for the rows. */
async function insertChunks(
  client: PostgresPoolClient,
  { segments, chunks }: Names,
  id: number,
  from: number,
  rows: readonly NamedChunk<number>[],
): Promise<boolean> {
  const [row] = await ask(
    client,
    `WITH building AS MATERIALIZED (
       SELECT id FROM ${segments} WHERE id = $1 AND state = ${State.building} FOR SHARE
     ), added AS (
       INSERT INTO ${chunks}
       SELECT building.id, $2::int4 + place - 1, name, kind, first, ordinal, vals, posts
       FROM building, unnest($3::int4[], $4::int4[], $5::bytea[], $6::int4[], $7::text[], $8::bytea[])
         WITH ORDINALITY AS chunk(name, kind, first, ordinal, vals, posts, place)
       RETURNING 1
     )
     SELECT count(*), ${WITHOUT_WAITING} FROM added`,
    id,
    from,
    int4Array(rows.map(({ name }) => name)),
    int4Array(rows.map(({ kind }) => kind)),
    byteaArray(rows.map(({ chunk }) => keyBytes(keyOf(chunk.first)))),
    int4Array(rows.map(({ chunk }) => chunk.ordinal)),
    textArray(rows.map(({ chunk }) => chunk.values)),
    byteaArray(rows.map(({ chunk }) => chunk.postings)),
  )
  return Number(row![0]) === rows.length
}

/** The blocks of times, which come before all other chunks. */
function* timeChunks(times: ArrayLike<Microseconds>): Generator<NamedChunk<number>, void> {
  for (let from = 0; from < times.length; from += BLOCK) {
    const chunk = {
      first: times[from]!,
      ordinal: 0,
      values: '',
      postings: encodeTimes(times, from),
    }
    yield { name: NO_NAME, kind: TIMES, chunk }
  }
}

/**
 * Writes a segment of the events, whose chunks come in the order of their keys. Where the next one is to
 * be waited for, `undefined` comes in its place, and `wait` is called.
 */
export async function writeSegment(
  steps: Steps,
  level: number,
  times: ArrayLike<Microseconds>,
  chunks: Iterable<NamedChunk<number> | undefined>,
  wait: () => Promise<void> = steps.turn,
): Promise<Building> {
  const { names } = steps
  const id = await beginSegment(steps, level, times)
  let written = 0
  let batch: NamedChunk<number>[] = []
  let bytes = 0

  /** False where the segment is lost. */
  const write = async (): Promise<boolean> => {
    const [rows, from] = [batch, written]
    batch = []
    bytes = 0
    written += rows.length
    return steps.run((client) => insertChunks(client, names, id, from, rows))
  }
  /** False where the segment is lost. */
  const writeAll = async (some: Iterable<NamedChunk<number> | undefined>): Promise<boolean> => {
    for (const one of some) {
      if (one) {
        batch.push(one)
        bytes += one.chunk.values.length + one.chunk.postings.length
        if (bytes >= MOST_BYTES && !(await write())) return false
      } else await wait()
      if (steps.isTurn()) await steps.turn()
    }
    return true
  }

  const isWhole =
    (await writeAll(timeChunks(times))) &&
    (await writeAll(chunks)) &&
    (batch.length === 0 || (await write()))
  return { id, chunks: written, isLost: !isWhole }
}

/**
 * Within a transaction: from its end on the segment is read. False where it is not there as a whole: it
 * was taken for left behind, or a crash has taken some of what did not wait for the disk.
 */
export async function setVisible(
  client: PostgresPoolClient,
  { segments, chunks }: Names,
  { id, chunks: count }: Building,
): Promise<boolean> {
  const rows = await ask(
    client,
    `UPDATE ${segments} SET state = ${State.visible}
     WHERE id = $1 AND state = ${State.building}
       AND (SELECT count(*) FROM ${chunks} WHERE segment = $1) = $2
     RETURNING 1`,
    id,
    count,
  )
  return rows.length > 0
}
