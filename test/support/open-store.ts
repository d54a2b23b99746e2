import type { EventStore } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'

/** The time limit of a query is long enough for a busy machine. */
const limits = { queryTimeoutMs: 60_000 }

/** Opens the store at a Postgres URL, or in the SQLite file of this name, for processes that tests start. */
export const openStore = (location: string): EventStore =>
  location.startsWith('postgres')
    ? postgresStore({ connectionString: location, ...limits })
    : sqliteStore({ filename: location, ...limits })
