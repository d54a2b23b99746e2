import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditEvent } from '../../src/event/event.js'
import { eventsSealed } from '../../src/store/ledger-errors.js'
import type { EventStore } from '../../src/store/store.js'
import { type MemoryLog, EVENTS_PER_SLICE } from './memory-log.js'

/** The methods of the store that remove events. Open live events stay. */
export function createRemoving(log: MemoryLog): Pick<EventStore, 'removeBefore' | 'remove'> {
  const { timeline, live, index } = log
  const check = (signal: AbortSignal | undefined): void => {
    log.check(signal)
    if (log.late.isKept) throw eventsSealed()
  }
  const isClosed = (event: AuditEvent): boolean => !live.isOpen(event)

  return {
    async removeBefore(time, { signal, onProgress } = {}) {
      check(signal)
      for (let removed = 0; ;) {
        const count = timeline.removeBefore(time, EVENTS_PER_SLICE, isClosed)
        removed += count
        if (count > 0) {
          index.reset()
          onProgress?.(removed)
        }
        if (count < EVENTS_PER_SLICE) return removed
        await nextTurn()
        check(signal)
      }
    },

    async remove(ids, { signal } = {}) {
      check(signal)
      const removable = new Set(
        ids.filter((id) => {
          const found = timeline.find(id)
          return found && isClosed(found.event)
        }),
      )
      if (removable.size > 0) {
        timeline.remove(removable)
        index.reset()
      }
      return removable.size
    },
  }
}
