import { AuditLogError } from '../../src/errors.js'
import { type Clock, systemClock } from '../../src/event/timestamp.js'
import { createClockGuard, guardedClock } from '../../src/store/clock-guard.js'
import {
  QUERY_TIMEOUT_OPTIONS,
  type QueryTimeoutOptions,
  readQueryTimeout,
} from '../../src/store/query-timeout.js'
import { updateStateBy } from '../../src/store/states.js'
import type { EventStore } from '../../src/store/store.js'
import { createAppending } from './appending.js'
import { createLedger } from './ledger.js'
import type { MemoryTuning } from './list.js'
import { createMemoryLog, type MemoryLog } from './memory-log.js'
import { createReading } from './reading.js'
import { createRemoving } from './removing.js'
import { createState } from './state.js'
import { checkOptions, type OptionNames } from '../../src/options.js'

export interface MemoryStoreOptions extends QueryTimeoutOptions {
  /**
   * Maximum number of events to keep, at least 1. The oldest events are dropped first, open live events too.
   * @default Infinity
   */
  readonly maxEvents?: number
  /** The current time in microseconds. @default the system's clock */
  readonly clock?: Clock
}

export const MEMORY_STORE_OPTIONS: OptionNames<MemoryStoreOptions> = {
  ...QUERY_TIMEOUT_OPTIONS,
  maxEvents: true,
  clock: true,
}

// Smaller than for an index on disk, because this index needs no reads.
const FIRST_PROBE_SIZE = 16

/**
 * Keeps events in the memory of this process, for tests and as a readable reference for other stores.
 * Nothing survives the process. Returned events are frozen. With 10,000 events or more, it indexes the
 * attributes that queries use.
 */
export const memoryStore = (options: MemoryStoreOptions = {}): EventStore =>
  createMemoryStore(options, { minIndexed: 10_000, probe: FIRST_PROBE_SIZE })

/** `onCreated` gets the data of the store, which tests change. */
export function createMemoryStore(
  options: MemoryStoreOptions,
  tuning: MemoryTuning,
  onCreated: (log: MemoryLog) => void = () => {},
): EventStore {
  checkOptions(options, MEMORY_STORE_OPTIONS, 'memoryStore')
  const { maxEvents = Infinity, clock: given = systemClock() } = options
  const guard = createClockGuard(given.monotonic)
  const clock = guardedClock(given, guard)
  if (!(maxEvents >= 1)) throw new AuditLogError('INVALID_OPTION', 'maxEvents must be at least 1')
  const queryTimeoutMs = readQueryTimeout(options)
  const log = createMemoryLog(maxEvents, clock)
  const state = createState()
  onCreated(log)
  const updateStates: EventStore['updateStates'] = async (keys, change, options = {}) => {
    log.check(options.signal)
    state.change(keys, change, clock(), options.keepFor)
  }

  return {
    name: 'memory',
    tuning: { maxBatch: 1000 },
    clock,
    ledger: createLedger(log, maxEvents < Infinity),
    ...createAppending(log),
    ...createReading(log, { queryTimeoutMs, tuning }),
    ...createRemoving(log),
    ...createLiveChanges(log),

    updateStates,
    updateState: updateStateBy(updateStates),

    async readStates(prefix, options) {
      log.check(options.signal)
      return state.read(prefix, options, clock())
    },

    // The index in memory is not damaged and is never rebuilt.
    async rebuildIndex({ signal } = {}) {
      log.check(signal)
    },

    async scrub({ signal } = {}) {
      log.check(signal)
      log.throttles.forget((time) => log.timeline.at(time) !== undefined)
      state.prune(clock())
      log.index.reset()
      return { remaining: [] }
    },

    watch: (hint) => log.watchers.add(hint),
    watchClock: (handler) => guard.watch(handler),
    acceptClock: () => guard.accept(),

    async close() {
      log.close()
    },
  }
}

/** The methods of the store that change open live events. */
function createLiveChanges(
  log: MemoryLog,
): Pick<EventStore, 'changeLive' | 'touchLive' | 'closeLive'> {
  const { timeline, live, watchers } = log

  return {
    async changeLive(id, change, { signal } = {}) {
      log.check(signal)
      const isOpen = live.change(id, change)
      if (isOpen) watchers.hint()
      return isOpen
    },

    // Heartbeats are not needed, because the store and its open events end with this process.
    async touchLive(_ids, { signal } = {}) {
      log.check(signal)
    },

    async closeLive(id, change, { signal } = {}) {
      log.check(signal)
      if (live.change(id, change)) {
        live.close(id)
        const found = timeline.find(id)
        if (found) log.addLate(found.time)
        watchers.hint()
      }
      return timeline.find(id)?.event
    },
  }
}
