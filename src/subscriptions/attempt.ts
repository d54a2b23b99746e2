import type { AuditEvent, JsonObject } from '../event/event.js'
import type { EventTypes } from '../event/event-types.js'
import { type Channel, type DeliveryError, type ReportType, toDeliveryError } from './channel.js'
import type { Subscription } from './subscription.js'

/** The subscription of the delivered events, and the channel. */
export interface DeliveryTarget {
  readonly subscription: Subscription
  readonly channel: Channel
  readonly types: EventTypes
}

/** A report of the channel about an attempt. */
export interface Reported {
  readonly type: ReportType
  readonly data: JsonObject
}

/** One call of `deliver`. */
export interface Attempted {
  /** `undefined` if the channel has accepted the events. */
  readonly error: DeliveryError | undefined
  readonly reports: readonly Reported[]
  readonly duration_ms: number
}

/** Calls `deliver` once. Never rejects. */
export async function attemptDelivery(
  { subscription, channel, types }: DeliveryTarget,
  events: readonly AuditEvent[],
  attempt: number,
  signal: AbortSignal,
): Promise<Attempted> {
  const [first, last] = [events[0]!.id, events.at(-1)!.id]
  const id = events.length === 1 ? first : `${first}_${last}`
  const reports: Reported[] = []
  const report = (type: ReportType, data: JsonObject): void => void reports.push({ type, data })
  const startedAt = performance.now()
  let error: DeliveryError | undefined
  try {
    await channel.deliver(events, { id, subscription, attempt, types, signal, report })
  } catch (thrown) {
    error = toDeliveryError(thrown)
  }
  return { error, reports, duration_ms: performance.now() - startedAt }
}
