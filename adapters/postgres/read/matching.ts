import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditEvent } from '../../../src/event/event.js'
import type { Decide, Decision } from '../../../src/filter/steps.js'
import { createTimeSlices } from '../../../src/filter/time-slices.js'

/**
 * Passes the events of the items that match to `take`, until it returns true. Resolves to whether it
 * has. Yields to the event loop in between.
 */
export type TakeMatching = <Item>(
  items: Iterable<Item>,
  eventOf: (item: Item) => AuditEvent,
  take: (event: AuditEvent, item: Item) => Decision | void,
) => Promise<boolean>

/** `checkTime` throws if the list has taken too long or was aborted. */
export function createTakeMatching(
  matches: Decide<AuditEvent>,
  checkTime: () => void,
): TakeMatching {
  return async (items, eventOf, take) => {
    const slices = createTimeSlices(async () => {
      await nextTurn()
      checkTime()
    })
    for (const item of items) {
      const event = eventOf(item)
      const decision = matches(event)
      const isMatch = typeof decision === 'boolean' ? decision : await slices.finish(decision)
      const taken = isMatch && take(event, item)
      if (typeof taken === 'object' ? await slices.finish(taken) : taken) return true
      if (slices.isOver()) await slices.next()
    }
    return false
  }
}
