import { isUuid, parseEventId } from '../../src/event/event-id.js'
import type { Clock } from '../../src/event/timestamp.js'
import { createDamageReporter, type DamageReporter } from '../../src/store/damage.js'
import type { EventPage, EventStore } from '../../src/store/store.js'
import type { PostgresPool } from './connection/client.js'
import type { Ask } from './connection/connection.js'
import { isDataError } from './connection/failures.js'
import { createLogIndex, type LogIndex, type OnDamaged } from './index/log-index.js'
import type { SealingTuning } from '../../src/store-kit/index-builder/segment-levels.js'
import type { PostgresLog } from './log/log.js'
import { createReader, type Reader } from './log/reader.js'
import type { OwnWrites } from './log/replica.js'
import { countBounds, countEvents } from './read/count.js'
import { findExcess } from './read/excess.js'
import { listEvents } from './read/list.js'
import { type ListPlan, type ListRequest, openList, planList } from './read/list-plan.js'
import type { Indexed } from './read/list-query.js'
import { readOpen } from './schema/live-rows.js'
import type { Names } from './schema/names.js'
import { checkRows, findEvent } from './schema/rows.js'
import { verifyLog } from './verify.js'

/** The WAL position that the answering server has reached, at least $1. */
const WAL_POSITION = `SELECT greatest($1::pg_lsn,
  CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END)`

// How many snapshots of a list may be older than the cached state of the index. After these the list
// is answered without the index.
const MAX_OUTDATED = 3

const ALL_TIME = { from: 0, to: Number.MAX_SAFE_INTEGER } as const

export interface ReadingOptions {
  readonly clock: Clock | undefined
  readonly readPool: PostgresPool | undefined
  readonly queryTimeoutMs: number
  readonly tuning: SealingTuning
  readonly firstProbe: number
  /** What this process has written. */
  readonly own: OwnWrites
  /** Throws if the store is closed or the signal has aborted. */
  readonly check: (signal: AbortSignal | undefined) => void
  /** Called after each list. */
  readonly onListed: () => void
  /** Called when a segment was found damaged. */
  readonly onDamaged: (segment: number) => void
}

/** The WAL position of the answering server, at least `known`. */
const readWalPosition = async (ask: Ask, known: string | undefined): Promise<string> => {
  const [[position]] = (await ask(WAL_POSITION, known ?? null)) as [[string]]
  return position
}

interface PageSource {
  readonly reader: Reader
  readonly names: Names
  readonly firstProbe: number
  readonly damages: DamageReporter
  readonly indexOf: (isReplica: boolean) => LogIndex | undefined
}

/**
 * Reads a page. Starts again if the index is newer than the snapshot, if a segment is damaged, or if SQL
 * cannot test a damaged event.
 */
async function readPage(
  { reader, indexOf, ...source }: PageSource,
  request: ListRequest,
  checkSignal: () => void,
  signal: AbortSignal | undefined,
): Promise<EventPage> {
  const planned = planList(request, source.names)
  const withoutSql: ListPlan = { ...planned, where: undefined }
  let plan = planned
  for (let left = MAX_OUTDATED; ;) {
    const indexedOn = (isReplica: boolean): Indexed => ({
      ...source,
      index: left > 0 ? indexOf(isReplica) : undefined,
    })
    const reading = reader.read(
      signal,
      plan.bounds,
      (snapshot, opened) => {
        const checkTime = (): void => {
          checkSignal()
          snapshot.checkTime()
        }
        const indexed = indexedOn(snapshot.isReplica)
        return listEvents({ ...snapshot, checkTime }, indexed, plan, opened)
      },
      (isReplica) => openList(plan, indexedOn(isReplica)),
    )
    const page = await reading.catch((error: unknown) => {
      if (!plan.where || !isDataError(error)) throw error
      // From now on the process tests all rows itself.
      plan = withoutSql
      return 'damaged' as const
    })
    if (page === 'outdated') left -= 1
    // Each time another segment is set aside, or SQL tests nothing any more, so this ends.
    else if (page !== 'damaged') return page
  }
}

/** The methods of the store that only read. */
export function createReading(
  log: PostgresLog,
  options: ReadingOptions,
): Pick<EventStore, 'get' | 'list' | 'count' | 'excess' | 'openEvents' | 'verify' | 'watchDamage'> {
  const { clock, readPool, queryTimeoutMs, tuning, firstProbe, own, check } = options
  const { onListed, onDamaged } = options
  const { names } = log
  const damages = createDamageReporter()
  const reader = createReader(log, readPool, queryTimeoutMs, own)
  const report: OnDamaged = (segment, damage) => {
    if (damage) damages.report(damage)
    onDamaged(segment)
  }
  // A replica may be behind, so its index is cached separately.
  const index = createLogIndex(names, tuning, report)
  const replicaIndex = readPool && createLogIndex(names, tuning, report)
  const indexOf = (isReplica: boolean): LogIndex | undefined => (isReplica ? replicaIndex : index)

  return {
    async get(id, { signal } = {}) {
      check(signal)
      if (!isUuid(id)) return undefined
      const time = parseEventId(id)?.time ?? -1
      return reader.read(signal, { from: time, to: time }, async ({ ask, open }) => {
        const live = await readOpen(ask, names, open)
        return (
          live.find((event) => event.id === id) ?? findEvent(ask, names, id, checkRows(damages))
        )
      })
    },

    async list(query, { signal, trace, lazy } = {}) {
      const checkSignal = (): void => check(signal)
      checkSignal()
      const pages = { reader, names, firstProbe, damages, indexOf }
      const page = await readPage(pages, { query, trace, lazy }, checkSignal, signal)
      onListed()
      return page
    },

    async count(query, { signal } = {}) {
      check(signal)
      const end = performance.now() + Math.min(query.within, queryTimeoutMs)
      return reader.read(signal, countBounds(query), (snapshot) =>
        countEvents(
          snapshot,
          { ...query, within: Math.max(0, end - performance.now()) },
          { names, index: indexOf(snapshot.isReplica), clock: clock?.(), signal },
        ),
      )
    },

    async excess(bounds, { signal } = {}) {
      check(signal)
      return findExcess(reader, names, bounds, signal)
    },

    async openEvents({ signal } = {}) {
      check(signal)
      return reader.read(signal, ALL_TIME, async ({ ask, open }) => {
        // A caller that sees an event closed here must not see it open on another replica.
        if (readPool) own.walPosition = await readWalPosition(ask, own.walPosition)
        return open.map(({ base, revision }) => ({ id: base.id, revision }))
      })
    },

    async verify(options = {}) {
      check(options.signal)
      const verification = await verifyLog(log, options, (damaged) => index.setAside(damaged))
      for (const damage of verification.damage) damages.report(damage)
      return verification
    },
    watchDamage: (handler) => damages.watch(handler),
  }
}
