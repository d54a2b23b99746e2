import mittModule from 'mitt'
import type { Handler } from 'mitt'
import { runOutside } from './outside.js'
import { warnThrown } from './warn.js'

// mitt's types say `module.exports.default` under NodeNext, its ESM build exports the function.
const mitt = mittModule as unknown as typeof mittModule.default

export type { Handler }

/** Listeners of events by name. */
export interface Listeners<Events> {
  on<Name extends keyof Events>(name: Name, handler: Handler<Events[Name]>): void
  /** Removes a handler; without `handler` all handlers of the name. */
  off<Name extends keyof Events>(name: Name, handler?: Handler<Events[Name]>): void
  has(name: keyof Events): boolean
  /**
   * Calls the listeners outside of the context of the caller, because a batch runs in the context of the call that
   * happened to start it. If a listener throws, the others are still called. The error goes to the listeners of
   * `error`; without one it becomes a process warning.
   */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void
}

export function createListeners<
  Events extends Record<string, unknown> & { error: unknown },
>(): Listeners<Events> {
  const emitter = mitt<Events>()
  const has = (name: keyof Events): boolean => (emitter.all.get(name)?.length ?? 0) > 0

  const callAll = <Name extends keyof Events>(name: Name, event: Events[Name]): void => {
    for (const handler of emitter.all.get(name)?.slice() ?? []) {
      try {
        ;(handler as Handler<Events[Name]>)(event)
      } catch (error) {
        if (name !== 'error' && has('error')) callAll('error', error as Events['error'])
        else warnThrown(error)
      }
    }
  }

  return {
    on: (name, handler) => emitter.on(name, handler),
    off: (name, handler) => emitter.off(name, handler),
    has,
    emit(name, event) {
      if (has(name)) runOutside(() => callAll(name, event))
    },
  }
}
