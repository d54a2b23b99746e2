import type { Duration } from '../event/duration.js'
import type { AuditEvent, JsonObject } from '../event/event.js'
import type { EventTypes } from '../event/event-types.js'
import { serversOnly } from '../event/servers-only.js'
import type { Subscription } from './subscription.js'
import { checkOptions, type OptionNames } from '../options.js'
import { isError } from '../event/realm.js'

/** Destination of events: a function of the host, or a webhook. */
export interface Channel {
  /**
   * Delivers the events, in order. Resolves once they are accepted; after a rejection they are tried again. Accepted
   * events can come again after a kill, and if the answer is lost in a failure.
   */
  deliver(events: readonly AuditEvent[], context: DeliveryContext): unknown
  /** A failure of a `function` is recorded as `api:event_subscriber:error`, any other as `api:notification:error`. @default 'function' */
  readonly kind?: string | undefined
  readonly batch?: BatchLimits | undefined
  /** At most `count` deliveries in any period of this length. Further deliveries wait. @default no limit */
  readonly rate?: { readonly count: number; readonly per: Duration } | undefined
  /**
   * Time at which the cursor of a subscription is stored. `each`: after each delivery, before the next delivery. `soon`: within
   * 250 ms. This is faster, but a kill can repeat up to 250 ms of deliveries.
   * @default 'soon'
   */
  readonly checkpoint?: 'each' | 'soon' | undefined
}

export const CHANNEL: OptionNames<Channel> = {
  deliver: true,
  kind: true,
  batch: true,
  rate: true,
  checkpoint: true,
}
export const RATE: OptionNames<NonNullable<Channel['rate']>> = { count: true, per: true }

export interface BatchLimits {
  /** @default 100 */
  readonly maxEvents?: number | undefined
  /** Bytes of the events as JSON; a larger event is delivered alone. @default no limit */
  readonly maxBytes?: number | undefined
  /** Time that a batch that is not full waits for further events. @default no time */
  readonly maxWait?: Duration | undefined
}

export const BATCH_LIMITS: OptionNames<BatchLimits> = {
  maxEvents: true,
  maxBytes: true,
  maxWait: true,
}

export interface DeliveryContext {
  /** Identifies the batch: the id of a single event, or the ids `<first>_<last>`. Each attempt has the same id. */
  readonly id: string
  readonly subscription: Subscription
  /** 1 for the first attempt. */
  readonly attempt: number
  /** The event types of the log, for `describeEvent`. */
  readonly types: EventTypes
  /** Aborts when the log is closed, and when this process has lost the channel to another one. */
  readonly signal: AbortSignal
  /**
   * Reports the outcome of an e-mail. The report becomes an event of the type if the delivery is accepted, or at the first
   * failure with these events. Reports of later failures are not recorded.
   */
  readonly report: Report
}

/** The event types that a channel may report. Their data and the data of the subscription become an event. */
export type ReportType = 'info:email:sent' | 'error:email:send_failed'

export type Report = (type: ReportType, data: JsonObject) => void

/** Fault of a delivery. `thrown`: a function of the host threw something other than a {@link DeliveryError}. */
export type DeliveryFault =
  | 'status'
  | 'timeout'
  | 'network'
  | 'address'
  | 'smtp'
  | 'rendering'
  | 'refused'
  | 'thrown'

export interface DeliveryErrorDetails {
  /** The receiver will never accept these events. They are tried three times, one by one, and parked. @default false */
  readonly permanent?: boolean | undefined
  /** The receiver asks for at least this many milliseconds until the next attempt; at most 24 hours are respected. */
  readonly retryAfterMs?: number | undefined
  /** The HTTP status of the response. */
  readonly status?: number | undefined
  readonly cause?: unknown
}

const ERROR_DETAILS: OptionNames<DeliveryErrorDetails> = {
  permanent: true,
  retryAfterMs: true,
  status: true,
  cause: true,
}

/**
 * Thrown by `deliver` to describe the failure. The message becomes part of an event. Each URL in it is cut to its
 * server, and recognisable secrets become `[redacted]`.
 */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError'
  readonly kind: DeliveryFault
  readonly permanent: boolean
  readonly retryAfterMs: number | undefined
  readonly status: number | undefined

  constructor(kind: DeliveryFault, message = '', details: DeliveryErrorDetails = {}) {
    checkOptions(details, ERROR_DETAILS, 'DeliveryError')
    super(serversOnly(message), details.cause === undefined ? undefined : { cause: details.cause })
    this.kind = kind
    this.permanent = details.permanent ?? false
    this.retryAfterMs = details.retryAfterMs
    this.status = details.status
  }
}

const MAX_MESSAGE = 1000

/** Converts any value that a function of the host has thrown. */
export function toDeliveryError(thrown: unknown): DeliveryError {
  if (thrown instanceof DeliveryError) return thrown
  const message: unknown = isError(thrown) ? thrown.message : thrown
  // Secrets are replaced before the text is cut, because half of a secret is not recognisable.
  const shown = serversOnly(String(message)).slice(0, MAX_MESSAGE)
  return new DeliveryError('thrown', shown, { cause: thrown })
}
