import type { ResolvedOptions } from './log/options.js'
import type { AuditEvent } from '../../src/event/event.js'
import { parseEventId } from '../../src/event/event-id.js'
import { isUuid } from '../../src/event/uuid.js'
import { type Clock, type Microseconds, parseTimestamp } from '../../src/event/timestamp.js'
import type { Damage, DamageReporter } from '../../src/store/damage.js'
import type { EventPage, EventStore } from '../../src/store/store.js'
import type { Ask } from './connection/connection.js'
import { formatToken } from '../../src/store/consistency-token.js'
import { asReadFailure } from './log/durability.js'
import { primaryToken } from './log/tokens.js'
import { isDataError, isNoJson } from './connection/failures.js'
import { UnreadableTable } from './connection/unreadable.js'
import { createLogIndex, type LogIndex, type OnDamaged } from './index/log-index.js'
import type { SealingTuning } from '../../src/store-kit/index-builder/segment-levels.js'
import type { PostgresLog } from './log/log.js'
import { readWithRetry } from './log/calls.js'
import { createReader } from './log/reader.js'
import type { OwnWrites } from './log/replica.js'
import type { ServerNumber } from './log/snapshot.js'
import { countBounds, countEvents, openCount } from './read/count.js'
import { createLogEnds } from './read/count-span.js'
import { findExcess } from './read/excess.js'
import { listEvents } from './read/list.js'
import { type ListPlan, openList, planList } from './read/list-plan.js'
import type { Indexed } from './read/list-query.js'
import { readOpen } from './schema/live-rows.js'
import { damagedEventError, databaseDamage } from '../../src/store-kit/damages.js'
import { findEvent } from './schema/rows.js'
import { readStates } from './schema/state.js'
import { readHealth, type IndexDelay } from './health.js'
import { verifyLog } from './verify.js'
import type { PartitionedLog } from './read/near-bounds.js'

/** The WAL position that the answering server has reached, at least $1. */
const WAL_POSITION = `SELECT greatest($1::pg_lsn,
  CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END)`

// How many snapshots of a list may be older than the cached state of the index. After these the list
// is answered without the index.
const MAX_OUTDATED = 3

/** With fewer indexed events, reading the events takes as long as counting them by the index. */
const MIN_INDEXED = 1024

/** The time of the newest event; 0 if there is none. */
const newestOf = (events: readonly Pick<AuditEvent, 'created_at'>[]): Microseconds =>
  events.reduce((newest, { created_at }) => Math.max(newest, parseTimestamp(created_at)!), 0)

const ALL_TIME = { from: 0, to: Number.MAX_SAFE_INTEGER } as const

export interface ReadingOptions extends Pick<
  ResolvedOptions,
  'replicas' | 'maxLagMs' | 'queryTimeoutMs'
> {
  readonly clock: Clock | undefined
  readonly tuning: SealingTuning
  readonly firstProbe: number
  /** How many events the index must have for a count to use it. */
  readonly minIndexed?: number | undefined
  /** Memory for chunks of the index, of each server. */
  readonly chunkBytes?: number | undefined
  /** Writes of this process that an answer must include. */
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

/** The tables without which events can still be read. */
const INDEX_TABLES: ReadonlySet<string> = new Set([
  'index_state',
  'segments',
  'segment_chunks',
  'attribute_names',
  'late_events',
  'removed_events',
])

type Outcome = { readonly result: unknown } | { readonly error: unknown }

/** The means by which a read finds events, fewer after each failure that another attempt can avoid. */
interface Means {
  readonly index: boolean
  /** SQL reads attributes. That fails for a damaged event whose attributes are not JSON. */
  readonly sql: boolean
  /** See `ReadMeans`. A result is `undefined` if its snapshot was too old for the index. */
  readonly repeats: (outcome: Outcome) => boolean
}

/** Reads with the means that work, and reports a table of the index that the server cannot read. */
async function withMeans<Result>(
  damages: DamageReporter,
  read: (means: Means) => Promise<Result>,
): Promise<Result> {
  let damage: Damage | undefined
  let outdated = 0
  const means = {
    index: true,
    sql: true,
    repeats: (outcome: Outcome): boolean => {
      if ('result' in outcome) {
        if (outcome.result !== undefined) return false
        means.index = ++outdated < MAX_OUTDATED
        return true
      }
      const { error } = outcome
      if (means.index && error instanceof UnreadableTable && INDEX_TABLES.has(error.table)) {
        damage = unreadableIndex(error)
        means.index = false
        return true
      }
      if (!means.sql || !(isDataError(error) || isNoJson(error))) return false
      means.sql = false
      return true
    },
  }
  try {
    return await read(means)
  } finally {
    // Reported after the read, because a report becomes an event, which the page must not contain.
    if (damage) damages.report(damage)
  }
}

const unreadableIndex = ({ table, message }: UnreadableTable): Damage =>
  databaseDamage(
    `table ${table}`,
    message,
    'queries read events one by one until it is restored from a replica or a backup',
  )

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
  const { names, damages } = log
  const reader = createReader(log, { replicas, maxLagMs, timeoutMs: queryTimeoutMs, own })
  const report: OnDamaged = (segment, damage) => {
    if (damage) damages.report(damage)
    onDamaged(segment)
  }
  // A replica may be behind, so its index is cached separately.
  const indexes = [log, ...replicas.all].map(() =>
    createLogIndex(names, { ...tuning, chunkBytes }, report),
  )
  const indexOf = (server: ServerNumber): LogIndex => indexes[server]!

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
      const planned = planList({ query, trace, lazy }, names, partitionedNow())
      const page = await withMeans(damages, (means) => {
        const plan = (): ListPlan => (means.sql ? planned : { ...planned, where: undefined })
        const indexedOn = (server: ServerNumber): Indexed => {
          const index = means.index ? indexOf(server) : undefined
          return { names, firstProbe, damages, index }
        }
        return reader.read(
          { signal, consistencyToken },
          planned.bounds,
          (snapshot, opened) => {
            const checkTime = (): void => {
              checkSignal()
              snapshot.checkTime()
            }
            const indexed = indexedOn(snapshot.server)
            return listEvents({ ...snapshot, checkTime }, indexed, plan(), opened)
          },
          { open: (server) => openList(plan(), indexedOn(server)), repeats: means.repeats },
        ) as Promise<EventPage>
      })
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
      return withMeans(damages, (means) =>
        reader.read(
          options,
          bounds,
          (snapshot, opened) =>
            countEvents(
              snapshot,
              opened,
              { ...query, within: Math.max(0, end - performance.now()) },
              {
                names,
                index: means.index ? indexOf(snapshot.server) : undefined,
                readsJson: means.sql,
                damages,
                ...spanned,
                minIndexed,
                signal,
                noteSpan(span) {
                  logEnds.note(span)
                  noteTime(span.last)
                },
              },
            ),
          {
            open: () => openCount(names, query, means.index ? minIndexed : undefined, spanned),
            repeats: means.repeats,
          },
        ),
      )
    },

    async excess(bounds, { signal } = {}) {
      check(signal)
      return findExcess(reader, names, bounds, signal)
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
      return readHealth(log, { replicas, maxLagMs, delay: indexDelay }, signal)
    },

    async verify(options = {}) {
      const setAside: LogIndex['setAside'] = (damaged) => indexes[0]!.setAside(damaged)
      const verification = await verifyLog(log, options, setAside, check)
      for (const damage of verification.damage) damages.report(damage)
      return verification
    },
    watchDamage: (handler) => damages.watch(handler),
    closeReading: () => reader.close(),
  }
}
