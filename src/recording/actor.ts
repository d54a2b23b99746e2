import { AsyncLocalStorage } from 'node:async_hooks'
import { AuditLogError } from '../errors.js'
import { normalAddress } from '../event/address.js'
import type { JsonObject } from '../event/event.js'
import { storableText } from '../event/json-copy.js'
import { redactText } from '../event/secret-values.js'
import { checkOptions, type OptionNames } from '../options.js'

const KINDS = ['user', 'service', 'agent'] as const
const TEXTS = ['on_behalf_of', 'session_id', 'agent_session_id'] as const
const MAX_LENGTH = 255

export type ActorKind = (typeof KINDS)[number]

/** The author of events while code runs. Fields other than `username` become attributes of events. */
export interface Actor {
  /** Read for each recorded event; null if there is no user. */
  readonly username: string | null
  /** The id of the user, which stays when the name changes. The attribute `actor_id`, as a text of at most 255 characters. */
  readonly id?: string | number | bigint | null | undefined
  /** A person, a machine account, or a program that decides by itself. The attribute `actor_kind`. */
  readonly kind?: ActorKind | null | undefined
  /**
   * The user for whom the actor acts, such as a user whom a support engineer impersonates. At most 255 characters.
   */
  readonly on_behalf_of?: string | null | undefined
  /** Identifies the session. Must not suffice to take over the session. At most 255 characters. */
  readonly session_id?: string | null | undefined
  /** Identifies the session of an agent, as `session_id` does that of a user. At most 255 characters. */
  readonly agent_session_id?: string | null | undefined
  /** The address from which the actor acts; recorded in its normal form. A text that is no address counts as missing. */
  readonly remote_address?: string | null | undefined
}

const ACTOR: OptionNames<Actor> = {
  username: true,
  id: true,
  kind: true,
  on_behalf_of: true,
  session_id: true,
  agent_session_id: true,
  remote_address: true,
}

const invalid = (field: string, allowed: string): AuditLogError =>
  new AuditLogError('INVALID_OPTION', `${field} of an actor must be ${allowed}`)

const isShort = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= MAX_LENGTH

function idText(id: unknown): string {
  // A number that is not exact may be the id of another user.
  const isExact = Number.isSafeInteger(id) || typeof id === 'bigint'
  const text = isExact ? String(id) : (id ?? '')
  if (!isShort(text))
    throw invalid('id', `a text of at most ${MAX_LENGTH} characters or a whole number`)
  return text
}

/**
 * The attributes that events get from the actor, with recognisable secrets redacted; `undefined` if there are none.
 * Empty texts count as missing. Throws `INVALID_OPTION`. The message does not contain the value, which may be secret.
 */
export function actorAttributes(actor: Actor): JsonObject | undefined {
  checkOptions(actor, ACTOR, 'an actor')
  let attributes: JsonObject | undefined
  const kind = actor.kind ?? undefined
  if (kind !== undefined) {
    if (!KINDS.includes(kind)) throw invalid('kind', `one of ${KINDS.join(', ')}`)
    attributes = { actor_kind: kind }
  }
  const id = idText(actor.id)
  if (id !== '') attributes = { ...attributes, actor_id: redactText(storableText(id)) }
  for (const name of TEXTS) {
    const text: unknown = actor[name] ?? ''
    if (text === '') continue
    if (!isShort(text)) throw invalid(name, `a text of at most ${MAX_LENGTH} characters`)
    attributes ??= {}
    attributes[name] = redactText(storableText(text))
  }
  const address: unknown = actor.remote_address ?? ''
  if (typeof address !== 'string') throw invalid('remote_address', 'a text')
  const remote_address = normalAddress(address)
  if (remote_address !== '') attributes = { ...attributes, remote_address }
  return attributes
}

/** The place of code in a trace, as W3C Trace Context writes it. */
export interface TraceIds {
  /** 32 hexadecimal digits. */
  readonly trace_id: string
  /** 16 hexadecimal digits. */
  readonly span_id: string
}

/** An actor with its attributes for events. */
export interface KnownActor {
  readonly actor: Actor
  readonly attributes: JsonObject | undefined
}

/**
 * An actor who becomes known while code runs, such as the user of a request. This is a class, because V8 would give
 * each object with getters a separate hidden class.
 */
export abstract class LateActor implements Actor {
  /** Called for each event that is recorded. Must not throw. */
  abstract read(): KnownActor

  get username(): Actor['username'] {
    return this.read().actor.username
  }

  get id(): Actor['id'] {
    return this.read().actor.id
  }

  get kind(): Actor['kind'] {
    return this.read().actor.kind
  }

  get on_behalf_of(): Actor['on_behalf_of'] {
    return this.read().actor.on_behalf_of
  }

  get session_id(): Actor['session_id'] {
    return this.read().actor.session_id
  }

  get agent_session_id(): Actor['agent_session_id'] {
    return this.read().actor.agent_session_id
  }

  get remote_address(): Actor['remote_address'] {
    return this.read().actor.remote_address
  }
}

/** The ids of a request, for events that are recorded while it is handled. Read for each event. */
export interface RequestIds {
  readonly request_id: string | undefined
  readonly trace: TraceIds | undefined
}

/** The actor and the request of the code that runs. */
export interface AsyncContext extends KnownActor {
  readonly request: RequestIds | undefined
}

const contexts = new AsyncLocalStorage<AsyncContext>()

/** The context of code without an actor, a request and a span. */
export const ALONE: AsyncContext = {
  actor: { username: null },
  attributes: undefined,
  request: undefined,
}

export const currentContext = (): AsyncContext | undefined => contexts.getStore()

/**
 * Calls `run` and returns its result. Events that are recorded within it, in nested calls and after any `await`, get
 * the actor's user name and its other fields as attributes. Options and data of a call take precedence. A call that
 * names another user gets no fields of the actor. Timers, promises and streams created within keep the actor after
 * `run` returns; `withActor(null, …)` starts work without a user. A nested actor replaces the outer actor completely.
 * The ids of a request stay.
 *
 * Throws `INVALID_OPTION` for invalid fields of {@link Actor}. The fields are read once; only `username` is read for
 * each event.
 */
export function withActor<Result>(actor: Actor | string | null, run: () => Result): Result {
  const isObject = actor !== null && actor !== undefined && typeof actor !== 'string'
  const context: AsyncContext = {
    actor: isObject ? actor : { username: actor },
    attributes: isObject ? actorAttributes(actor) : undefined,
    request: contexts.getStore()?.request,
  }
  return contexts.run(context, run)
}

/** Like {@link withActor}, for the handler of a request: events recorded within it have the ids of the request. */
export function withRequest<Result>(
  actor: LateActor,
  request: RequestIds,
  run: () => Result,
): Result {
  return contexts.run({ actor, attributes: undefined, request }, run)
}

/** Calls `run` without an actor, a request and ids of spans. */
export function runAlone<Result>(run: () => Result): Result {
  return contexts.run(ALONE, run)
}

/**
 * Returns a function that runs with the current actor and request, in whatever context it is called. For callbacks
 * that a pool, a queue or an emitter calls. Without a current actor, the function runs without one.
 */
export function bindActor<This, Args extends unknown[], Result>(
  run: (this: This, ...args: Args) => Result,
): (this: This, ...args: Args) => Result {
  const context = contexts.getStore()
  return function bound(...args) {
    const call = (): Result => run.apply(this, args)
    return context ? contexts.run(context, call) : contexts.exit(call)
  }
}

/** The actor whose user name `record` would use now. */
export function currentActor(): Actor | undefined {
  return contexts.getStore()?.actor
}
