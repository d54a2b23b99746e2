import { type AddressOption, connectionAddress } from '../../src/http/fetch/address.js'

/** A request that may have passed {@link basicAuth}. */
export type FetchRequest = Request & {
  /** The authenticated user, as {@link basicAuth} sets it. */
  username?: string | null | undefined
}

/**
 * A handler of requests, as Bun, Deno, workers and Next.js call it. `Passed` is what they pass besides the
 * request. Returns undefined if it does not handle the request, or if it has taken over the connection.
 */
export type FetchHandler<Passed extends readonly unknown[], Result = Response | undefined> = (
  request: FetchRequest,
  ...passed: Passed
) => Result | Promise<Result>

/** Wraps a handler: the result answers requests itself, or passes them to the given one. */
export type FetchMiddleware = <
  Passed extends readonly unknown[],
  Result extends Response | undefined,
>(
  handler: FetchHandler<Passed, Result>,
) => (request: Request, ...passed: Passed) => Promise<Result | Response>

/** A handler that returns undefined for requests to other paths. */
export type FetchMount = (
  request: Request,
  ...passed: readonly unknown[]
) => Promise<Response | undefined>

/** `passed` is what the server passes to the handler after the request. */
export type FetchAddressOption = AddressOption<[request: FetchRequest, passed: unknown]>

/** The address of a client, by the option `address` or that of the connection. */
export const addressOf = (
  options: FetchAddressOption,
  request: Request,
  [passed]: readonly unknown[],
): string => options.address?.(request, passed) ?? connectionAddress(request, passed)
