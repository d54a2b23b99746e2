import { abortedError, AuditLogError, throwIfAborted, untilAborted } from '../../src/errors.js'
import { stampDraft } from '../../src/event.js'
import { isUuid, parseEventId } from '../../src/event-id.js'
import type { EventStore } from '../../src/store.js'
import { type Clock, systemClock } from '../../src/timestamp.js'
import { ask, openPool, type PostgresPool } from './client.js'
import { asAuditLogError } from './failures.js'
import { createFollower } from './follower.js'
import { importInto } from './import.js'
import { listEvents } from './list.js'
import { createLog } from './log.js'
import { checkClient, putInOutbox } from './outbox.js'
import { patience } from './patience.js'
import { createReader, type OwnWrites } from './reader.js'
import { removeEvents } from './remove.js'
import { EVENT_COLUMNS, rowToEvent } from './rows.js'
import { namesIn, type Partitions } from './schema.js'
import { createWriter } from './writer.js'

interface CommonOptions {
  /**
   * The database schema that holds the log's tables; made where there is none. Each schema is a log
   * of its own.
   * @default 'daybook'
   */
  readonly schema?: string
  /**
   * A pool of connections to a replica, for reading. The replica answers what it has caught up with;
   * where it has not yet what this process has recorded, the primary does.
   */
  readonly readPool?: PostgresPool
  /**
   * By what stretch of time (UTC) a new log's table is parted; a whole one is dropped at once when
   * its events are removed. A log that exists keeps the form it was made in.
   * @default 'month'
   */
  readonly partitions?: Partitions
  /**
   * How long one query may take, in milliseconds; then it is stopped with `QUERY_TIMEOUT`.
   * @default 10000
   */
  readonly queryTimeoutMs?: number
  /** The present time in microseconds, for tests. @default the database server's clock */
  readonly clock?: Clock
}

export type PostgresStoreOptions = CommonOptions &
  (
    | {
        /** `postgres://user:password@host:port/database`; the store opens a pool of its own. */
        readonly connectionString: string
      }
    | {
        /** The host's pool of pg, which stays the host's to end. */
        readonly pool: PostgresPool
      }
  )

// A batch of so many events holds the lock for some milliseconds.
const MAX_BATCH = 500
const LONG_MS = 2_147_483_647

function readOptions(options: PostgresStoreOptions): Required<
  Pick<CommonOptions, 'partitions' | 'queryTimeoutMs'>
> & {
  readonly pool: PostgresPool
  readonly end: () => Promise<void>
} {
  const { partitions = 'month', queryTimeoutMs = 10_000 } = options
  if (!['month', 'day', 'none'].includes(partitions))
    throw new AuditLogError(
      'INVALID_OPTION',
      `partitions must be month, day or none; it is ${partitions}`,
    )
  if (!Number.isInteger(queryTimeoutMs) || queryTimeoutMs < 1 || queryTimeoutMs > LONG_MS)
    throw new AuditLogError(
      'INVALID_OPTION',
      `queryTimeoutMs must be a whole number from 1 to ${LONG_MS}; it is ${String(queryTimeoutMs)}`,
    )
  if ('pool' in options && typeof options.pool?.connect === 'function')
    return { partitions, queryTimeoutMs, pool: options.pool, end: () => Promise.resolve() }
  if (!('connectionString' in options) || typeof options.connectionString !== 'string')
    throw new AuditLogError(
      'INVALID_OPTION',
      'the Postgres store needs a connectionString, or a pool of pg',
    )
  const own = openPool(options.connectionString)
  return { partitions, queryTimeoutMs, pool: own, end: () => own.end() }
}

/**
 * Keeps events in a Postgres database (14 or newer, UTF8) through pg, shared by any number of
 * processes: durable when `append` resolves, whatever `synchronous_commit` the server has by
 * default. Connects with the first call, and then makes or migrates its schema, for which the role
 * needs CREATE on the database, or on the schema where there is one. While the server is away,
 * refuses writes or has no room, `append` tries again until its signal aborts; a query that has
 * begun rejects with `STORE_FAILED`. A `transaction` that is given before the first call has found
 * the schema gets its statement once it has. Throws `MISSING_DEPENDENCY` or `INVALID_OPTION`.
 */
