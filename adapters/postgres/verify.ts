import { createDamageReporter } from '../../src/store/damage.js'
import type { Verification, VerifyOptions } from '../../src/store/verification.js'
import { createFindings, databaseDamage } from '../../src/store-kit/damages.js'
import { createKnownNames } from '../../src/store-kit/index/attribute-names.js'
import { DamagedSegment, TIMES_KIND } from '../../src/store-kit/index/segment-source.js'
import { TIMES_PER_BLOCK } from '../../src/store-kit/index/time-blocks.js'
import { type VerifiedLog, verifyLog as verify } from '../../src/store-kit/maintenance/verify.js'
import { ask, begin, BY_KEY, endTransaction, type PostgresPoolClient } from './connection/client.js'
import { isCorrupt } from './connection/failures.js'
import { UnreadableTable } from './connection/unreadable.js'
import type { SegmentRow } from '../../src/store-kit/maintenance/index-rows.js'
import { verifiedIndex } from '../../src/store-kit/maintenance/verified-index.js'
import { extendNames } from '../../src/store-kit/maintenance/column-names.js'
import { askProgram, dialectOf } from './index/dialect.js'
import { CHUNK_COLUMNS, readStoredChunk, type SummedChunk } from './index/checksums.js'
import { readBlocks } from './index/segment-times.js'
import { readWithRetry } from './log/calls.js'
import type { PostgresLog } from './log/log.js'
import type { Names } from './schema/names.js'
import { LIVE_COLUMNS, readLiveRows } from './schema/live-rows.js'
import { STORED_COLUMNS, checkRows } from './schema/rows.js'

/** Runs a read in its own short transaction, so that vacuum is not held back for long. */
type Read = <Result>(act: (client: PostgresPoolClient) => Promise<Result>) => Promise<Result>

/**
 * Implements `EventStore.verify`. Reads in short transactions, which take no locks that writers wait for.
 * `onDamaged` is called for each damaged segment, and `check` before each read.
 */
export async function verifyLog(
  log: PostgresLog,
  options: VerifyOptions,
  onDamaged: (damaged: DamagedSegment) => void,
  check: (signal: AbortSignal | undefined) => void,
): Promise<Verification> {
  const read: Read = (act) => {
    check(options.signal)
    return readWithRetry(log, options.signal, async (client) => {
      await begin(client, 'REPEATABLE READ READ ONLY', { settings: BY_KEY })
      const result = await act(client)
      await endTransaction(client, 'COMMIT')
      return result
    })
  }
  const findings = createFindings(options)
  const segments = await verify({
    log: verifiedLog(log.names, read),
    findings,
    options,
    onDamaged,
  })
  return findings.result(segments)
}

function verifiedLog(names: Names, read: Read): VerifiedLog<SegmentRow, SummedChunk> {
  const damages = createDamageReporter()
  const check = checkRows(damages)
  const known = createKnownNames()
  const dialect = dialectOf(names)
  return {
    tables: {
      events: names.events,
      live: names.liveEvents,
      highWater: names.highWater,
      index: names.indexState,
      chunks: names.chunks,
    },
    damages,
    damageOf(error, table) {
      if (!isCorrupt(error)) return undefined
      const place = error instanceof UnreadableTable ? error.table : table
      const affects = 'calls that read it fail; restore it from a replica or a backup'
      return databaseDamage(`table ${place}`, (error as Error).message, affects)
    },
    highWater: () =>
      read(async (client) => {
        const [row] = await ask(client, `SELECT last_value FROM ${names.highWater}`)
        return Number(row![0])
      }),
    async eventsAfter(time, max) {
      const rows = await read((client) => ask(client, eventsSql(names), time, max))
      const intact = new Set(check(rows))
      return rows.map((row) => {
        const listedAt = row.at(-1)
        return {
          time: Number(row[0]),
          suffix: intact.has(row) ? row[1]! : undefined,
          listedAt: listedAt === null ? undefined : Number(listedAt),
        }
      })
    },
    async liveAfter(time, max) {
      const rows = await read((client) => ask(client, liveSql(names), time, max))
      readLiveRows(rows, damages)
      return rows.map(([one]) => Number(one))
    },
    ...verifiedIndex(dialect, (program) => read((client) => askProgram(client, program()))),
    async readNames(row) {
      while (await read((client) => askProgram(client, extendNames(dialect, known, row))));
    },
    blocks: (row, from, end) => read((client) => readBlocks(client, names, row.id, [from, end])),
    async chunksAfter(row, before, max) {
      const next = before ? before.number + 1 : 0
      const rows = await read((client) => ask(client, chunksSql(names), row.id, next, max))
      let last = before
      return rows.map((stored) => {
        const chunk = readStoredChunk(row.id, stored)
        if (stored.at(-1) !== 't')
          throw new DamagedSegment(row.id, 'an index of its table does not lead to a chunk')
        checkOrder(row, last, chunk)
        last = chunk
        return chunk
      })
    },
  }
}

const eventsSql = ({ events, foreignIds }: Names): string =>
  `SELECT ${STORED_COLUMNS}, (SELECT listed.created_at FROM ${foreignIds} AS listed WHERE listed.id = suffix) AS listed_at
   FROM ${events} WHERE created_at > $1 ORDER BY created_at LIMIT $2`

const liveSql = ({ liveEvents }: Names): string =>
  `SELECT ${LIVE_COLUMNS} FROM ${liveEvents} WHERE created_at > $1 ORDER BY created_at LIMIT $2`

/** The last column is whether a chunk is found by its key, as queries look for it. */
const chunksSql = ({ chunks }: Names): string =>
  `SELECT ${CHUNK_COLUMNS}, coalesce((
     SELECT same.number = chunk.number FROM ${chunks} AS same
     WHERE (same.segment, same.name, same.kind, same.first, same.ordinal)
       = (chunk.segment, chunk.name, chunk.kind, chunk.first, chunk.ordinal)), false)
   FROM ${chunks} AS chunk WHERE segment = $1 AND number >= $2 ORDER BY number LIMIT $3`

/** Throws `DamagedSegment` unless blocks of times come first, and then the other chunks in the order of their keys. */
function checkOrder(
  { id, size }: SegmentRow,
  before: SummedChunk | undefined,
  chunk: SummedChunk,
): void {
  const isTimes = chunk.number < Math.ceil(size / TIMES_PER_BLOCK)
  const isRight = (chunk.kind === TIMES_KIND) === isTimes
  const follows = isTimes || !before || before.kind === TIMES_KIND || isInOrder(before, chunk)
  if (!isRight || !follows) throw new DamagedSegment(id, 'its chunks are not in order')
}

function isInOrder(before: SummedChunk, after: SummedChunk): boolean {
  if (before.name !== after.name) return before.name < after.name
  if (before.kind !== after.kind) return before.kind < after.kind
  if (before.first !== after.first) return before.first < after.first
  return before.ordinal < after.ordinal
}
