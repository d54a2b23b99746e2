import { AsyncLocalStorage } from 'node:async_hooks'

/** Who is behind what is being done. */
export interface Actor {
  /** Read whenever an event is recorded; null where no user is behind it. */
  readonly username: string | null
}

const actors = new AsyncLocalStorage<Actor>()

const toActor = (actor: Actor | string | null): Actor =>
  actor !== null && typeof actor === 'object' ? actor : { username: actor }

/**
 * Calls `run`, and gives back what it gives. Events that are recorded within it, however deep and
 * after whatever was awaited, carry the actor's user name where the call names none. Timers, promises
 * and streams made within keep to it after it has returned; `withActor(null, …)` starts work that is
 * nobody's.
 */
export function withActor<Result>(actor: Actor | string | null, run: () => Result): Result {
  return actors.run(toActor(actor), run)
}

/**
 * A function that runs as the actor of now, whoever calls it: for callbacks that a pool, a queue or an
 * emitter calls while it works for somebody else. Where there is no actor now, there is none then.
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

/** The actor that `record` would take the user name of. */
export function currentActor(): Actor | undefined {
  return actors.getStore()
}
