import { AuditLogError } from '../../errors.js'
import { normalAddress } from '../../event/address.js'
import { runAlone, withRequest } from '../../recording/actor.js'
import { activeSpan } from '../../recording/call-context.js'
import { countNow, KnownCollapse } from '../../recording/collapse-rules.js'
import type { Intent } from '../../recording/intent.js'
import { callHost } from './call-host.js'
import type { RecordedExchange } from './exchange.js'
import type { RecordedEvent } from './limited-event.js'
import { UNHANDLED } from './outcome.js'
import type { Ending } from './reason.js'
import type { RecordingAudit, RequestRecorderOptions } from './recorder-options.js'
import { IdsOfRequest, RequestActor } from './request-actor.js'
import type { Arrival } from './request-data.js'
import { requestEvents } from './request-events.js'
import { isMutating } from './route-type.js'
import { parseTraceparent } from './trace-context.js'

/** A request whose handler runs. */
export interface Begun extends Arrival {
  readonly intent?: Intent | undefined
}

/** Reads a request when it arrives. The address is unknown after the client has disconnected. */
export const arrivalOf = (exchange: RecordedExchange<unknown>): Arrival => ({
  time: performance.now(),
  address: normalAddress(callHost(exchange, () => exchange.address)),
  trace: activeSpan() ?? parseTraceparent(exchange.header('traceparent')),
})

/** Records requests, independent of the HTTP server. */
export interface RequestRecorder<Context> {
  /** True if the response of a request lists records whose reads are recorded. */
  readsList(exchange: RecordedExchange<Context>): boolean
  /** True if the success of a request is recorded. */
  isRecorded(exchange: RecordedExchange<Context>): boolean
  /** True if the handler of a request has to wait for its intent. */
  needsIntent(exchange: RecordedExchange<Context>): boolean
  /** Resolves when the store has the intent of the request; rejects if it cannot keep it. */
  open(exchange: RecordedExchange<Context>, arrival: Arrival): Promise<Intent>
  /**
   * Calls the handler of a request as its user and returns its result: events recorded within it have the
   * user and the ids of the request.
   */
  handle<Result>(
    exchange: RecordedExchange<Context>,
    arrival: Arrival,
    handler: () => Result,
  ): Result
  /**
   * Records a request that has been handled: resolves when its event is durable, or is known to be lost, and
   * never rejects. Returns `undefined` if the request leaves no event and had no intent.
   */
  end(exchange: RecordedExchange<Context>, begun: Begun, ending: Ending): Promise<void> | undefined
}

/** Throws `INVALID_OPTION` for invalid options. */
export function requestRecorder<Context>(
  audit: RecordingAudit,
  options: RequestRecorderOptions<Context>,
): RequestRecorder<Context> {
  const { required = false } = options
  if (typeof required !== 'boolean')
    throw new AuditLogError('INVALID_OPTION', 'required must be true or false')
  const requests = requestEvents(audit, options)
  const intents = required ? audit.intents() : undefined

  const failed = async (
    exchange: RecordedExchange<Context>,
    intent: Intent | undefined,
    error: unknown,
  ): Promise<void> => {
    // The client still gets its response. The log has already reported rejected events.
    if (error instanceof AuditLogError) return
    exchange.report(error)
    await intent?.fail('the outcome of the request could not be described').catch(() => {})
  }

  const store = async (
    exchange: RecordedExchange<Context>,
    intent: Intent | undefined,
    event: RecordedEvent | undefined,
  ): Promise<void> => {
    try {
      // The event has all that is known of the request. Code that ends a response may run in the context of
      // another request.
      if (!event) await intent?.cancel()
      else await runAlone(() => (intent ? intent.record(...event) : audit.recordSystem(...event)))
    } catch (error) {
      await failed(exchange, intent, error)
    }
  }

  return {
    readsList: (exchange) => requests.reads.of(exchange)?.isList === true,
    isRecorded: (exchange) =>
      isMutating(exchange.method) || requests.reads.of(exchange) !== undefined,
    needsIntent: (exchange) => intents !== undefined && isMutating(exchange.method),
    open: async (exchange, arrival) =>
      runAlone(() => intents!.open(UNHANDLED, requests.interrupted(exchange, arrival))),
    handle: (exchange, arrival, handler) =>
      withRequest(
        new RequestActor(exchange),
        new IdsOfRequest(exchange, arrival, requests.requestIdOf),
        handler,
      ),
    end(exchange, { intent, ...arrival }, ending) {
      let event: RecordedEvent | undefined
      try {
        event = requests.ended(exchange, arrival, ending)
      } catch (error) {
        return failed(exchange, intent, error)
      }
      const collapse = event?.[2].collapse
      if (!intent && collapse instanceof KnownCollapse && countNow(audit, collapse))
        return undefined
      return event || intent ? store(exchange, intent, event) : undefined
    },
  }
}
