import { AuditLogError } from '../errors.js'
import { normalAddress } from '../event/address.js'
import type { JsonObject } from '../event/event.js'
import { storableText } from '../event/json-copy.js'
import { redactText } from '../event/secret-values.js'
import { checkOptions, type OptionNames } from '../options.js'

const KINDS = ['user', 'service', 'agent'] as const
const TEXTS = ['on_behalf_of', 'session_id'] as const
const MAX_LENGTH = 255

export type ActorKind = (typeof KINDS)[number]

/** Who acts while code runs. Events get the fields other than `username` as attributes. */
export interface Actor {
  /** Read for each event that is recorded; null if there is no user. */
  readonly username: string | null
  /** A person, a machine account, or a program that decides by itself. The attribute `actor_kind`. */
  readonly kind?: ActorKind | null | undefined
  /** The user for whom the actor acts, such as the one whom a support engineer impersonates. At most 255 characters. */
  readonly on_behalf_of?: string | null | undefined
  /** Identifies the session, and must not be enough to take it over. At most 255 characters. */
  readonly session_id?: string | null | undefined
  /** The address from which the actor acts; recorded in its normal form. A text that is no address counts as missing. */
  readonly remote_address?: string | null | undefined
}

const ACTOR: OptionNames<Actor> = {
  username: true,
  kind: true,
  on_behalf_of: true,
  session_id: true,
  remote_address: true,
}

const invalid = (field: string, allowed: string): AuditLogError =>
  new AuditLogError('INVALID_OPTION', `${field} of an actor must be ${allowed}`)

/**
 * The attributes of events that the actor gives, with recognisable secrets redacted; `undefined` if there are
 * none. Empty texts count as missing. Throws `INVALID_OPTION`, without the value, which may be secret.
 */
export function actorAttributes(actor: Actor): JsonObject | undefined {
  checkOptions(actor, ACTOR, 'an actor')
  let attributes: JsonObject | undefined
  const kind = actor.kind ?? undefined
  if (kind !== undefined) {
    if (!KINDS.includes(kind)) throw invalid('kind', `one of ${KINDS.join(', ')}`)
    attributes = { actor_kind: kind }
  }
  for (const name of TEXTS) {
    const text: unknown = actor[name] ?? ''
    if (text === '') continue
    if (typeof text !== 'string' || text.length > MAX_LENGTH)
      throw invalid(name, `a text of at most ${MAX_LENGTH} characters`)
    attributes ??= {}
    attributes[name] = redactText(storableText(text))
  }
  const address: unknown = actor.remote_address ?? ''
  if (typeof address !== 'string') throw invalid('remote_address', 'a text')
  const remote_address = normalAddress(address)
  if (remote_address !== '') attributes = { ...attributes, remote_address }
  return attributes
}
