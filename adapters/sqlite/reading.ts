import { AuditLogError, queryTimedOut } from '../../src/errors.js'
import type { AuditEvent } from '../../src/event/event.js'
import { type Clock, formatTimestamp } from '../../src/event/timestamp.js'
import { checkToken } from '../../src/store/consistency-token.js'
import { MIN_INDEXED } from '../../src/store-kit/index/counted-figures.js'
import type { EventStore, ListOptions, ReadOptions } from '../../src/store/store.js'
import type { CommitWatcher } from './connection/commit-watcher.js'
import { countEvents } from './read/count.js'
import { findExcess } from './read/excess.js'
import type { Indexed } from './read/session.js'
import { listEvents } from './read/list.js'
import type { BoundedListOptions } from './read/scan.js'
import { readHealth } from './health.js'
import { verifyLog } from './verify.js'
import { rowToEvent } from './schema/rows.js'
import { readStateRange } from './schema/state.js'
import type { Tables } from './schema/log-tables.js'

/** Finds an event by its id. */
export function findEvent({ live, events }: Tables, id: string): AuditEvent | undefined {
  // Open events first: an event that closes in between is then found in the table of events.
  const row = live.find(id) ?? events.find(id)
  return row && rowToEvent(row)
}

/** Rejects with `QUERY_TIMEOUT` if the list takes longer than `timeoutMs`. */
async function withinTimeout<Page>(
  timeoutMs: number,
  options: ListOptions,
  list: (options: BoundedListOptions) => Page | Promise<Page>,
): Promise<Page> {
  const deadline = performance.now() + timeoutMs
  try {
    const page = list({ ...options, deadline })
    return page instanceof Promise ? await page : page
  } catch (error) {
    const isStopped = error instanceof AuditLogError && error.code === 'ABORTED'
    if (isStopped && !options.signal?.aborted) throw queryTimedOut(timeoutMs, error.cause)
    throw error
  }
}

interface Readable extends Indexed {
  readonly queryTimeoutMs: number
  /** How many events the index must have for a count to use it. */
  readonly minIndexed?: number | undefined
}

/** The methods of the store that only read. */
export function createReading(
  { queryTimeoutMs, minIndexed = MIN_INDEXED, ...indexed }: Readable,
  watcher: CommitWatcher,
  clock: Clock,
): Pick<
  EventStore,
  | 'consistencyToken'
  | 'get'
  | 'list'
  | 'count'
  | 'excess'
  | 'openEvents'
  | 'readStates'
  | 'health'
  | 'watch'
  | 'watchDamage'
  | 'verify'
> {
  const { tables } = indexed
  const { connection, events, live } = tables
  /** Each read sees the newest state of the file, so it is enough that the log has been as far. */
  const checkReached = async (options: ReadOptions): Promise<void> => {
    const { consistencyToken } = options
    if (consistencyToken === undefined) return
    await connection.retry(() => checkToken(consistencyToken, () => events.highWater()), options)
  }
  return {
    consistencyToken: async (options = {}) =>
      formatTimestamp(await connection.retry(() => events.highWater(), options)),
    async get(id, options = {}) {
      await checkReached(options)
      return connection.retry(() => findEvent(tables, id), options)
    },
    async list(query, options = {}) {
      await checkReached(options)
      const page = await withinTimeout(queryTimeoutMs, options, (bounded) =>
        listEvents(indexed, query, bounded),
      )
      if (options.durable) await connection.durableReads(options)
      return page
    },
    async count(query, options = {}) {
      await checkReached(options)
      const within = Math.min(query.within, queryTimeoutMs)
      return countEvents({ ...indexed, minIndexed }, { ...query, within }, clock, options)
    },
    excess: async (bounds, options = {}) => findExcess(connection, bounds, options),
    async openEvents(options = {}) {
      await checkReached(options)
      return connection.retry(() => live.open(), options)
    },
    readStates: async (prefix, options) =>
      connection.retry(() => readStateRange(connection, prefix, options, clock()), options),
    health: (options = {}) => readHealth(connection, options),
    watch: (hint) => watcher.add(hint),
    async verify(options = {}) {
      const verification = await verifyLog(tables, options, (damaged) =>
        indexed.index.setAside(damaged),
      )
      for (const damage of verification.damage) tables.damages.report(damage)
      return verification
    },
    watchDamage: (handler) => tables.damages.watch(handler),
  }
}