export function postgresStore(options: PostgresStoreOptions): EventStore {
  const names = namesIn(options.schema ?? 'daybook')
  const { pool, end, partitions, queryTimeoutMs } = readOptions(options)
  const { clock, readPool } = options
  const processClock = clock ?? systemClock()
  const log = createLog({
    names,
    pool,
    partitions,
    clock,
    onPrepared: (state) => writer.synchronize(state),
  })
  const follower = createFollower(log, pool)
  const writer = createWriter(log, follower.tell)
  const own: OwnWrites = { recorded: 0, imported: undefined }
  const reader = createReader(log, readPool, queryTimeoutMs, own)
  let closed: Promise<void> | undefined

  const check = (signal: AbortSignal | undefined): void => {
    if (closed) throw new AuditLogError('CLOSED', 'the Postgres store is closed')
    throwIfAborted(signal)
  }

  const rejecting = async <Result>(
    work: Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> => {
    try {
      return await work
    } catch (error) {
      if (signal?.aborted) throw abortedError(signal)
      // Given up by us, not by the caller: the reason is what counts.
      const isOver = error instanceof AuditLogError && error.code === 'ABORTED'
      throw asAuditLogError(isOver ? error.cause : error)
    }
  }

  let preparing: Promise<void> | undefined
  /** The same for all that wait, who then go on in their order. */
  const prepare = async (): Promise<void> => {
    using wait = patience(queryTimeoutMs)
    await log.use(wait.signal, () => Promise.resolve())
  }

  return {
    name: 'postgres',
    maxBatch: MAX_BATCH,

    async append(drafts, options = {}) {
      check(options.signal)
      if (drafts.length === 0) return []
      const times = await writer.append(drafts, options)
      own.recorded = times.reduce((a, b) => Math.max(a, b), own.recorded)
      return drafts.map((draft, i) => stampDraft(draft, times[i]!))
    },

    async enlist(draft, transaction, { signal } = {}) {
      check(signal)
      checkClient(transaction)
      if (!log.state()) {
        preparing ??= prepare().finally(() => (preparing = undefined))
        await rejecting(untilAborted(preparing, signal), signal)
      }
      await putInOutbox(transaction, names, draft, processClock())
    },

    async importEvents(events, { signal } = {}) {
      check(signal)
      if (events.length === 0) return { imported: 0, skipped: 0 }
      using wait = patience(LONG_MS, signal)
      const result = await rejecting(
        log.use(wait.signal, (client, state) =>
          importInto(client, names, state, events, clock?.()),
        ),
        signal,
      )
      if (readPool && result.imported > 0) {
        const [row] = await rejecting(
          log.use(wait.signal, (client) => ask(client, 'SELECT pg_current_wal_lsn()')),
          signal,
        )
        own.imported = row![0]!
      }
      return result
    },

    async get(id, { signal } = {}) {
      check(signal)
      if (!isUuid(id)) return undefined
      const rows = await reader.read(signal, ({ ask }) =>
        ask(
          `SELECT ${EVENT_COLUMNS} FROM ${names.events} WHERE created_at =
             coalesce((SELECT created_at FROM ${names.foreignIds} WHERE id = $1), $2)`,
          id,
          parseEventId(id)?.time ?? null,
        ),
      )
      return rows.map(rowToEvent).find((event) => event.id === id)
    },

    async list(query, { signal } = {}) {
      check(signal)
      return reader.read(signal, (snapshot) => listEvents(snapshot, names, query))
    },

    async removeBefore(time, { signal } = {}) {
      check(signal)
      using wait = patience(LONG_MS, signal)
      return await rejecting(removeEvents(log, time, wait.signal), signal)
    },

    watch(hint) {
      check(undefined)
      return follower.watch(hint)
    },

    close() {
      closed ??= (async () => {
        follower.close()
        await writer.close()
        await end()
      })()
      return closed
    },
  }
}
