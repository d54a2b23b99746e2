/*
 * Names of the methods that `using` and `await using` call. In Node 20 and 22, only the main realm has the symbols; a
 * vm context such as Jest's lacks them. There, compiled code looks up the methods by the registered symbols.
 */
const { dispose, asyncDispose } = Symbol as Partial<typeof Symbol>

export const DISPOSE: typeof Symbol.dispose =
  dispose ?? (Symbol.for('Symbol.dispose') as typeof Symbol.dispose)

export const ASYNC_DISPOSE: typeof Symbol.asyncDispose =
  asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose)
