import { SUFFIX_LENGTH } from '../../src/event/event-id.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import { createDamageReporter } from '../../src/store/damage.js'
import type { Verification, VerifyOptions } from '../../src/store/verification.js'
import {
  createFindings,
  damagedEvent,
  databaseDamage,
  type Findings,
  missingEvent,
  staleHighWater,
} from '../../src/store-kit/damages.js'
import { createKnownNames, type KnownNames } from '../../src/store-kit/index/attribute-names.js'
import { DamagedSegment } from '../../src/store-kit/index/segment-source.js'
import { TIMES_PER_BLOCK } from '../../src/store-kit/index/time-blocks.js'
import { verifySegments } from '../../src/store-kit/index/verify-segments.js'
import {
  ask,
  begin,
  BY_KEY,
  endTransaction,
  type PostgresPoolClient,
  type TextRow,
} from './connection/client.js'
import { isCorrupt } from './connection/failures.js'
import { UnreadableTable } from './connection/unreadable.js'
import { missingTimes } from '../../src/store-kit/maintenance/segment-times.js'
import { extendNames } from '../../src/store-kit/maintenance/column-names.js'
import { askProgram, dialectOf } from './index/dialect.js'
import { loadIndexState, loadSegments, type PostgresSegmentRow } from './index/index-state.js'
import { readBlocks } from './index/segment-times.js'
import { readWithRetry } from './log/calls.js'
import type { PostgresLog } from './log/log.js'
import type { Names } from './schema/names.js'
import { LIVE_COLUMNS, readLiveRows } from './schema/live-rows.js'
import { STORED_COLUMNS, faultOf } from './schema/rows.js'
import { type Read, timesBetween, verifySegment } from './verify-index.js'

/** Events that are read at once. */
const STEP = 64

/** Times that are looked up at once, in whole blocks. */
const BLOCKS_AT_ONCE = 16

/** Times that are looked for in segments at once. */
const WINDOW = 1024

interface Run extends Findings {
  readonly names: Names
  readonly options: VerifyOptions
  /** The names that have been read. */
  readonly known: KnownNames
  readonly read: Read
  /** The times of damaged events, which need not be in a segment. */
  readonly damagedTimes: Set<Microseconds>
}

/**
 * Implements `EventStore.verify`. Reads in short transactions, which take no locks that writers wait for.
 * `onDamaged` is called for each damaged segment.
 */
export async function verifyLog(
  log: PostgresLog,
  options: VerifyOptions,
  onDamaged: (damaged: DamagedSegment) => void,
): Promise<Verification> {
  const { names } = log
  const { signal } = options
  const findings = createFindings(options)
  const read: Read = (act) =>
    readWithRetry(log, signal, async (client) => {
      await begin(client, 'REPEATABLE READ READ ONLY', { settings: BY_KEY })
      const result = await act(client)
      await endTransaction(client, 'COMMIT')
      return result
    })
  const known = createKnownNames()
  const run: Run = { ...findings, names, options, known, read, damagedTimes: new Set() }

  await guarded(run, names.events, () => verifyEvents(run))
  await guarded(run, names.liveEvents, () => verifyLive(run))
  let segments = 0
  await guarded(run, names.indexState, async () => {
    segments = await verifySegments(
      {
        load: () => loadVisible(run),
        verify: (row) => guarded(run, names.chunks, () => verifyWhole(run, row)),
        findings,
        onDamaged,
      },
      options,
    )
    await guarded(run, names.events, () => verifyCoverage(run))
  })
  return findings.result(segments)
}

/** Does the work. If Postgres itself cannot read something, the work ends and the damage is noted. */
async function guarded({ found }: Run, table: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isCorrupt(error)) throw error
    const place = error instanceof UnreadableTable ? error.table : table
    const affects = 'calls that read it fail; restore it from a replica or a backup'
    found(databaseDamage(`table ${place}`, (error as Error).message, affects))
  }
}

async function verifyEvents(run: Run): Promise<void> {
  const { names, read, found, countEvent, damagedTimes } = run
  const readHighWater = (): Promise<Microseconds> =>
    read(async (client) => {
      const [row] = await ask(client, `SELECT last_value FROM ${names.highWater}`)
      return Number(row![0])
    })
  const end = await readHighWater()
  let last: Microseconds = -1
  for (;;) {
    const after = last
    const rows = await read((client) =>
      ask(
        client,
        `SELECT ${STORED_COLUMNS} FROM ${names.events} WHERE created_at > $1
         ORDER BY created_at LIMIT ${STEP}`,
        after,
      ),
    )
    const foreign: TextRow[] = []
    for (const row of rows) {
      countEvent()
      last = Number(row[0])
      const fault = faultOf(row)
      if (fault !== undefined) {
        found(damagedEvent(last, row[1], fault))
        damagedTimes.add(last)
      } else if (row[1]!.length !== SUFFIX_LENGTH) foreign.push(row)
    }
    await verifyForeignIds(run, foreign)
    if (rows.length < STEP || last >= end) break
  }
  const highWater = await readHighWater()
  if (last > highWater) found(staleHighWater(names.highWater, highWater, last))
}

