import { setImmediate as nextTurn } from 'node:timers/promises'
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
import { verifySegments } from '../../src/store-kit/index/verify-segments.js'
import { SUFFIX_LENGTH } from '../../src/event/event-id.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import type { Connection } from './connection/connection.js'
import { isCorrupt } from './connection/database.js'
import { runTimeSlice } from './connection/time-slice.js'
import { withFileCheck } from './check-file.js'
import { readNextNames } from './index/column-names.js'
import { loadIndexState, type SqliteSegmentRow } from './index/index-state.js'
import { isLost } from './index/lost-events.js'
import { readSegment } from './index/segment-reader.js'
import { DICTIONARY_TABLES, storedDictionary } from './schema/dictionaries.js'
import { createEventReader, onlyRow } from './schema/events.js'
import { readAfter } from './schema/read-after.js'
import type { Tables } from './schema/tables.js'
import { timesBetween, verifySegment } from './verify-index.js'

/** Rows that are read at once. */
const STEP = 64

const TABLES = `SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'daybook\\_%' ESCAPE '\\'`

const MARKS = `SELECT removed, created_at AS highWater
  FROM daybook_index, daybook_high_water`

interface Marks {
  readonly removed: number
  readonly highWater: Microseconds
}

const NAMED = 'SELECT created_at FROM daybook_foreign_ids WHERE id = ?'

const WINDOW = `SELECT created_at FROM daybook_events WHERE created_at > ? AND created_at <= ?
  ORDER BY created_at LIMIT ${4 * STEP}`

const LATE = 'SELECT 1 FROM daybook_late WHERE created_at = ? LIMIT 1'

interface Run extends Findings {
  readonly tables: Tables
  readonly options: VerifyOptions
  /** The names that have been read. */
  readonly known: KnownNames
  /** Runs the steps in time slices; each slice sees one snapshot of the file. */
  readonly work: (steps: Iterator<undefined, void>) => Promise<void>
}

/** Implements `EventStore.verify`. Reads in short slices, so that other calls continue meanwhile. */
export async function verifyFile(
  tables: Tables,
  options: VerifyOptions,
  onDamaged: (damaged: DamagedSegment) => void,
): Promise<Verification> {
  const { connection } = tables
  const { signal } = options
  const findings = createFindings(options)
  const work = async (steps: Iterator<undefined, void>): Promise<void> => {
    const step = (): boolean => !steps.next().done
    const slice = (): boolean => connection.snapshot(() => runTimeSlice(step))
    while (await connection.retry(slice, { signal })) await nextTurn()
  }
  const run: Run = { ...findings, tables, options, known: createKnownNames(), work }

  await guarded(run, 'daybook_events', () => work(verifyEvents(run)))
  await guarded(run, 'daybook_live', () => work(verifyLive(run)))
  await guarded(run, 'daybook_dictionaries', () => work(verifyDictionaries(run)))
  let segments = 0
  await guarded(run, 'daybook_index', async () => {
    segments = await verifySegments(
      {
        load: () => connection.retry(() => loadIndexState(connection), { signal }),
        verify: (row) => verifyWhole(run, row),
        findings,
        onDamaged,
      },
      options,
    )
    await guarded(run, 'daybook_events', () => work(verifyCoverage(run)))
  })
  await verifyTables(run)
  return findings.result(segments)
}

/** Verifies a table. If it cannot be read, its verification ends and the damage is noted. */
async function guarded({ found }: Run, table: string, verify: () => Promise<void>): Promise<void> {
  try {
    await verify()
  } catch (error) {
    // `verifySegments` has noted it.
    if (error instanceof DamagedSegment) return
    if (!isCorrupt(error)) throw error
    found(databaseDamage(`table ${table}`, (error as Error).message))
  }
}

