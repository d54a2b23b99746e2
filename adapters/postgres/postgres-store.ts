import { AuditLogError, throwIfAborted, untilAborted } from '../../src/errors.js'
import { isUuid, parseEventId } from '../../src/event/event-id.js'
import { timeoutSignal } from '../../src/async/timeout-signal.js'
import type { EventStore } from '../../src/store/store.js'
import { systemClock } from '../../src/event/timestamp.js'
import { analyzeTables } from './write/analyze.js'
import type { Indexed } from './read/answer.js'
import { doAtLength, doPersistently, rejecting } from './log/calls.js'
import { ask } from './connection/client.js'
import { countBounds, countEvents } from './read/count.js'
import { findDue } from './read/due.js'
import { createFollower } from './log/follower.js'
import { importInto } from './write/import.js'
import { createLogIndex, type LogIndex } from './index/log-index.js'
import { createPostgresSealer, type PostgresSealer, type SealerOptions } from './index/sealer.js'
import { DEFAULT_TUNING } from './index/index-state.js'
import { listEvents } from './read/list.js'
import { openList, planList } from './read/list-plan.js'
import { changeLive, closeLive, touchLive } from './write/live.js'
import { readOpen } from './schema/live-rows.js'
import { createLog } from './log/log.js'
import { namesIn } from './schema/names.js'
import { type PostgresStoreOptions, readOptions } from './log/options.js'
import { checkClient, putInOutbox } from './write/outbox.js'
import { createReader, type OwnWrites } from './log/reader.js'
import { removeBefore, removeIds } from './write/remove.js'
import { findEvent } from './schema/rows.js'
import { FIRST_PROBE } from './read/ranges.js'
import { createSilenceKeeper } from './write/liveness.js'
import { updateState } from './schema/state.js'
import { reportSuppressed, recordSuppressed } from './write/throttles.js'
import { createWriter } from './write/writer.js'

// A batch of so many events holds the lock for some milliseconds.
const MAX_BATCH = 500

/** How far in the server's log the one that answers has come, or what is further. */
const REACHED = `SELECT greatest($1::pg_lsn,
  CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END)`

// Snapshots of a list that are older than what is known of the index, before it is answered without.
const MAX_OUTDATED = 3

const ALL_TIME = { from: 0, to: Number.MAX_SAFE_INTEGER } as const

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
  return createPostgresStore(options).store
}

