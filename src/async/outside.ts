import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Calls a function in the context in which this module was loaded: without an actor, a request, or a context of
 * another library, such as an active span.
 */
export const runOutside: <Result>(run: () => Result) => Result = AsyncLocalStorage.snapshot()
