import { createDamageReporter } from '../../src/store/damage.js'
import type { Verification, VerifyOptions } from '../../src/store/verification.js'
import { createTimeSlices } from '../../src/filter/time-slices.js'
import { createFindings, databaseDamage, type Findings } from '../../src/store-kit/damages.js'
import { createKnownNames } from '../../src/store-kit/index/attribute-names.js'
import { keyChecksum } from '../../src/store-kit/index/checksums.js'
import { DamagedSegment, missingRows, NO_NAME } from '../../src/store-kit/index/segment-source.js'
import {
  guarded,
  type VerifiedChunk,
  type VerifiedLog,
  verifyLog as verify,
} from '../../src/store-kit/maintenance/verify.js'
import type { SegmentRow } from '../../src/store-kit/maintenance/index-rows.js'
import { verifiedIndex } from '../../src/store-kit/maintenance/verified-index.js'
import type { Connection } from './connection/connection.js'
import { isCorrupt } from './connection/database.js'
import { LIMIT } from './connection/limit.js'
import { withFileCheck } from './check-file.js'
import { checkedChunk } from './index/chunk-feed.js'
import { readingSegment } from './index/checksums.js'
import { readNextNames } from './index/column-names.js'
import { DIALECT, runProgram } from './index/dialect.js'
import { readBlocks } from './index/segment-times.js'
import { STORED_LINES } from './index/packed-lines.js'
import { CHUNK_ID } from './index/row-ids.js'
import { DICTIONARY_TABLES, storedDictionary } from './schema/dictionaries.js'
import { createEventReader } from './schema/events.js'
import { createLiveReader } from './schema/live-rows.js'
import { readAfter } from './schema/read-after.js'
import type { Tables } from './schema/log-tables.js'

const TABLES = `SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'daybook\\_%' ESCAPE '\\'`

const DICTIONARIES = DICTIONARY_TABLES.map((table) => `SELECT id FROM ${table}`).join(' UNION ')

const CHUNKS = `SELECT k.name, k.kind, k.first, k.ordinal, k.chunk, k.checksum, c.id,
    ${STORED_LINES}, c.posts, c.vals_checksum, c.posts_checksum
  FROM daybook_chunk_keys AS k LEFT JOIN daybook_chunks AS c ON c.id = ${CHUNK_ID}
  WHERE k.segment = ? AND (k.name, k.kind, k.first, k.ordinal) > (?, ?, ?, ?)
  ORDER BY k.name, k.kind, k.first, k.ordinal ${LIMIT}`

type Key = readonly [name: number, kind: number, first: string | number, ordinal: number]

type ChunkRow = readonly [
  ...key: Key,
  chunk: number,
  checksum: number,
  id: number | null,
  ...unknown[],
]

interface KeyedChunk extends VerifiedChunk {
  readonly key: Key
}

type Read = <Result>(act: () => Result) => Promise<Result>

/** Implements `EventStore.verify`. Reads in short slices, so that other calls continue meanwhile. */
export async function verifyLog(
  tables: Tables,
  options: VerifyOptions,
  onDamaged: (damaged: DamagedSegment) => void,
): Promise<Verification> {
  const { connection } = tables
  const slices = createTimeSlices()
  const read: Read = async (act) => {
    if (slices.isOver()) await slices.next()
    return connection.retry(() => connection.snapshot(act), { signal: options.signal })
  }
  const findings = createFindings(options)
  const log = verifiedLog(tables, read)
  await guarded({ log, findings }, 'daybook_dictionaries', () =>
    verifyDictionaries(connection, read, findings),
  )
  const segments = await verify({ log, findings, options, onDamaged })
  await verifyTables(connection, findings, options)
  return findings.result(segments)
}

function verifiedLog(tables: Tables, read: Read): VerifiedLog<SegmentRow, KeyedChunk> {
  const { connection, events } = tables
  const damages = createDamageReporter()
  const checked = createEventReader(connection, damages)
  const live = createLiveReader(connection, damages)
  const known = createKnownNames()
  return {
    tables: {
      events: 'daybook_events',
      live: 'daybook_live',
      highWater: 'daybook_high_water',
      index: 'daybook_index',
      chunks: 'daybook_chunks',
    },
    damages,
    damageOf: (error, table) =>
      isCorrupt(error) ? databaseDamage(`table ${table}`, (error as Error).message) : undefined,
    highWater: () => read(() => events.highWater()),
    eventsAfter: (time, max) =>
      read(() =>
        readAfter({ connection, events: checked }, time, max).map(({ time: at, row }) => ({
          time: at,
          suffix: row?.suffix,
          listedAt: row && events.foreignTime(row.suffix),
        })),
      ),
    liveAfter: (time, max) =>
      read(() => {
        const times = live.timesBetween({ from: time + 1, to: Number.MAX_SAFE_INTEGER })
        const some = times.slice(0, max)
        if (some.length > 0) live.between({ from: some[0]!, to: some.at(-1)! })
        return some
      }),
    ...verifiedIndex(DIALECT, (program) => read(() => runProgram(connection, program()))),
    async readNames(row) {
      while (await read(() => readNextNames(connection, known, row)));
    },
    blocks: (row, from, end) => read(() => readBlocks(connection, row.id, from, end)),
    chunksAfter: (row, before, max) => read(() => readChunks(connection, row.id, before?.key, max)),
  }
}

function readChunks(
  { statement }: Connection,
  segment: number,
  after: Key = [NO_NAME, 0, 0, 0],
  max: number,
): readonly KeyedChunk[] {
  const select = statement(CHUNKS).raw(true)
  const rows = readingSegment(segment, () => select.all(segment, ...after, max))
  return (rows as unknown as ChunkRow[]).map((row) => {
    const [name, kind, first, ordinal, number, checksum, id, ...chunk] = row
    const key = [name, kind, first, ordinal] as const
    if (keyChecksum([segment, ...key, number]) !== checksum)
      throw new DamagedSegment(segment, 'a checksum of its keys is wrong')
    if (id === null) throw missingRows(segment)
    checkedChunk(id, { name, kind }, chunk)
    return { number, kind, key }
  })
}

/** Verifies both copies of each dictionary. */
async function verifyDictionaries(
  connection: Connection,
  read: Read,
  { found }: Findings,
): Promise<void> {
  const rows = await read(() => connection.statement(DICTIONARIES).all())
  for (const { id } of rows as { readonly id: number }[])
    for (const table of DICTIONARY_TABLES)
      if (!(await read(() => storedDictionary(connection, table, id))))
        found(
          databaseDamage(`dictionary ${id} in ${table}`, 'it is missing, or its checksum is wrong'),
        )
}

async function verifyTables(
  connection: Connection,
  { found }: Findings,
  options: VerifyOptions,
): Promise<void> {
  const { signal, onProgress } = options
  await withFileCheck(
    connection,
    async (check) => {
      const rows = await connection.retry(() => connection.statement(TABLES).all(), options)
      const names = (rows as { readonly name: string }[]).map(({ name }) => name)
      for (const [done, name] of names.entries()) {
        onProgress?.({ step: 'file', done, total: names.length })
        for (const line of await check(name)) found(databaseDamage(`table ${name}: ${line}`, line))
      }
    },
    signal,
  )
}
