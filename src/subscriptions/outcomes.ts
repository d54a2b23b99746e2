import { channel as diagnosticsChannel } from 'node:diagnostics_channel'
import { runOutside } from '../async/outside.js'
import type { AuditEvent } from '../event/event.js'
import type { Reported } from './attempt.js'
import type { Channel, DeliveryError } from './channel.js'
import { serversOnly, withServersOnly } from '../event/servers-only.js'
import type { ChannelState } from './states.js'
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

export interface RecordOutcomeOptions {
  readonly username?: string | null | undefined
}

/** Records a system event; resolves once it is stored. */
export type RecordOutcome = (
  type: string,
  data: object,
  options?: RecordOutcomeOptions,
) => Promise<unknown>

/*
 * The types of the events about deliveries. They could cause a loop: if the receiver of a subscription to all events
 * is down, each failure makes an event, which the subscription then fails to deliver.
 */
const OUTCOME_TYPES: ReadonlySet<string> = new Set([
  'api:event_filter:error',
  'api:event_subscriber:error',
  'api:notification:error',
  'api:event_processor:error',
  'warn:notification_channel:disabled',
  'warn:subscription:gap',
  'info:email:sent',
  'error:email:send_failed',
])

/**
 * The subscription in an event about deliveries. Services may record events of some of these types themselves. Only
 * events about deliveries have this attribute.
 */
const subscriptionOf = ({ type, system, attributes }: AuditEvent): unknown =>
  system && OUTCOME_TYPES.has(type) ? attributes['subscription_id'] : undefined

/** True for an event about deliveries of this subscription. The subscription does not get it. */
export const isOwnOutcome = (event: AuditEvent, id: string): boolean => subscriptionOf(event) === id

/**
 * True for a delivery that contains only outcomes. Its outcome is not recorded, so that two subscriptions cannot
 * report each other endlessly.
 */
const isSilent = (events: readonly AuditEvent[]): boolean =>
  events.every((event) => subscriptionOf(event) !== undefined)

/** A failed attempt, for the outcomes. */
export interface FailedAttempt {
  readonly subscription: Subscription
  readonly kind: Channel['kind']
  readonly events: readonly AuditEvent[]
  readonly error: DeliveryError
  readonly attempt: number
}

/** Records the outcomes of deliveries. If recording fails, the log counts it. */
export interface Outcomes {
  /** Records the first failure of a batch. Retries are not recorded. */
  failed(attempt: FailedAttempt): void
  /** Records that the event is set aside. */
  parked(attempt: FailedAttempt): void
  /** Records a report of the channel about the attempt. */
  reported(
    subscription: Subscription,
    events: readonly AuditEvent[],
    reports: readonly Reported[],
  ): void
  /** Records that the events have passed because the channel is disabled. */
  skipped(subscription: Subscription, events: readonly AuditEvent[]): void
  /** Records that nothing is delivered, because the filter or the rights of the owner cannot be read. */
  broken(subscription: Subscription, error: Error): void
  /** Records that nothing is delivered to the channel, because it cannot be opened. */
  channelBroken(channel: ChannelState, error: Error): void
}

function failureType(kind: string, { kind: fault }: DeliveryError): string {
  if (fault === 'rendering') return 'api:event_processor:error'
  return kind === 'function' ? 'api:event_subscriber:error' : 'api:notification:error'
}

export function createOutcomes(record: RecordOutcome): Outcomes {
  /** Records outside of the context of the call that has led to the delivery. */
  const attemptRecord = (type: string, data: object): void =>
    void runOutside(() => record(type, data)).catch(() => {})
  const report = (type: string, subscription: Subscription, data: object): void => {
    const { id, name, channel } = subscription
    attemptRecord(type, { ...data, subscription: name, subscription_id: id, channel })
  }
  return {
    failed({ subscription, kind = 'function', error, attempt, events }) {
      if (isSilent(events)) return
      report(failureType(kind, error), subscription, {
        error: error.message,
        attempt,
        event_id: events[0]!.id,
      })
    },
    parked({ subscription, error, attempt, events }) {
      if (isSilent(events)) return
      const data = {
        error: error.message,
        attempt,
        event_id: events[0]!.id,
        parked_count: events.length,
      }
      report('api:event_processor:error', subscription, data)
    },
    reported(subscription, events, reports) {
      if (isSilent(events)) return
      for (const { type, data } of reports)
        report(type, subscription, { ...withServersOnly(data), event_id: events[0]!.id })
    },
    skipped(subscription, events) {
      if (isSilent(events)) return
      const data = { event_id: events[0]!.id, skipped_count: events.length }
      report('warn:notification_channel:disabled', subscription, data)
    },
    broken(subscription, error) {
      report('api:event_filter:error', subscription, { error: serversOnly(error.message) })
    },
    channelBroken({ name, kind }, error) {
      attemptRecord('api:notification:error', {
        channel: name,
        kind,
        error: serversOnly(error.message),
      })
    },
  }
}
