import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { constants, gunzipSync } from 'node:zlib'
import { type AuditEvent, formatTimestamp, verifyArchive } from 'daybook'
import { fromParquet } from 'daybook/parquet'
import { manualClock } from 'daybook/testing'
import { openWorld } from '../../stores/shared/cleaning-world.js'
import { queryDuckDb } from '../../support/duckdb.js'
import type { ArchiveFormat } from './archive-rule.js'
import { isPostgres, openPlace, type Place, sqlitePlace } from './archive-place.js'
import { tempDir } from '../../support/temp.js'

const DUE = 200
/** More than a page of the store, so that a file grows. */
const DUE_IN_FOLDER = 600
/** Number of due events between two events that are not due. */
const OTHER = 20
const MINUTE = 60_000_000
const DAY = 24 * 60 * MINUTE

/** The end of an archiving process: killed at its step, or complete after a number of steps. */
export interface Ended {
  readonly wasKilled: boolean
  readonly steps: number
}

/** Runs `archiving.ts` with these arguments. Rejects if it fails. */
export type RunArchiving = (args: readonly string[]) => Promise<Ended>

export interface ArchivedLog {
  /** Archives until the step, or to the end. Checks then that log and files together have every event. */
  archive(step?: number): Promise<Ended>
  /** The types of the events that cleaning has recorded. */
  runs(): Promise<readonly string[]>
  close(): Promise<void>
}

/** The events of a file, which for `folder` may end within a page. */
async function readArchived(file: string, format: ArchiveFormat): Promise<AuditEvent[]> {
  if (file.endsWith('.parquet')) {
    const events: AuditEvent[] = []
    for await (const some of fromParquet(file)) events.push(...some)
    return events
  }
  const bytes = readFileSync(file)
  if (format === 'folder' && bytes.length === 0) return []
  const options = format === 'folder' ? { finishFlush: constants.Z_SYNC_FLUSH } : {}
  const lines = gunzipSync(bytes, options).toString('utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as AuditEvent)
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

/** A new log with events of two months, of which most are due. */
export async function openArchivedLog(
  format: ArchiveFormat,
  run: RunArchiving,
  place: Place = sqlitePlace(),
): Promise<ArchivedLog> {
  const temp = tempDir()
  const directory = temp.file('lake')
  const clock = manualClock('2026-10-31T23:59:00Z')
  const world = openWorld(openPlace(place.name, clock))
  // Rules for whole partitions have no filter.
  const due = format === 'folder' ? DUE_IN_FOLDER : DUE
  const others = isPostgres(place.name) ? 0 : due / OTHER
  for (let n = 0; n < due; n++) {
    if (n === due / 2) {
      await world.audit.flush()
      clock.advance(2 * MINUTE)
    }
    void world.audit.recordCustom('due', { n, text: 'é😀\n"' })
    if (others > 0 && n % OTHER === 0) void world.audit.recordCustom('other', { n })
  }
  await world.audit.flush()
  const recorded = await world.all()
  clock.advance(2 * DAY)
  // This event shows new processes that their clock is right.
  await world.audit.recordCustom('recent')

  const filesOf = (extension: string): string[] =>
    readdirSync(temp.dir, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(extension))
      .map((name) => path.join(temp.dir, name))

  /**
   * Checks that every recorded event is in the log or in a file, unchanged. Only after a kill an event may be in
   * both, or in two files.
   */
  const check = async (): Promise<void> => {
    const files = [...filesOf('.ndjson.gz'), ...filesOf('.parquet')]
    const archived = (await Promise.all(files.map((file) => readArchived(file, format)))).flat()
    const left = await world.all()
    const byId = new Map([...archived, ...left].map((event) => [event.id, event]))
    for (const event of recorded) {
      const kept = byId.get(event.id)
      must(kept !== undefined, `event ${event.id} is neither in the log nor in a file`)
      must(isDeepStrictEqual(kept, event), `event ${event.id} has changed`)
    }
    const kept = left.filter(({ type }) => type === 'other').length
    must(kept === others, `${kept} events are left that were not due`)
  }

  /** Checks the result of a complete run: nothing is due or incomplete, and the manifest has every file. */
  const checkWhole = async (): Promise<void> => {
    const left = (await world.all()).filter(({ type }) => type === 'due')
    must(left.length === 0, `${left.length} due events are left`)
    must(filesOf('.partial').length === 0, 'a file is left that is not complete')
    if (format === 'folder') return
    const { files, events, faults } = await verifyArchive(directory)
    must(faults.length === 0, `the manifest differs: ${JSON.stringify(faults)}`)
    must(files > 2 && events >= due, `the manifest has ${files} files and ${events} events`)
    if (format !== 'parquet') return
    const [rows] = await queryDuckDb(
      `SELECT count(DISTINCT id)::INTEGER AS events FROM '${directory}/**/*.parquet'`,
    )
    must(rows![0]!['events'] === due, `DuckDB finds ${String(rows![0]!['events'])} events`)
  }

  return {
    async archive(step) {
      // Longer than the lease of a process that was killed.
      clock.advance(MINUTE)
      const time = formatTimestamp(clock())
      const ended = await run([place.name, directory, format, time, String(step ?? 0)])
      await place.settled()
      await check()
      if (!ended.wasKilled) await checkWhole()
      return ended
    },
    runs: async () => (await world.cleaningEvents()).map(({ type }) => type),
    async close() {
      await world.close()
      temp.remove()
      await place.remove()
    },
  }
}
