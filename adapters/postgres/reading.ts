import { queryTimedOut } from '../../src/errors.js'
import type { AuditEvent } from '../../src/event/event.js'
import { parseEventId } from '../../src/event/event-id.js'
import { isUuid } from '../../src/event/uuid.js'
import { type Clock, type Microseconds, parseTimestamp } from '../../src/event/timestamp.js'
import type { TimeBounds } from '../../src/filter/bounds.js'
import { scanDirection } from '../../src/filter/order.js'
import { MIN_INDEXED } from '../../src/store-kit/index/counted-figures.js'
import type { Order } from '../../src/store-kit/index/part.js'
import { createDamageReporter, type Damage, type DamageReporter } from '../../src/store/damage.js'
import type { EventPage, EventStore, ReadOptions } from '../../src/store/store.js'
import type { Ask } from './connection/connection.js'
import { formatToken } from '../../src/store/consistency-token.js'
import { asReadFailure } from './log/durability.js'
import { primaryToken } from './log/tokens.js'
import { isCorrupt, isDataError, isNoJson } from './connection/failures.js'
import { findUnreadableSegments, UnreadableChunks } from './index/unreadable-chunks.js'
import { createLogIndex, type LogIndex, type OnDamaged } from './index/log-index.js'
import type { SealingTuning } from '../../src/store-kit/index-builder/segment-levels.js'
import type { PostgresLog } from './log/log.js'
import { readWithRetry } from './log/calls.js'
import { createReader, type Reader } from './log/reader.js'
import type { OwnWrites } from './log/replica.js'
import type { Replicas } from './log/replicas.js'
import type { ServerNumber } from './log/snapshot.js'
import { countBounds, countEvents, openCount } from './read/count.js'
import { createLogEnds } from './read/count-span.js'
import { findExcess } from './read/excess.js'
import { listEvents } from './read/list.js'
import {
  type ListPlan,
  type ListRequest,
  listBounds,
  openList,
  planList,
} from './read/list-plan.js'
import type { Indexed } from './read/list-query.js'
import { readOpen } from './schema/live-rows.js'
import { damagedEventError } from '../../src/store-kit/damages.js'
import type { Names } from './schema/names.js'
import { findUnreadable, UnreadableAmong } from './schema/find-unreadable.js'
import { createReadableEvents } from './schema/readable-events.js'
import { findEvent } from './schema/rows.js'
import { readStates } from './schema/state.js'
import { databaseHealth, type IndexDelay } from './health.js'
import { verifyLog } from './verify.js'
import type { PartitionedLog } from './read/near-bounds.js'

/** The WAL position that the answering server has reached, at least $1. */
const WAL_POSITION = `SELECT greatest($1::pg_lsn,
  CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END)`

// How many snapshots of a list may be older than the cached state of the index. After these the list
// is answered without the index.
const MAX_OUTDATED = 3

/** Counts test values and parse attributes in SQL, or in this process. */
const isUncountable = (error: unknown): boolean =>
  isCorrupt(error) || isDataError(error) || isNoJson(error)

/** The time of the newest event; 0 if there is none. */
const newestOf = (events: readonly Pick<AuditEvent, 'created_at'>[]): Microseconds =>
  events.reduce((newest, { created_at }) => Math.max(newest, parseTimestamp(created_at)!), 0)

const NO_TIME = { from: 1, to: 0 } as const
const ALL_TIME = { from: 0, to: Number.MAX_SAFE_INTEGER } as const

export interface ReadingOptions {
  readonly clock: Clock | undefined
  readonly replicas: Replicas
  /** A replica that may be further behind does not answer. */
  readonly maxLagMs: number | undefined
  readonly queryTimeoutMs: number
  readonly tuning: SealingTuning
  readonly firstProbe: number
  /** How many events the index must have for a count to use it. */
  readonly minIndexed?: number | undefined
  /** Memory for chunks of the index, of each server. */
  readonly chunkBytes?: number | undefined
  /** What this process has written. */
  readonly own: OwnWrites
  /** Throws if the store is closed or the signal has aborted. */
  readonly check: (signal: AbortSignal | undefined) => void
  /** Called after each list. */
  readonly onListed: () => void
  /** Called when a segment was found damaged. */
  readonly onDamaged: (segment: number) => void
  /** `undefined` if recording never waits for the index. */
  readonly indexDelay?: IndexDelay | undefined
}

/** The WAL position of the answering server, at least `known`. */
const readWalPosition = async (ask: Ask, known: string | undefined): Promise<string> => {
  const [[position]] = (await ask(WAL_POSITION, known ?? null)) as [[string]]
  return position
}

/** What queries on the primary, or on a replica, read from. */
interface Server {
  readonly names: Names
  readonly index: LogIndex
}