async function verifyForeignIds(
  { names: { foreignIds }, read, found }: Run,
  rows: readonly TextRow[],
): Promise<void> {
  if (rows.length === 0) return
  const ids = rows.map(([, id]) => id)
  const named = await read((client) =>
    ask(client, `SELECT id, created_at FROM ${foreignIds} WHERE id = ANY ($1::text[])`, ids),
  )
  const times = new Map(named.map(([id, time]) => [id, time]))
  for (const [time, id] of rows)
    if (times.get(id) !== time) found(damagedEvent(Number(time), id, 'its id is not listed'))
}

async function verifyLive({ names: { liveEvents }, read, found }: Run): Promise<void> {
  const damages = createDamageReporter()
  damages.watch(found)
  for (let last: Microseconds = -1; ;) {
    const rows = await read((client) =>
      ask(
        client,
        `SELECT ${LIVE_COLUMNS} FROM ${liveEvents}
         WHERE created_at > $1 ORDER BY created_at LIMIT ${STEP}`,
        last,
      ),
    )
    readLiveRows(rows, damages)
    if (rows.length < STEP) return
    last = Number(rows.at(-1)![0])
  }
}

async function loadVisible({ names, read }: Run): Promise<{
  readonly segments: readonly PostgresSegmentRow[]
  readonly damaged: readonly PostgresSegmentRow[]
}> {
  const rows = await read((client) => loadSegments(client, names))
  return {
    segments: rows.filter(({ isDamaged }) => !isDamaged),
    damaged: rows.filter(({ isDamaged }) => isDamaged),
  }
}

async function verifyWhole(run: Run, row: PostgresSegmentRow): Promise<void> {
  const { names, known, read } = run
  const dialect = dialectOf(names)
  while (await read((client) => askProgram(client, extendNames(dialect, known, row))));
  await verifySegment(read, names, row)
  await guarded(run, names.events, () => verifyPresence(run, row))
}

/** Finds events that a segment lists and that were not removed, but that have no row. */
async function verifyPresence({ names, read, found }: Run, row: PostgresSegmentRow): Promise<void> {
  const count = Math.ceil(row.size / TIMES_PER_BLOCK)
  for (let from = 0; from < count; from += BLOCKS_AT_ONCE) {
    const missing = await read(async (client) => {
      const { removed, removedBefore } = await loadIndexState(client, names)
      const segments = await loadSegments(client, names)
      if (removed !== row.removed || !segments.some(({ id }) => id === row.id)) return undefined
      const end = Math.min(from + BLOCKS_AT_ONCE, count)
      const times = (await readBlocks(client, names, row.id, [from, end])).flat()
      const gone = await askProgram(client, missingTimes(dialectOf(names), times))
      return gone.filter((time) => time >= removedBefore)
    })
    if (!missing) return
    for (const time of missing) found(missingEvent(time))
  }
}

/** Finds events that are in no segment, in ranges where lists read only segments. */
async function verifyCoverage({ names, read, unindexed, damagedTimes }: Run): Promise<void> {
  for (let last: Microseconds | undefined = -1; last !== undefined;) {
    const after: Microseconds = last
    const page = await read(async (client) => {
      const state = await loadIndexState(client, names)
      const rows = await ask(
        client,
        `SELECT created_at FROM ${names.events} WHERE created_at > $1 AND created_at <= $2
         ORDER BY created_at LIMIT ${WINDOW}`,
        after,
        state.sealedTo,
      )
      const times = rows.map(([time]) => Number(time))
      const segments = await loadSegments(client, names)
      return { last: times.at(-1), lacking: await findUnindexed(client, names, segments, times) }
    })
    for (const time of page.lacking) if (!damagedTimes.has(time)) unindexed(time)
    last = page.last
  }
}

/** The times, ascending, of events that no list with a filter finds. */
async function findUnindexed(
  client: PostgresPoolClient,
  names: Names,
  segments: readonly PostgresSegmentRow[],
  times: readonly Microseconds[],
): Promise<readonly Microseconds[]> {
  if (times.length === 0) return []
  const range = [times[0]!, times.at(-1)!] as const
  const lacking = new Set(times)
  for (const row of segments.filter(({ first, last }) => first <= range[1] && last >= range[0])) {
    // Lists find all events in the range of a damaged segment.
    if (row.isDamaged) return []
    try {
      for (const time of await timesBetween(client, names, row, range)) lacking.delete(time)
    } catch (error) {
      if (!(error instanceof DamagedSegment)) throw error
      return []
    }
  }
  if (lacking.size === 0) return []
  const late = await ask(
    client,
    `SELECT created_at FROM ${names.late} WHERE created_at = ANY ($1::int8[])`,
    [...lacking],
  )
  for (const [time] of late) lacking.delete(Number(time))
  return [...lacking]
}
