import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditEvent } from '../../../src/event/event.js'
import { type Decide, finishInTurns } from '../../../src/filter/steps.js'

/** A list may keep the event loop this long. */
const SLICE_MS = 3

/**
 * Passes the events of the items that match to `take`, until it returns true. Resolves to whether it has.
 * Lets the event loop turn.
 */
export type TakeMatching = <Item>(
  items: Iterable<Item>,
  eventOf: (item: Item) => AuditEvent,
  take: (event: AuditEvent, item: Item) => boolean | void,
) => Promise<boolean>

/** `checkTime` throws if the list has taken too long, or is not wanted any more. */
export function createTakeMatching(
  matches: Decide<AuditEvent>,
  checkTime: () => void,
): TakeMatching {
  return async (items, eventOf, take) => {
    let end = performance.now() + SLICE_MS
    const isOver = (): boolean => performance.now() >= end
    const pause = async (): Promise<void> => {
      await nextTurn()
      checkTime()
      end = performance.now() + SLICE_MS
    }
    for (const item of items) {
      const event = eventOf(item)
      const decision = matches(event)
      const isMatch =
        typeof decision === 'boolean' ? decision : await finishInTurns(decision, isOver, pause)
      if (isMatch && take(event, item) === true) return true
      if (isOver()) await pause()
    }
    return false
  }
}
