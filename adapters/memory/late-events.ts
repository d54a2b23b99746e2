import type { Microseconds } from '../../src/event/timestamp.js'
import type { LateEvent } from '../../src/store/ledger.js'

/** The events that became visible behind others, once a ledger needs them. */
export interface LateEvents {
  readonly isKept: boolean
  /** Keeps the events from now on. */
  keep(): void
  add(time: Microseconds): void
  /** The events, by increasing ids from 1. */
  readonly list: readonly LateEvent[]
}

export function createLateEvents(): LateEvents {
  const list: LateEvent[] = []
  let isKept = false
  return {
    get isKept() {
      return isKept
    },
    keep() {
      isKept = true
    },
    add(time) {
      if (isKept) list.push({ id: list.length + 1, time })
    },
    list,
  }
}
