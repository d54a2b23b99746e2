import { channel as diagnosticsChannel } from 'node:diagnostics_channel'
import type { AuditEvent } from '../event/event.js'
import type { Channel, DeliveryError } from './channel.js'
import type { Subscription } from './subscription.js'

/** Message of the diagnostics channel `daybook:delivery`: one for each attempt. */
export interface DeliveryMessage {
  /** The log; a process may have several. */
  readonly audit: object
  readonly subscription: string
  readonly channel: string
  readonly outcome: 'delivered' | 'failed'
  readonly events: number
  readonly duration_ms: number
}

export const deliveryChannel = diagnosticsChannel('daybook:delivery')

/** Records a system event; resolves once it is stored. */
export type RecordOutcome = (type: string, data: object) => Promise<unknown>

/*
 * The types by which deliveries report themselves. Without care they would be a loop: a subscription to all events whose
 * receiver is down would get an event about each failure, fail to deliver it, and so on.
 */
const OUTCOME_TYPES: ReadonlySet<string> = new Set([
  'api:event_filter:error',
  'api:event_subscriber:error',
  'api:notification:error',
  'api:event_processor:error',
])

const isOutcome = ({ type, system }: AuditEvent): boolean => system && OUTCOME_TYPES.has(type)

/** True for an event about deliveries of this subscription. It is not delivered to the subscription itself. */
export const isOwnOutcome = (event: AuditEvent, id: string): boolean =>
  isOutcome(event) && event.attributes['subscription_id'] === id

/** What outcomes say about a failed attempt. */
export interface FailedAttempt {
  readonly subscription: Subscription
  readonly kind: Channel['kind']
  readonly events: readonly AuditEvent[]
  readonly error: DeliveryError
  readonly attempt: number
}

/** Records the outcomes of deliveries. One that cannot be recorded is only counted by the log. */
export interface Outcomes {
  /** The first failure of a batch. Retries are not recorded. */
  failed(attempt: FailedAttempt): void
  /** The event is set aside. */
  parked(attempt: FailedAttempt): void
  /** The filter cannot be read, so nothing is delivered. */
  broken(subscription: Subscription, error: Error): void
}

export function createOutcomes(record: RecordOutcome): Outcomes {
  const report = (type: string, subscription: Subscription, data: object): void => {
    const { id, name, channel } = subscription
    record(type, { subscription: name, subscription_id: id, channel, ...data }).catch(() => {})
  }
  /** A delivery of nothing but outcomes leaves none: two subscriptions cannot report each other for ever. */
  const isSilent = ({ events }: FailedAttempt): boolean => events.every(isOutcome)
  return {
    failed(failed) {
      if (isSilent(failed)) return
      const { subscription, kind = 'function', error, attempt, events } = failed
      const type = kind === 'function' ? 'api:event_subscriber:error' : 'api:notification:error'
      report(type, subscription, { error: error.message, attempt, event_id: events[0]!.id })
    },
    parked(failed) {
      if (isSilent(failed)) return
      const { subscription, error, attempt, events } = failed
      const data = {
        error: error.message,
        attempt,
        event_id: events[0]!.id,
        parked_count: events.length,
      }
      report('api:event_processor:error', subscription, data)
    },
    broken(subscription, error) {
      report('api:event_filter:error', subscription, { error: error.message })
    },
  }
}
