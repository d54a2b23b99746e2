import { AuditLogError } from '../../src/errors.js'
import type { AuditEvent, EventDraft } from '../../src/event/event.js'
import { freshEvents } from '../../src/event/importing.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import type { EventStore } from '../../src/store/store.js'
import { parseFrozen } from './frozen.js'
import type { MemoryLog } from './memory-log.js'

// Counts of suppressed calls that one event records.
const MAX_RECORDED = 1000

/** The methods of the store for adding events and for throttles. */
export function createAppending(
  log: MemoryLog,
): Pick<EventStore, 'append' | 'importEvents' | 'reportSuppressed' | 'recordSuppressed'> {
  const { timeline, throttles, watchers, clock } = log

  return {
    async append(drafts, { signal, deadline = Infinity, since, onSuppressed } = {}) {
      log.check(signal)
      if (performance.now() >= deadline)
        throw new AuditLogError('ABORTED', 'the deadline has passed')
      const stored = since === undefined ? undefined : timeline.suffixesAfter(since)
      const now = clock()
      let time = Math.max(log.highWater, now - drafts.length)
      const events: AuditEvent[] = []
      const suppressed: [EventDraft, Microseconds][] = []
      for (const draft of drafts) {
        const recovered = stored?.get(draft.suffix)
        const opensIn = recovered ? 0 : throttles.opensIn(draft, now)
        if (recovered) events.push(recovered)
        else if (opensIn > 0) suppressed.push([draft, opensIn])
        else {
          time += 1
          events.push(log.store(throttles.close(draft, Math.min(time, now)), time))
        }
      }
      log.dropExcess()
      watchers.hint()
      for (const [draft, opensIn] of suppressed) onSuppressed?.(draft, opensIn)
      return events
    },

    async importEvents(imported, { signal } = {}) {
      log.check(signal)
      const fresh = freshEvents(imported, clock(), {
        at: (time) => {
          const event = timeline.at(time)
          return event && { event, json: JSON.stringify(event.attributes) }
        },
        hasId: (id) => timeline.find(id) !== undefined,
      })
      timeline.insert(
        fresh.map(({ event, time, json }) => ({
          time,
          event: Object.freeze({ ...event, attributes: parseFrozen(json) }),
        })),
      )
      for (const { time } of fresh) {
        log.raiseHighWater(time)
        log.addLate(time)
      }
      log.dropExcess()
      return { imported: fresh.length, skipped: imported.length - fresh.length }
    },

    async reportSuppressed(report, { signal } = {}) {
      log.check(signal)
      throttles.report(report, clock())
    },

    async recordSuppressed(draftOf, { signal } = {}) {
      log.check(signal)
      const now = clock()
      const counts = throttles.unclaimed(now, MAX_RECORDED)
      if (counts.length > 0) {
        log.store(draftOf(counts), Math.max(log.highWater + 1, now))
        throttles.clear(counts)
        log.dropExcess()
        watchers.hint()
      }
      throttles.prune(now)
      return counts.length
    },
  }
}
