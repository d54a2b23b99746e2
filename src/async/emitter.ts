import mittModule from 'mitt'
import type { Emitter, Handler } from 'mitt'

// mitt's types say `module.exports.default` under NodeNext, its ESM build exports the function.
const mitt = mittModule as unknown as typeof mittModule.default

export type { Emitter, Handler }

export function createEmitter<Events extends Record<string, unknown>>(): Emitter<Events> {
  return mitt<Events>()
}

/** Like mitt's `emit`, but a handler that throws does not stop the others: its error goes to `onError`. */
export function emitSafely<Events extends Record<string, unknown>, Name extends keyof Events>(
  emitter: Emitter<Events>,
  name: Name,
  event: Events[Name],
  onError: (error: unknown) => void,
): void {
  const handlers = emitter.all.get(name)
  if (!handlers) return
  for (const handler of handlers.slice()) {
    try {
      ;(handler as Handler<Events[Name]>)(event)
    } catch (error) {
      onError(error)
    }
  }
}