/** The store, and what keeps its index, which tests set otherwise. */
export function createPostgresStore(
  options: PostgresStoreOptions,
  sealing: Partial<SealerOptions> = {},
  firstProbe = FIRST_PROBE,
): { readonly store: EventStore; readonly sealer: PostgresSealer } {
  const { tuning = DEFAULT_TUNING } = sealing
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
  const silence = createSilenceKeeper(log, follower.tell)
  const sealer = createPostgresSealer(log, sealing)
  const own: OwnWrites = { recorded: 0, place: undefined }
  const reader = createReader(log, readPool, queryTimeoutMs, own)
  // A replica may be behind, and what it has is another state of the index.
  const index = createLogIndex(names, tuning)
  const replicaIndex = readPool && createLogIndex(names, tuning)
  const indexOf = (isReplica: boolean): LogIndex | undefined => (isReplica ? replicaIndex : index)
  let closed: Promise<void> | undefined

  const check = (signal: AbortSignal | undefined): void => {
    if (closed) throw new AuditLogError('CLOSED', 'the Postgres store is closed')
    throwIfAborted(signal)
  }

  let preparing: Promise<void> | undefined
  /** The same for all that wait, who then go on in their order. */
  const prepare = async (): Promise<void> => {
    using wait = timeoutSignal(queryTimeoutMs)
    await log.use(wait.signal, () => Promise.resolve())
  }

  /** Has replicas catch up with what is written by now, before they answer this process. */
  const noteOwnWrite = async (signal: AbortSignal | undefined): Promise<void> => {
    if (!readPool) return
    const [row] = await doPersistently(log, signal, (client) =>
      ask(client, 'SELECT pg_current_wal_lsn()'),
    )
    own.place = row![0]!
  }

  const store: EventStore = {
    name: 'postgres',
    maxBatch: MAX_BATCH,
    clock,

    async append(drafts, options = {}) {
      check(options.signal)
      if (drafts.length === 0) return []
      const { kept, heldBack } = await writer.append(drafts, options)
      own.recorded = kept.reduce((newest, { time }) => Math.max(newest, time), own.recorded)
      sealer.look(true)
      for (const { draft, opensIn } of heldBack) options.onSuppressed?.(draft, opensIn)
      return kept.map(({ event }) => event)
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
      const result = await doAtLength(signal, (waiting) =>
        log.use(waiting, (client, state) => importInto(client, names, state, events, clock?.())),
      )
      sealer.look(true)
      if (result.imported > 0) await noteOwnWrite(signal)
      return result
    },

    async get(id, { signal } = {}) {
      check(signal)
      if (!isUuid(id)) return undefined
      const time = parseEventId(id)?.time ?? -1
      return reader.read(signal, { from: time, to: time }, async ({ ask, open }) => {
        const live = await readOpen(ask, names, open)
        return live.find((event) => event.id === id) ?? findEvent(ask, names, id)
      })
    },

    async list(query, { signal, trace, lazy } = {}) {
      check(signal)
      const request = { query, trace, lazy }
      const plan = planList(request, names)
      for (let left = MAX_OUTDATED; ; left--) {
        const indexedOn = (isReplica: boolean): Indexed => ({
          names,
          index: left > 0 ? indexOf(isReplica) : undefined,
          firstProbe,
        })
        const page = await reader.read(
          signal,
          plan.bounds,
          (snapshot, opened) =>
            listEvents(snapshot, indexedOn(snapshot.isReplica), request, plan, opened),
          (isReplica) => openList(plan, indexedOn(isReplica)),
        )
        if (page === 'outdated') continue
        sealer.look()
        return page
      }
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

    async removeBefore(time, { signal, onProgress } = {}) {
      check(signal)
      return doAtLength(signal, (waiting) => removeBefore(log, time, waiting, onProgress))
    },

    async remove(ids, { signal } = {}) {
      check(signal)
      return doAtLength(signal, (waiting) => removeIds(log, ids, waiting))
    },

    async excess(bounds, { signal } = {}) {
      check(signal)
      return findDue(reader, names, bounds, signal)
    },

    async reportSuppressed(report, { signal } = {}) {
      check(signal)
      await doPersistently(log, signal, (client) =>
        reportSuppressed(client, names, report, clock?.()),
      )
    },

    async recordSuppressed(draftOf, { signal } = {}) {
      check(signal)
      const told = await doPersistently(log, signal, (client) =>
        recordSuppressed(client, names, draftOf, clock?.()),
      )
      // It is in the outbox, where nothing gets lost.
      if (told > 0) await writer.move(signal).catch(() => {})
      return told
    },

    async updateState(key, change, { signal, keepFor } = {}) {
      check(signal)
      let isWritten = false
      return doPersistently(
        log,
        signal,
        (client) =>
          updateState(client, names, key, change, clock?.(), keepFor, () => {
            isWritten = true
          }),
        () => !isWritten,
      )
    },

    async changeLive(id, change, { signal } = {}) {
      check(signal)
      const isOpen = await doPersistently(log, signal, (client) =>
        changeLive(client, names, id, change),
      )
      await noteOwnWrite(signal)
      follower.tell()
      return isOpen
    },

    async touchLive(ids, { signal } = {}) {
      check(signal)
      await doPersistently(log, signal, (client) => touchLive(client, names, ids))
    },

    async closeLive(id, change, { signal } = {}) {
      check(signal)
      const event = await doPersistently(log, signal, (client, state) =>
        closeLive(client, names, state.partitions, id, change),
      )
      sealer.look(true)
      await noteOwnWrite(signal)
      follower.tell()
      return event
    },

    async openEvents({ signal } = {}) {
      check(signal)
      return reader.read(signal, ALL_TIME, async ({ ask, open }) => {
        // Who is told here that an event is closed must not be shown it open by another replica.
        if (readPool) [[own.place]] = (await ask(REACHED, own.place ?? null)) as [[string]]
        return open.map(({ base, revision }) => ({ id: base.id, revision }))
      })
    },

    async analyze({ signal } = {}) {
      check(signal)
      return doAtLength(signal, (waiting) =>
        log.use(waiting, (client) => analyzeTables(client, names, waiting)),
      )
    },

    watch(hint) {
      check(undefined)
      return follower.watch(hint)
    },

    close() {
      closed ??= (async () => {
        const told = follower.close()
        silence.close()
        await writer.close()
        await sealer.close()
        await told
        await end()
      })()
      return closed
    },
  }
  return { store, sealer }
}
