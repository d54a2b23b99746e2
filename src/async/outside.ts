import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Calls a function without an actor and a request, and in no context of another library, such as an active span: in
 * the context in which this module was loaded.
 */
export const runOutside: <Result>(run: () => Result) => Result = AsyncLocalStorage.snapshot()
