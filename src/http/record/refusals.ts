import { networkOf } from '../../event/address.js'
import type { CallThrottle } from '../../recording/throttle-rules.js'

/** A request that was refused or failed, and that its client can repeat at will. */
export interface Refusal {
  /** The type of its event. */
  readonly type: string
  readonly status: number
  /** The route of a request answered 5xx, which may have changed something. */
  readonly route: string | undefined
  readonly address: string
}

/** The type of the event that stands for a refusal, and its throttle. */
export interface LimitedEvent {
  readonly type: string
  readonly throttle: CallThrottle
}

const PERIOD_MS = 60_000
const PERIOD = { minutes: 1 }
/** Kinds of refusals of one address that have an event of their own in each minute. */
const MAX_PER_ADDRESS = 10
/** Maximum number of kinds of refusals, of all addresses together. */
const MAX_KINDS = 100
/** Refusals beyond these limits. */
const REFUSED = 'error:api:controller:refused'

/**
 * Limits refusals, so that they cannot push other events out of the log: one event a minute for each address (/64 of IPv6), type
 * and status, which carries the number of the others since the last one. Beyond 10 such kinds of an address or 100 in all, one event
 * a minute for each of these addresses, and one for all others. Remembers no more addresses than that.
 */
function refusalLimiter(): (refusal: Refusal) => LimitedEvent {
  let kinds = new Map<string, Set<string>>()
  let size = 0
  let endsAt = 0
  return ({ type, status, route, address }) => {
    const now = performance.now()
    if (now >= endsAt) {
      kinds = new Map()
      size = 0
      endsAt = now + PERIOD_MS
    }
    const network = networkOf(address)
    const from = network === '' ? {} : { remote_address: network }
    const known = kinds.get(network)
    const kind = `${type} ${status} ${route}`
    if (!known?.has(kind)) {
      if (size >= MAX_KINDS || (known && known.size >= MAX_PER_ADDRESS))
        return { type: REFUSED, throttle: { period: PERIOD, scope: known ? from : {} } }
      size++
      kinds.set(network, (known ?? new Set()).add(kind))
    }
    const scope = { ...from, response_status: status, ...(route !== undefined && { route }) }
    return { type, throttle: { period: PERIOD, scope } }
  }
}

const limiters = new WeakMap<object, ReturnType<typeof refusalLimiter>>()

/** All recorders of a log share the limits. */
export function limitRefusal(audit: object, refusal: Refusal): LimitedEvent {
  const limit = limiters.get(audit) ?? refusalLimiter()
  limiters.set(audit, limit)
  return limit(refusal)
}
