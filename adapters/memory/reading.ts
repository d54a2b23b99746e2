import { setImmediate as nextTurn } from 'node:timers/promises'
import { queryTimedOut } from '../../src/errors.js'
import { formatTimestamp } from '../../src/event/timestamp.js'
import { checkToken } from '../../src/store/consistency-token.js'
import type { EventStore, ReadOptions } from '../../src/store/store.js'
import { countEvents } from './count.js'
import { excessBefore } from './excess.js'
import { listEvents, type MemoryTuning } from './list.js'
import { type MemoryLog, EVENTS_PER_SLICE } from './memory-log.js'

export interface ReadingOptions {
  readonly queryTimeoutMs: number
  readonly tuning: MemoryTuning
}

/** The methods of the store that only read. */
export function createReading(
  log: MemoryLog,
  { queryTimeoutMs, tuning }: ReadingOptions,
): Pick<
  EventStore,
  'consistencyToken' | 'get' | 'list' | 'count' | 'excess' | 'openEvents' | 'health' | 'verify'
> {
  const { timeline, live, index, clock } = log
  const check = ({ signal, consistencyToken }: ReadOptions): void => {
    log.check(signal)
    checkToken(consistencyToken, () => log.highWater)
  }

  return {
    async consistencyToken({ signal } = {}) {
      log.check(signal)
      return formatTimestamp(log.highWater)
    },

    async get(id, options = {}) {
      check(options)
      return timeline.find(id)?.event
    },

    async list(query, { signal, trace, consistencyToken } = {}) {
      check({ signal, consistencyToken })
      const end = performance.now() + queryTimeoutMs
      const pause = async (): Promise<void> => {
        await nextTurn()
        log.check(signal)
        if (performance.now() >= end) throw queryTimedOut(queryTimeoutMs)
      }
      return listEvents({ timeline, index, tuning, pause }, query, trace)
    },

    async count(query, { signal, consistencyToken } = {}) {
      check({ signal, consistencyToken })
      const within = Math.min(query.within, queryTimeoutMs)
      return countEvents(timeline, { ...query, within }, clock(), async () => {
        await nextTurn()
        log.check(signal)
      })
    },

    async excess(bounds, { signal } = {}) {
      log.check(signal)
      const all = timeline.between(-Infinity, Infinity)
      const walk = excessBefore(all, (event) => !live.isOpen(event), bounds)
      for (let seen = 1; ; seen++) {
        const step = walk.next()
        if (step.done) {
          const before = step.value
          return { before, count: timeline.countBefore(before) - live.countBefore(before) }
        }
        if (seen % EVENTS_PER_SLICE === 0) {
          await nextTurn()
          log.check(signal)
        }
      }
    },

    async openEvents(options = {}) {
      check(options)
      return live.list()
    },

    // The index in memory is built as events are added. Nothing is on disk.
    async health({ signal } = {}) {
      log.check(signal)
      return {}
    },

    // Memory is not checked for damage.
    async verify({ signal } = {}) {
      log.check(signal)
      return { events: timeline.size, segments: 0, damage: [] }
    },
  }
}