interface PageSource {
  readonly reader: Reader
  readonly firstProbe: number
  readonly damages: DamageReporter
  readonly serverOf: (server: ServerNumber) => Server
  /** `undefined` before the first connection. */
  readonly partitioned: PartitionedLog | undefined
}

/**
 * Reads a page. Starts again if the index is newer than the snapshot, if a segment is damaged, or if SQL
 * cannot test a damaged event.
 */
async function readPage(
  { reader, serverOf, partitioned, ...source }: PageSource,
  request: ListRequest,
  checkSignal: () => void,
  options: ReadOptions,
): Promise<EventPage> {
  const planned = planList(request, serverOf(0).names, partitioned)
  const withoutSql: ListPlan = { ...planned, where: undefined }
  let plan = planned
  for (let left = MAX_OUTDATED; ;) {
    const indexedOn = (server: ServerNumber): Indexed => {
      const { names, index } = serverOf(server)
      return { ...source, names, index: left > 0 ? index : undefined }
    }
    const reading = reader.read(
      options,
      plan.bounds,
      (snapshot, opened) => {
        const checkTime = (): void => {
          checkSignal()
          snapshot.checkTime()
        }
        const indexed = indexedOn(snapshot.server)
        return listEvents({ ...snapshot, checkTime }, indexed, plan, opened)
      },
      (server) => openList(plan, indexedOn(server)),
    )
    const page = await reading.catch((error: unknown) => {
      if (!plan.where || !isDataError(error)) throw error
      // From now on the process tests all rows itself.
      plan = withoutSql
      return 'damaged' as const
    })
    if (page === 'outdated') left -= 1
    // This ends: each repetition has one segment less to read, or no more tests in SQL.
    else if (page !== 'damaged') return page
  }
}

interface Search extends Pick<PageSource, 'reader' | 'serverOf'> {
  /** The direction in which rows are read. */
  readonly order: Order
  readonly bounds: TimeBounds
  /** Whether an error means that some rows cannot be read. */
  readonly isDamage: (error: unknown) => boolean
  readonly queryTimeoutMs: number
  readonly reached: Map<Order, Microseconds>
  readonly check: () => void
  readonly report: (damage: Damage) => void
}

/** Repeats a read without the events and segments that the server cannot read. */
async function readAround<Result>(
  search: Search,
  signal: AbortSignal | undefined,
  read: () => Promise<Result>,
): Promise<Result> {
  const { reader, serverOf, isDamage, check, queryTimeoutMs, report } = search
  const end = performance.now() + queryTimeoutMs
  const found: Damage[] = []
  const find = (cause: unknown): Promise<boolean> =>
    reader.read({ signal }, NO_TIME, async ({ ask, server }) => {
      const { names, index } = serverOf(server)
      if (cause instanceof UnreadableChunks) {
        const damaged = await findUnreadableSegments(ask, names, cause.requests)
        for (const one of damaged) index.setAside(one)
        return damaged.length > 0
      }
      return findUnreadable(ask, names, {
        ...search,
        found,
        times: cause instanceof UnreadableAmong ? cause.times : undefined,
        checkTime() {
          check()
          if (performance.now() > end) throw queryTimedOut(queryTimeoutMs, cause)
        },
      })
    })
  try {
    for (;;) {
      try {
        return await read()
      } catch (error) {
        if (!isDamage(error) || !(await find(error))) throw error
      }
    }
  } finally {
    // Reported after the read, because a report becomes an event, which the page must not contain.
    for (const damage of found) report(damage)
  }
}

