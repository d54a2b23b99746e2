import { AsyncLocalStorage } from 'node:async_hooks'

/** The user on whose behalf code runs. */
export interface Actor {
  /** Read for each event that is recorded; null if there is no user. */
  readonly username: string | null
}

const actors = new AsyncLocalStorage<Actor>()

const toActor = (actor: Actor | string | null): Actor =>
  actor !== null && typeof actor === 'object' ? actor : { username: actor }

/**
 * Calls `run` and returns its result. Events recorded within it, in nested calls and after any
 * `await`, carry the actor's user name unless the call gives one. Timers, promises and streams
 * created within keep the actor after `run` returns; `withActor(null, …)` starts work without a
 * user.
 */
export function withActor<Result>(actor: Actor | string | null, run: () => Result): Result {
  return actors.run(toActor(actor), run)
}

/**
 * Returns a function that runs as the current actor, in whatever context it is called: for callbacks
 * that a pool, a queue or an emitter calls. If there is no current actor, it runs without one.
 */
export function bindActor<This, Args extends unknown[], Result>(
  run: (this: This, ...args: Args) => Result,
): (this: This, ...args: Args) => Result {
  const actor = actors.getStore()
  return function bound(...args) {
    const call = (): Result => run.apply(this, args)
    return actor ? actors.run(actor, call) : actors.exit(call)
  }
}

/** The actor whose user name `record` would use. */
export function currentActor(): Actor | undefined {
  return actors.getStore()
}