function* verifyEvents({
  tables: { connection },
  found,
  countEvent,
}: Run): Generator<undefined, void> {
  const damages = createDamageReporter()
  damages.watch(found)
  const events = createEventReader(connection, damages)
  const isNamed = (id: string, time: Microseconds): boolean =>
    (connection.statement(NAMED).get(id) as { created_at: number } | undefined)?.created_at === time
  const end = marksOf(connection).highWater
  let last: Microseconds = -1
  for (;;) {
    const rows = readAfter({ connection, events }, last, STEP)
    for (const { time, row } of rows) {
      countEvent()
      if (row && row.suffix.length !== SUFFIX_LENGTH && !isNamed(row.suffix, time))
        found(damagedEvent(time, row.suffix, 'its id is not listed'))
      last = time
    }
    if (rows.length < STEP || last >= end) break
    yield
  }
  const { highWater } = marksOf(connection)
  if (last > highWater) found(staleHighWater('daybook_high_water', highWater, last))
}

const marksOf = (connection: Connection): Marks => onlyRow(connection, MARKS) as Marks

// eslint-disable-next-line require-yield
function* verifyLive({ tables: { live, damages }, found }: Run): Generator<undefined, void> {
  const stop = damages.watch(found)
  live.between({ from: 0, to: Number.MAX_SAFE_INTEGER })
  stop()
}

const DICTIONARIES = DICTIONARY_TABLES.map((table) => `SELECT id FROM ${table}`).join(' UNION ')

/** Verifies both copies of each dictionary. */
function* verifyDictionaries({ tables: { connection }, found }: Run): Generator<undefined, void> {
  for (const { id } of connection.statement(DICTIONARIES).all() as { readonly id: number }[]) {
    for (const table of DICTIONARY_TABLES)
      if (!storedDictionary(connection, table, id))
        found(
          databaseDamage(`dictionary ${id} in ${table}`, 'it is missing, or its checksum is wrong'),
        )
    yield
  }
}

async function verifyWhole(run: Run, row: SqliteSegmentRow): Promise<void> {
  const { tables, options, known, work } = run
  const { connection } = tables
  const readNames = (): boolean => readNextNames(connection, known, row)
  while (await connection.retry(readNames, { signal: options.signal })) await nextTurn()
  await work(verifySegment(connection, row))
  await guarded(run, 'daybook_events', () => work(verifyPresence(run, row)))
}

/** Finds events that a segment lists and that were not removed, but that have no row. */
function* verifyPresence(
  { tables: { connection }, found }: Run,
  row: SqliteSegmentRow,
): Generator<undefined, void> {
  const part = readSegment(connection, row)
  for (let i = 0; i < part.size; i++) {
    if (i % STEP === 0) {
      yield
      if (marksOf(connection).removed !== row.removed) return
    }
    const time = part.timeOf(i)
    if (isLost(connection, [row], time)) found(missingEvent(time))
  }
}

/** Finds events that are in no segment, in ranges where lists read only segments. */
function* verifyCoverage({
  tables: { connection, events },
  unindexed,
}: Run): Generator<undefined, void> {
  let last: Microseconds = -1
  for (;;) {
    const { segments, damaged, sealedTo } = loadIndexState(connection)
    const rows = connection.statement(WINDOW).raw(true).all(last, sealedTo) as [Microseconds][]
    if (rows.length === 0) break
    const [first, end] = [rows[0]![0], rows.at(-1)![0]]
    const overlaps = (row: SqliteSegmentRow): boolean => row.first <= end && row.last >= first
    const indexed = new Set<Microseconds>()
    for (const row of segments.filter(overlaps))
      for (const time of timesBetween(readSegment(connection, row), first, end)) indexed.add(time)
    // Lists find all events in the range of a damaged segment.
    const isScanned = damaged.some(overlaps)
    for (const [time] of rows) {
      if (isScanned || indexed.has(time)) continue
      if (!connection.statement(LATE).get(time) && events.at(time)) unindexed(time)
    }
    last = end
    yield
  }
}

async function verifyTables({ tables: { connection }, options, found }: Run): Promise<void> {
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