/** The methods of the store that only read. */
export function createReading(
  log: PostgresLog,
  options: ReadingOptions,
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
  | 'verify'
  | 'watchDamage'
> & { readonly closeReading: () => void } {
  const { clock, replicas, maxLagMs, queryTimeoutMs, tuning, firstProbe, own, check } = options
  const { onListed, onDamaged, indexDelay, minIndexed = MIN_INDEXED, chunkBytes } = options
  const { names } = log
  const damages = createDamageReporter()
  const reader = createReader(log, { replicas, maxLagMs, timeoutMs: queryTimeoutMs, own })
  const report: OnDamaged = (segment, damage) => {
    if (damage) damages.report(damage)
    onDamaged(segment)
  }
  const onServer = (on: Names): Server => {
    on.readable.damages.watch((damage) => damages.report(damage))
    return { names: on, index: createLogIndex(on, { ...tuning, chunkBytes }, report) }
  }
  const primary = onServer(names)
  // A replica may be behind, so its index is cached separately. One server may be able to read what another cannot.
  const servers = [
    primary,
    ...replicas.all.map(() => onServer({ ...names, readable: createReadableEvents(names.events) })),
  ]
  const serverOf = (server: ServerNumber): Server => servers[server]!
  const search = {
    reader,
    serverOf,
    queryTimeoutMs,
    reached: new Map<Order, Microseconds>(),
    report: (damage: Damage): void => damages.report(damage),
  }

  let newestSeen: Microseconds = 0
  const partitionedNow = (): PartitionedLog | undefined => {
    const state = log.state()
    return (
      state && {
        partitions: log.partitions(),
        ...log.knownPartitions(),
        newest: Math.max(state.highWater, own.appended, newestSeen),
        now: log.now() ?? Date.now() * 1000,
      }
    )
  }
  const noteTime = (time: Microseconds): void => {
    if (time > newestSeen) newestSeen = time
  }

  const logEnds = createLogEnds(partitionedNow)

  /** Resolves once the events that were read up to this time are durable. */
  const confirm = async (time: Microseconds, signal: AbortSignal | undefined): Promise<void> => {
    if (time <= log.durability.known()) return
    const confirming = readWithRetry(log, signal, (client) => log.durability.confirm(client, time))
    await confirming.catch((error: unknown) => {
      throw asReadFailure(error)
    })
  }

  const around = (signal: AbortSignal | undefined) =>
    ({ order: 'desc', isDamage: isCorrupt, check: () => check(signal) }) as const

  return {
    async get(id, options = {}) {
      check(options.signal)
      if (!isUuid(id)) return undefined
      const time = parseEventId(id)?.time ?? -1
      return reader.read(
        options,
        { from: time, to: time },
        async ({ ask, open, isOpenDamaged }) => {
          const live = await readOpen(ask, names, open)
          const found = live.find((event) => event.id === id)
          const event = found ?? (await findEvent(ask, names, id, damages))
          // It may be the open event of that time.
          if (!event && isOpenDamaged) throw damagedEventError(id)
          return event
        },
      )
    },

    async list(query, { signal, trace, lazy, consistencyToken, durable } = {}) {
      const checkSignal = (): void => check(signal)
      checkSignal()
      const pages = { reader, firstProbe, damages, serverOf, partitioned: partitionedNow() }
      const page = await readAround(
        {
          ...search,
          ...around(signal),
          order: scanDirection(query.sorts) ?? 'desc',
          bounds: listBounds(query),
        },
        signal,
        () => readPage(pages, { query, trace, lazy }, checkSignal, { signal, consistencyToken }),
      )
      onListed()
      const newest = newestOf(page.events)
      noteTime(newest)
      if (durable) await confirm(newest, signal)
      return page
    },

    async count(query, options = {}) {
      const { signal } = options
      check(signal)
      const end = performance.now() + Math.min(query.within, queryTimeoutMs)
      const bounds = countBounds(query)
      const spanned = { clock: clock?.(), ends: logEnds.expected() }
      return readAround(
        { ...search, ...around(signal), bounds, isDamage: isUncountable },
        signal,
        () =>
          reader.read(
            options,
            bounds,
            (snapshot, opened) =>
              countEvents(
                snapshot,
                opened,
                { ...query, within: Math.max(0, end - performance.now()) },
                {
                  ...serverOf(snapshot.server),
                  ...spanned,
                  minIndexed,
                  signal,
                  noteSpan(span) {
                    logEnds.note(span)
                    noteTime(span.last)
                  },
                },
              ),
            (server) => openCount(serverOf(server).names, query, minIndexed, spanned),
          ),
      )
    },

    async excess(bounds, { signal } = {}) {
      check(signal)
      return readAround({ ...search, ...around(signal), bounds: ALL_TIME }, signal, () =>
        findExcess(reader, (server) => serverOf(server).names, bounds, signal),
      )
    },

    async openEvents(options = {}) {
      check(options.signal)
      return reader.read(options, ALL_TIME, async ({ ask, open }) => {
        // A caller that sees an event closed here must not see it open on another replica.
        if (replicas.all.length > 0) own.walPosition = await readWalPosition(ask, own.walPosition)
        return open.map(({ base, revision }) => ({ id: base.id, revision }))
      })
    },

    async consistencyToken({ signal } = {}) {
      check(signal)
      return formatToken(await readWithRetry(log, signal, (client) => primaryToken(client, log)))
    },

    async readStates(prefix, options) {
      const { signal } = options
      check(signal)
      return readWithRetry(log, signal, (client) =>
        readStates(client, names, prefix, { ...options, now: clock?.() }),
      )
    },

    async health({ signal } = {}) {
      check(signal)
      return databaseHealth(log, { replicas, maxLagMs, delay: indexDelay }, signal)
    },

    async verify(options = {}) {
      check(options.signal)
      const verification = await verifyLog(log, options, (damaged) =>
        primary.index.setAside(damaged),
      )
      for (const damage of verification.damage) damages.report(damage)
      return verification
    },
    watchDamage: (handler) => damages.watch(handler),
    closeReading: () => reader.close(),
  }
}
