import { AsyncLocalStorage } from 'node:async_hooks'
import type { JsonObject } from '../event/event.js'
import type { TraceIds } from './active-span.js'
import { type Actor, actorAttributes } from './actor-attributes.js'

/** An actor, with the attributes that events get from it. */
export interface KnownActor {
  readonly actor: Actor
  readonly attributes: JsonObject | undefined
}

/**
 * An actor who becomes known while code runs as it, such as the user of a request. A class, because an
 * object with getters would get a hidden class of its own for each request.
 */
export abstract class LateActor implements Actor {
  /** Called for each event that is recorded. Must not throw. */
  abstract read(): KnownActor

  get username(): Actor['username'] {
    return this.read().actor.username
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

  get remote_address(): Actor['remote_address'] {
    return this.read().actor.remote_address
  }
}

/** The ids of a request, for events that are recorded while it is handled. Read for each event. */
export interface RequestIds {
  readonly request_id: string | undefined
  readonly trace: TraceIds | undefined
}

/** What code runs as and within. */
export interface AsyncContext extends KnownActor {
  readonly request: RequestIds | undefined
}

const contexts = new AsyncLocalStorage<AsyncContext>()

/** Events recorded in this context get nothing from where they are recorded. */
export const ALONE: AsyncContext = {
  actor: { username: null },
  attributes: undefined,
  request: undefined,
}

export const currentContext = (): AsyncContext | undefined => contexts.getStore()

/**
 * Calls `run` and returns its result. Events recorded within it, in nested calls and after any
 * `await`, carry the actor's user name, unless the call gives one, and its other fields as attributes,
 * unless the call names another user or gives these attributes. Timers, promises and streams
 * created within keep the actor after `run` returns; `withActor(null, …)` starts work without a
 * user. An actor replaces the one outside of it as a whole. The ids of a request stay.
 *
 * Throws `INVALID_OPTION` for fields of other values than those of {@link Actor}. They are read once; only
 * `username` is read for each event.
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

/** Calls `run` without an actor and a request. Events recorded within it get no ids of spans either. */
export function runAlone<Result>(run: () => Result): Result {
  return contexts.run(ALONE, run)
}

/**
 * Returns a function that runs as the current actor and within the current request, in whatever context it
 * is called: for callbacks that a pool, a queue or an emitter calls. If there is no current actor, it runs
 * without one.
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

/** The actor whose user name `record` would use. */
export function currentActor(): Actor | undefined {
  return contexts.getStore()?.actor
}
