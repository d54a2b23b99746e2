import type { OutcomeOptions } from '../../recording/intent.js'
import { callHost } from './call-host.js'
import type { RecordedExchange } from './exchange.js'
import { isUnanswered } from './outcome.js'
import { isOwnRequest } from './own-request.js'
import { type Ending, endStatus } from './reason.js'
import { refusalCollapse, triedName } from './refusals.js'
import type { Data } from './request-data.js'
import { isMutating, isRefused, routeKey } from './route-type.js'

export type RecordedEvent = [type: string, data: Data, options: OutcomeOptions]

/** The data is that of the collapse. */
export const NO_DATA: Data = {}

/** These are limited with a user, too: a wrong password may come with a name, and 429 is the answer to floods. */
const ALWAYS_LIMITED: ReadonlySet<number> = new Set([401, 429])

/** A request whose event is being made. */
interface Recorded {
  readonly type: string
  readonly error: string
  readonly address: string
  readonly username: string | null
  /** The data of the event. */
  readonly data: () => Data
}

/** The event of a request, which is counted if a client can cause any number of them. */
export function limitedEvent(
  audit: object,
  exchange: RecordedExchange<unknown>,
  ending: Ending,
  { type, error, address, username, data }: Recorded,
): RecordedEvent {
  const status = endStatus(exchange, ending)
  const isKnown = username !== null && !ALWAYS_LIMITED.has(status)
  const isRead = isOwnRequest(exchange) || !isMutating(exchange.method)
  const isRefusedRead = isRead && isRefused(status)
  if (status < 400 || isUnanswered(ending) || (isKnown && !isRefusedRead))
    return [type, data(), { username }]
  const { route, method } = exchange
  const tried =
    isRefused(status) && !isKnown ? callHost(exchange, () => triedName(exchange)) : undefined
  const refusal = {
    type,
    status,
    route: status < 500 ? undefined : route ? routeKey(method, route) : 'unmatched',
    address,
    username: isKnown ? username : null,
    tried: tried ?? (isKnown ? undefined : (username ?? undefined)),
    error,
  }
  const limited = refusalCollapse(audit, refusal, data)
  return [limited.type, NO_DATA, { username, collapse: limited.collapse }]
}
