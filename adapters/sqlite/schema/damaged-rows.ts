import type { Damage } from '../../../src/store/damage.js'
import { formatTimestamp, type Microseconds } from '../../../src/event/timestamp.js'
import { idOf } from './rows.js'

const AFFECTS = 'lists, pages, exports and counts leave the event out, and get rejects with DAMAGED'

const timeText = (time: Microseconds): string => {
  try {
    return formatTimestamp(time)
  } catch {
    return String(time)
  }
}

/** The damage of an event whose row is missing. */
export const missingEvent = (time: Microseconds): Damage => ({
  ...damagedEvent(time, undefined, 'the index has it, it was not removed, and its row is gone'),
  kind: 'missing',
  affects: 'no answer has the event',
})

/** The damage of an event; `suffix` is what could be read of the row. */
export function damagedEvent(time: Microseconds, suffix: unknown, reason: string): Damage {
  const id = typeof suffix === 'string' ? idOf({ created_at: time, suffix }) : undefined
  const place = `event ${id ?? `of ${timeText(time)}`}`
  return { kind: 'event', place, reason, affects: AFFECTS, id, from: time, to: time }
}
