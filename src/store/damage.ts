import type { Microseconds } from '../event/timestamp.js'

/** Stored data that differs from what was written, for example after a disk fault. */
export interface Damage {
  /**
   * `event`: an unreadable event; lists leave it out. `segment`: a part of the index; queries read its events one by
   * one until it is rebuilt. `index`: the list of segments; queries read all events one by one until the index is
   * rebuilt. `missing`: events that should exist, but do not. `database`: damage that the database reports.
   */
  readonly kind: 'event' | 'segment' | 'index' | 'missing' | 'database'
  /** The damaged part, in the words of the store, such as `event 01982c5a-…` or `segment 12`. */
  readonly place: string
  /** Description of the failed check. */
  readonly reason: string
  /** Answers that the damage affects. */
  readonly affects: string
  /** The id of the event, if it can be read. */
  readonly id?: string | undefined
  /** The time range of the events that depend on it. */
  readonly from?: Microseconds | undefined
  readonly to?: Microseconds | undefined
}

/** Passes reports of damage from readers to the log. */
export interface DamageReporter {
  report(damage: Damage): void
  /** Returns a function that ends the watch. */
  watch(handler: (damage: Damage) => void): () => void
}

export function createDamageReporter(): DamageReporter {
  const handlers = new Set<(damage: Damage) => void>()
  return {
    report(damage) {
      for (const handler of handlers) handler(damage)
    },
    watch(handler) {
      handlers.add(handler)
      return () => void handlers.delete(handler)
    },
  }
}
