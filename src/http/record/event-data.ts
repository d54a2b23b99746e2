import { AuditLogError } from '../../errors.js'
import type { JsonObject } from '../../event/event.js'
import { hasReason, requestOutcome } from '../../event/known-attributes.js'
import { happened } from '../../recording/call-attributes.js'
import type { RecordedExchange } from './exchange.js'
import { knownStatus } from './outcome.js'
import { type Ending, sentStatus } from './reason.js'
import type { RecordingAudit } from './recorder-options.js'
import type { Arrival, Data, requestData } from './request-data.js'

/** The data of an event. If its type needs a reason that is missing, it is recorded all the same: the request has been handled. */
export function withoutReason(
  { types }: RecordingAudit,
  exchange: RecordedExchange<unknown>,
  type: string,
  attributes: Data,
): Data {
  const { reason, outcome } = types[type] ?? {}
  if (reason === undefined && outcome === undefined) return attributes
  happened.add(attributes)
  if (reason === undefined || hasReason(attributes as JsonObject)) return attributes
  const message = `${type} needs a reason, which describe must return: its event has none`
  exchange.report(new AuditLogError('INVALID_DATA', message))
  return attributes
}

/** A request that has ended, as its event is made of it. */
interface Ended {
  readonly arrival: Arrival
  readonly ending: Ending
  /** The attributes of the user. */
  readonly attributes: Data | undefined
  /** The result of the host's `describe`. */
  readonly described: unknown
}

/** Returns a function that returns the data of the event of a request. */
export const createData =
  <Context>(
    request: ReturnType<typeof requestData>,
    requestId: (exchange: RecordedExchange<Context>) => Data,
  ) =>
  (
    exchange: RecordedExchange<Context>,
    { arrival, ending, attributes, described }: Ended,
  ): Data => {
    const ofHost = request.redacted(described)
    return {
      ...request.of(exchange, arrival, sentStatus(exchange, ending)),
      ...requestId(exchange),
      ...attributes,
      ...ofHost,
      ...requestOutcome(ofHost, knownStatus(exchange, ending)),
    }
  }
