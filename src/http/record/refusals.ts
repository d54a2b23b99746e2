import { requestOutcome } from '../../event/known-attributes.js'
import { networkOf } from '../../event/address.js'
import type { JsonObject } from '../../event/event.js'
import { callKey, KnownCollapse, listedAttributes } from '../../recording/collapse-rules.js'
import { triedUsername } from '../basic-auth.js'
import type { RecordedExchange } from './exchange.js'
import type { Data } from './request-data.js'

/** A request that was refused or failed, and that its client can repeat at will. */
export interface Refusal {
  /** The type of its event. */
  readonly type: string
  readonly status: number
  /** The route of a request answered 5xx, which may have changed something. */
  readonly route: string | undefined
  readonly address: string
  /** The user, if the refusals of each user are counted on their own. */
  readonly username: string | null
  /** The user name that the client has tried, if it is known. */
  readonly tried: string | undefined
  readonly error: string
}

const PERIOD_MS = 60_000
/** The length of the reason in the event of the counted refusals. */
const MAX_ERROR = 500
/** Kinds of refusals of one address that are counted on their own in each minute. */
const MAX_PER_ADDRESS = 10
/** Maximum number of kinds of refusals, of all addresses together. */
const MAX_KINDS = 100
/** Refusals beyond these limits. */
const REFUSED = 'error:api:controller:refused'

/** The values that refusals share which are counted together. */
interface Kind extends Pick<Refusal, 'type' | 'username'> {
  readonly scope: JsonObject
}

/** The client of a refusal: its address, or the network of its IPv6 address. */
function clientOf(address: string, network: string): JsonObject {
  if (network === '') return {}
  return network === address ? { remote_address: address } : { remote_network: network }
}

/**
 * Limits the kinds of refusals, so that clients cannot push other events out of the log: a kind is an address (/64 of IPv6), a type,
 * a status, and for failures a route. Beyond 10 such kinds of an address or 100 in all in a minute, the refusals of each of these addresses
 * are one kind, and those of all others together. Remembers no more addresses than that.
 */
function refusalLimiter(): (refusal: Refusal) => Kind {
  let kinds = new Map<string, Set<string>>()
  let size = 0
  let endsAt = 0
  return ({ type, status, route, address, username }) => {
    const now = performance.now()
    if (now >= endsAt) {
      kinds = new Map()
      size = 0
      endsAt = now + PERIOD_MS
    }
    const network = networkOf(address)
    const from = clientOf(address, network)
    const known = kinds.get(network)
    const kind = JSON.stringify([type, status, route, username])
    if (!known?.has(kind)) {
      if (size >= MAX_KINDS || (known && known.size >= MAX_PER_ADDRESS))
        return { type: REFUSED, username: null, scope: known ? from : {} }
      size++
      kinds.set(network, (known ?? new Set()).add(kind))
    }
    const scope = { ...from, response_status: status, ...(route !== undefined && { route }) }
    return { type, username, scope }
  }
}

const limiters = new WeakMap<object, ReturnType<typeof refusalLimiter>>()

/** The rule that counts a refusal, and the type of its event. All recorders of a log share the limits. */
export function refusalCollapse(
  audit: object,
  refusal: Refusal,
  data: () => Data,
): { readonly type: string; readonly collapse: KnownCollapse } {
  const limit = limiters.get(audit) ?? refusalLimiter()
  limiters.set(audit, limit)
  const { type, username, scope } = limit(refusal)
  const { tried, error, status } = refusal
  // Beyond the limits an event counts requests of several statuses.
  const outcome = type === REFUSED ? undefined : requestOutcome({}, status)
  const listed = { attribute: 'usernames', values: tried === undefined ? [] : [tried] }
  const call = {
    type,
    key: callKey(['refused', type, username, scope]),
    windowMs: PERIOD_MS,
    listed,
    isLimited: true,
    rest: () => ({ username, data: { ...scope, ...outcome, error: error.slice(0, MAX_ERROR) } }),
  }
  const collapse = new KnownCollapse(call, () => ({
    data: { ...data(), ...listedAttributes(listed) },
  }))
  return { type, collapse }
}

/** Members of a request body in which forms send the name of a user. */
const NAMES = ['username', 'email', 'login', 'user'] as const

/** The user name of a refused request: of its Basic credentials, or of a form or document that asks for a session. */
export function triedName(exchange: RecordedExchange<unknown>): string | undefined {
  const name = triedUsername(exchange.header('authorization'))
  if (name !== undefined) return name
  const body = Object(exchange.body) as Readonly<Record<string, unknown>>
  const found = NAMES.map((member) => (Object.hasOwn(body, member) ? body[member] : undefined))
  return found.find((value): value is string => typeof value === 'string' && value !== '')
}
