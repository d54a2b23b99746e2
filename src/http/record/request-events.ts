import { callHost } from './call-host.js'
import { createData, withoutReason } from './event-data.js'
import type { RecordedExchange } from './exchange.js'
import { limitedEvent, NO_DATA, type RecordedEvent } from './limited-event.js'
import { outcomeOf } from './outcome.js'
import { isOwnRequest } from './own-request.js'
import { type Ending, SentResponse, sentStatus } from './reason.js'
import {
  createReadRoutes,
  isShown,
  readCollapse,
  readKeys,
  type ReadRoute,
  type ReadRoutes,
} from './reads.js'
import {
  readRefusals,
  type RecordingAudit,
  type RequestRecorderOptions,
} from './recorder-options.js'
import { createRequestId, type RequestIdOf, userOf } from './request-actor.js'
import { type Arrival, type Data, requestData } from './request-data.js'
import { checkRouteTypes } from './route-type.js'

/** The event of a request whose process ended before it was recorded. */
const INTERRUPTED = { error: 'the process ended before the outcome of the request was recorded' }

/** The events of requests. */
export interface RequestEvents<Context> {
  /** The routes whose reads are recorded. */
  readonly reads: ReadRoutes
  /** The id of the request in other logs. */
  readonly requestIdOf: RequestIdOf<Context>
  /** The event of a request that is not handled yet, for the case that its process ends. */
  interrupted(exchange: RecordedExchange<Context>, arrival: Arrival): Data
  /** The event of a request that has been handled; `undefined` if it leaves none. */
  ended(
    exchange: RecordedExchange<Context>,
    arrival: Arrival,
    ending: Ending,
  ): RecordedEvent | undefined
}

export function requestEvents<Context>(
  audit: RecordingAudit,
  options: RequestRecorderOptions<Context>,
): RequestEvents<Context> {
  const { routes = {} } = options
  const keys = readKeys(options.reads)
  checkRouteTypes(routes, keys)
  const isLimited = readRefusals(options.refusals) === 'limited'
  const request = requestData(options)
  const reads = createReadRoutes({ keys, routes, isSecret: request.isSecret }, audit)

  const requestIdOf = createRequestId(options)
  const requestId = (exchange: RecordedExchange<Context>): Data => {
    const request_id = requestIdOf(exchange)
    return request_id === undefined ? {} : { request_id }
  }

  const describe = (exchange: RecordedExchange<Context>, status: number): Data | undefined =>
    options.describe &&
    callHost(exchange, () =>
      options.describe!(exchange.context, new SentResponse(exchange, status)),
    )
  const dataOf = createData(request, requestId)
  const readEvent = (
    exchange: RecordedExchange<Context>,
    arrival: Arrival,
    ending: Ending,
    route: ReadRoute,
  ): RecordedEvent => {
    const { actor, attributes } = userOf(exchange)
    const username = actor.username || null
    const described = describe(exchange, exchange.status) ?? NO_DATA
    const data = (): Data =>
      withoutReason(
        audit,
        exchange,
        route.type,
        dataOf(exchange, { arrival, ending, attributes, described }),
      )
    const { redacted } = request
    const read = { route, exchange, username, described, data, redacted }
    return [route.type, NO_DATA, { username, collapse: readCollapse(read) }]
  }

  return {
    reads,
    requestIdOf,
    interrupted: (exchange, arrival) => ({
      ...request.arrived(exchange, arrival),
      ...requestId(exchange),
      ...INTERRUPTED,
    }),
    ended(exchange, arrival, ending) {
      const isRead = !ending.thrown && isShown(exchange.status) && !isOwnRequest(exchange)
      const read = isRead ? reads.of(exchange) : undefined
      if (read) return readEvent(exchange, arrival, ending, read)
      const outcome = outcomeOf(exchange, ending, { types: audit.types, routes })
      if (!outcome) return undefined
      const [type, failure] = outcome
      const { actor, attributes } = userOf(exchange)
      const data = (): Data => {
        const described = describe(exchange, sentStatus(exchange, ending))
        const all = { ...dataOf(exchange, { arrival, ending, attributes, described }), ...failure }
        return withoutReason(audit, exchange, type, all)
      }
      const username = actor.username || null
      if (!isLimited || !failure) return [type, data(), { username }]
      const { address } = arrival
      const { error } = failure
      return limitedEvent(audit, exchange, ending, { type, error, address, username, data })
    },
  }
}
