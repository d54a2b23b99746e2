import { queryTimedOut } from '../../../src/errors.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import {
  BY_KEY,
  begin,
  endTransaction,
  type PostgresPoolClient,
  type TextRow,
} from '../connection/client.js'
import { type Ask, createAsk } from '../connection/connection.js'
import { LIVE_COLUMNS, type LiveRow, readLiveRows } from '../schema/live-rows.js'
import type { PostgresLog } from './log.js'

/** 0 for the primary; replicas count from 1. */
export type ServerNumber = number

/** One snapshot of the log. */
export interface Snapshot {
  readonly ask: Ask
  /** Which server it is a snapshot of. */
  readonly server: ServerNumber
  /** The open live events within the bounds, oldest first, without their texts. */
  readonly open: readonly LiveRow[]
  /** True if `open` lacks events whose rows cannot be read. */
  readonly isOpenDamaged: boolean
  /** Throws `QUERY_TIMEOUT` once the time limit of all its statements together is over. */
  readonly checkTime: () => void
}

/** Named statements without parameters that are sent with BEGIN, and the rows of each. */
export type Opening = Readonly<Record<string, string>>
export type Opened = Readonly<Record<string, readonly TextRow[]>>

/** Work in a snapshot. */
export interface SnapshotRead<Result> {
  /** Bounds of the open live events, in whole microseconds. */
  readonly bounds: TimeBounds
  readonly use: (snapshot: Snapshot, opened: Opened, before?: readonly TextRow[]) => Promise<Result>
  /** The statements that are sent with BEGIN. */
  readonly open: (server: ServerNumber) => Opening
  /** A statement that is executed before the snapshot is taken; `use` is given its rows. */
  readonly before?: string
}

/** Does the work in a new snapshot of the client's server. */
export type InSnapshot = <Result>(
  client: PostgresPoolClient,
  server: ServerNumber,
  read: SnapshotRead<Result>,
) => Promise<Result>

/** `timeoutMs` limits each statement; `checkTime` applies it to all statements of a snapshot together. */
export function createSnapshots(
  { names: { liveEvents }, damages, placeSql }: Pick<PostgresLog, 'names' | 'damages' | 'placeSql'>,
  timeoutMs: number,
): InSnapshot {
  // `list` may set another plan.
  const settings = { ...BY_KEY, statement_timeout: String(timeoutMs) }

  // Sent with BEGIN, so that it costs no round trip; mostly there are none.
  const readLive = ({ from, to }: TimeBounds): string =>
    `SELECT ${LIVE_COLUMNS} FROM ${liveEvents}
     WHERE created_at BETWEEN ${from} AND ${to} ORDER BY created_at`

  return async (client, server, { bounds, use, open, before }) => {
    const end = performance.now() + timeoutMs
    const opening = open(server)
    const statements = [readLive(bounds), ...Object.values(opening)]
    // The first statement after BEGIN takes the snapshot, so what comes before it needs a transaction of its own.
    const begun = await begin(client, 'REPEATABLE READ READ ONLY', {
      before,
      settings,
      first: placeSql() + statements.join(';'),
    })
    const [live, ...rows] = begun.first.slice(-statements.length)
    const readableLive = readLiveRows(live!, damages)
    const snapshot = {
      ask: createAsk(client),
      server,
      open: readableLive,
      isOpenDamaged: readableLive.length < live!.length,
      checkTime() {
        if (performance.now() > end) throw queryTimedOut(timeoutMs)
      },
    }
    const names = Object.keys(opening)
    const opened = Object.fromEntries(names.map((name, i) => [name, rows[i]!]))
    const result = await use(snapshot, opened, begun.before)
    await endTransaction(client, 'COMMIT')
    return result
  }
}
