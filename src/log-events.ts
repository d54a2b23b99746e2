import { createListeners, type Listeners } from './async/listeners.js'
import { warn } from './async/warn.js'
import type { AuditLogError } from './errors.js'
import type { AuditEvent } from './event/event.js'
import type { SlowQuery } from './explaining/slow-queries.js'
import { createLossWarnings } from './recording/losses.js'
import type { CallsObserver } from './recording/outcomes.js'
import { damageText } from './recording/reports.js'
import type { Damage } from './store/damage.js'

/** Events of `on`. Handlers run synchronously. An error of a handler is reported as `error`. */
export type AuditLogEvents = {
  /** An event became durable. Emitted in the order of `created_at`. */
  recorded: AuditEvent
  /**
   * A call of `record` or `recordCustom` was rejected. Without a handler, lost events cause a process
   * warning, once for each cause.
   */
  rejected: { readonly type: string; readonly error: AuditLogError }
  /** The event of a call was lost under the policy `drop`, because of this error. */
  dropped: { readonly type: string; readonly error: AuditLogError }
  /** A query took at least `slowQueryMs`. Emitted after its answer. */
  'slow-query': SlowQuery
  /** Stored data is damaged. Emitted once for each place. Without a handler it becomes a process warning. */
  damaged: Damage
  /** A handler threw. Without a handler for `error` it becomes a process warning. */
  error: unknown
}

/** The listeners of a log, and the functions that report to them. */
export interface LogEvents extends Listeners<AuditLogEvents>, CallsObserver {
  damaged(damage: Damage): void
}

/** Creates the listeners of a log. Losses and damage without a listener become process warnings. */
export function createLogEvents(): LogEvents {
  const listeners = createListeners<AuditLogEvents>()
  const warnOfLoss = createLossWarnings()
  return {
    ...listeners,
    stored(events) {
      if (listeners.has('recorded')) for (const event of events) listeners.emit('recorded', event)
    },
    rejected(type, error, isLost) {
      if (isLost && !listeners.has('rejected')) warnOfLoss(type, error)
      listeners.emit('rejected', { type, error })
    },
    dropped: (type, error) => listeners.emit('dropped', { type, error }),
    damaged(damage) {
      if (listeners.has('damaged')) listeners.emit('damaged', damage)
      else warn(damageText(damage))
    },
  }
}
