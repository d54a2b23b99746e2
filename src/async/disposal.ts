/*
 * The names of the methods that `using` and `await using` call. Node 20 and 22 have these symbols only in their main realm, not in a
 * vm context such as Jest's. There, compilers look for the methods by the registered symbols.
 */
const { dispose, asyncDispose } = Symbol as Partial<typeof Symbol>

export const DISPOSE: typeof Symbol.dispose =
  dispose ?? (Symbol.for('Symbol.dispose') as typeof Symbol.dispose)

export const ASYNC_DISPOSE: typeof Symbol.asyncDispose =
  asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose)
