import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { DEFAULT_TUNING } from '../adapters/sqlite/index-tables.js'

/* Whether the attribute index of an SQLite file has caught up with its events. */

const { segmentSize, fanOut } = DEFAULT_TUNING
const POLL_MS = 20
const MOST_SECONDS_IDLE = 120

export interface IndexWatch {
  /** Resolves when all that can be indexed is: segments are made and merged. At once where there is no index. */
  caughtUp(): Promise<void>
  close(): void
}

const hasIndex = (database: Database.Database): boolean =>
  database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'daybook_index'").get() !== undefined

interface State {
  readonly unsealed: number
  /** The most segments of one level. */
  readonly fullest: number
}

function readState(database: Database.Database): State {
  const unsealed = database
    .prepare('SELECT appended - sealed FROM daybook_high_water, daybook_index')
    .pluck()
    .get() as number
  const counts = database
    .prepare('SELECT count(*) FROM daybook_segments WHERE state = 1 GROUP BY level')
    .pluck()
    .all() as number[]
  return { unsealed, fullest: Math.max(0, ...counts) }
}

export function watchIndex(filename: string): IndexWatch {
  const database = new Database(filename, { readonly: true })
  const isThere = hasIndex(database)
  return {
    async caughtUp() {
      if (!isThere) return
      let seen = ''
      let since = performance.now()
      for (;;) {
        const state = readState(database)
        if (state.unsealed < segmentSize && state.fullest < fanOut) return
        const now = JSON.stringify(state)
        if (now !== seen) [seen, since] = [now, performance.now()]
        if (performance.now() - since > MOST_SECONDS_IDLE * 1000)
          throw new Error(`the index does not catch up: ${now}`)
        await delay(POLL_MS)
      }
    },
    close: () => database.close(),
  }
}
