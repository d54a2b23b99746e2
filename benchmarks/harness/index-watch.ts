import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import pg from 'pg'
import { DEFAULT_TUNING as POSTGRES_TUNING } from '../../adapters/postgres/index/index-state.js'
import { DEFAULT_CACHE_BYTES } from '../../adapters/sqlite/connection/page-cache.js'
import { DEFAULT_TUNING as SQLITE_TUNING } from '../../adapters/sqlite/index/index-state.js'
import { pacerInMain } from '../../adapters/sqlite/index/pacing.js'
import { createRoundRunner } from '../../adapters/sqlite/index/round-runner.js'
import { MAX_LEVEL, type SealingTuning } from '../../src/store-kit/index-builder/segment-levels.js'

/* Waits until the attribute index of a log has caught up with its events. */

const POLL_MS = 20
const MAX_IDLE_SECONDS = 120

export interface IndexWatch {
  /** Resolves when no segment is left to build or merge. */
  caughtUp(): Promise<void>
  close(): Promise<void>
}

interface State {
  readonly unsealed: number
  /** Whether sealed events are to be compressed. */
  readonly unpacked?: boolean
  /** The largest number of segments of one level that are merged. */
  readonly fullest: number
}

async function catchUp(
  { segmentSize, fanOut }: SealingTuning,
  readState: () => State | Promise<State>,
): Promise<void> {
  let seen = ''
  let since = performance.now()
  for (;;) {
    const state = await readState()
    const { unsealed, fullest, unpacked = false } = state
    if (unsealed < segmentSize && fullest < fanOut && !unpacked) return
    const now = JSON.stringify(state)
    if (now !== seen) [seen, since] = [now, performance.now()]
    if (performance.now() - since > MAX_IDLE_SECONDS * 1000)
      throw new Error(`the index makes no progress: ${now}`)
    await delay(POLL_MS)
  }
}

/** Waits for compression too, if the log has it. */
export function watchSqliteIndex(filename: string, compression = 'none'): IndexWatch {
  const database = new Database(filename, { readonly: true })
  const readState = (): State => {
    const unsealed = database
      .prepare('SELECT appended - sealed FROM daybook_high_water, daybook_index')
      .pluck()
      .get() as number
    const counts = database
      .prepare('SELECT count(*) FROM daybook_segments WHERE state = 1 AND level < ? GROUP BY level')
      .pluck()
      .all(MAX_LEVEL) as number[]
    const unpacked =
      compression !== 'none' &&
      database
        .prepare(
          'SELECT packed_to < (SELECT max(last) FROM daybook_segments WHERE state = 1 AND level >= 0) FROM daybook_packing',
        )
        .pluck()
        .get() === 1
    return { unsealed, unpacked, fullest: Math.max(0, ...counts) }
  }
  return {
    caughtUp: () => catchUp(SQLITE_TUNING, readState),
    close: async () => void database.close(),
  }
}

/** Seals the last events of a log that no process has open, as a process does that has it open for a minute. */
export async function sealRest(filename: string): Promise<void> {
  const runner = createRoundRunner(
    {
      filename,
      driver: 'better-sqlite3',
      tuning: SQLITE_TUNING,
      leaseMs: 10_000,
      cacheBytes: DEFAULT_CACHE_BYTES,
    },
    pacerInMain,
  )
  while ((await runner.run(true)) === 'leased') await delay(POLL_MS)
  await runner.close()
}

// Counts no more unsealed events than one segment takes.
const POSTGRES_STATE = `
  SELECT
    (SELECT count(*) FROM (SELECT FROM daybook.events
      WHERE created_at > (SELECT sealed_to FROM daybook.index_state)
      ORDER BY created_at LIMIT ${POSTGRES_TUNING.segmentSize}) AS unsealed)::int AS unsealed,
    (SELECT coalesce(max(size), 0) FROM (SELECT count(*) AS size FROM daybook.segments
      WHERE state = 1 AND level < ${MAX_LEVEL} GROUP BY level) AS levels)::int AS fullest`

export function watchPostgresIndex(url: string): IndexWatch {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const readState = async (): Promise<State> => (await pool.query<State>(POSTGRES_STATE)).rows[0]!
  return {
    caughtUp: () => catchUp(POSTGRES_TUNING, readState),
    close: () => pool.end(),
  }
}
