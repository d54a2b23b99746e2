import { throwIfAborted } from '../../src/errors.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import { noLedger } from '../../src/store/ledger-errors.js'
import {
  type LedgerState,
  type LedgerStore,
  type SealedEvent,
  type UnsealedEvents,
  type UnsealedRequest,
} from '../../src/store/ledger.js'
import type { WaitOptions } from '../../src/store/store.js'
import type { Connection } from './connection/connection.js'
import { leafHasher } from '../../src/ledger/event-leaves.js'
import { hashStep, joined, nothingYet, openPlaces } from './hash-events.js'
import { createHasher } from './hashing.js'
import {
  appendLeaves,
  beginLedger,
  forgetLeaves,
  isAt,
  leafOf,
  readLate,
  readNodes,
  readRows,
  readState,
  readStatements,
  readWaiting,
  restartLedger,
} from './schema/ledger.js'
import { rowsAfter } from './schema/read-after.js'
import { rowToLazyEvent } from './schema/rows.js'
import type { Tables } from './schema/log-tables.js'
import { releasePages, removeTimes } from './write/remove.js'

/** A request with so many events is worth a thread for the next one. */
const MANY = 512

/** The methods that write. */
function createChanges(
  tables: Tables,
  mayCreate: boolean,
): Pick<LedgerStore, 'begin' | 'append' | 'remove' | 'release' | 'restart'> {
  const { connection } = tables
  return {
    begin: (after, options = {}) =>
      connection.write(() => {
        const state = beginLedger(connection, after, mayCreate)
        return { state, open: openPlaces(tables, 0, state.sealedTo) }
      }, options),
    append: (addition, options = {}) =>
      connection.write(() => appendLeaves(connection, addition), options),
    async remove(removal, options = {}) {
      const removed = await connection.write(() => {
        if (!isAt(connection, removal.before)) return undefined
        const count = removeTimes(connection, removal.times)
        forgetLeaves(connection, removal)
        return count
      }, options)
      if (removed) await releasePages(connection, options)
      return removed
    },
    // The pages of removed events are freed with these.
    async release(_, { signal } = {}) {
      throwIfAborted(signal)
    },
    restart: (before, after, options = {}) =>
      connection.write(() => {
        const state = restartLedger(connection, before, after)
        return state && { state, open: openPlaces(tables, 0, state.sealedTo) }
      }, options),
  }
}

/** The ledger of an SQLite file, and what ends its thread. `mayCreate`: true if a ledger may begin. */
export function createLedger(
  tables: Tables,
  mayCreate: boolean,
): LedgerStore & { close(): Promise<void> } {
  const { connection } = tables

  const read = <Result>(
    act: (connection: Connection, state: LedgerState) => Result,
    { signal }: WaitOptions = {},
  ): Promise<Result> =>
    connection.retry(
      () => {
        const state = readState(connection)
        if (!state) throw noLedger()
        return act(connection, state)
      },
      { signal },
    )

  const eventsBetween = (from: Microseconds, to: Microseconds, limit: number): SealedEvent[] => {
    const events: SealedEvent[] = []
    for (const { time, row } of rowsAfter(tables, from - 1, limit)) {
      if (time > to) break
      events.push({ time, event: row && rowToLazyEvent(row) })
    }
    return events
  }

  const hasher = createHasher(connection)

  /** True while requests have many events. */
  let areMany = false

  /** Hashes the events in this thread, or in another one while there are many. */
  const unsealed = async (
    request: UnsealedRequest,
    options: WaitOptions,
  ): Promise<UnsealedEvents> => {
    const isInThread = areMany
    const first = await read(
      () => (isInThread ? nothingYet(request) : hashStep(tables, request, leafHasher(request))),
      options,
    )
    const parts: UnsealedEvents[] = [first]
    if (first.isFull) {
      const rest = isInThread ? hasher.inThread : hasher.here
      parts.push(...(await rest(tables, request, first)))
    }
    const all = joined(parts)
    areMany = all.times.length >= MANY
    throwIfAborted(options.signal)
    await connection.durableReads(options)
    return all
  }

  return {
    state: (options = {}) => connection.retry(() => readState(connection), options),
    unsealed: (request, options = {}) => unsealed(request, options),
    async late(after, limit, options = {}) {
      const late = await read((file) => readLate(file, after, limit), options)
      if (late.length > 0) await connection.durableReads(options)
      return late
    },
    ...createChanges(tables, mayCreate),
    rows: (from, limit, options) => read((file) => readRows(file, from, limit), options),
    nodes: (places, options) => read((file) => readNodes(file, places), options),
    statements: (from, to, options) => read((file) => readStatements(file, from, to), options),
    leavesOf: (times, options) => read((file) => times.map((time) => leafOf(file, time)), options),
    events: ({ from, to, limit }, options) => read(() => eventsBetween(from, to, limit), options),
    eventsAt: (times, options) =>
      read(() => times.flatMap((time) => eventsBetween(time, time, 1)), options),
    waiting: (options) => read(readWaiting, options),
    close: () => hasher.close(),
  }
}
