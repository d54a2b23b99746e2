import type { OptionNames } from '../../options.js'

export interface AddressOption<Given extends readonly unknown[]> {
  /**
   * The address of the client. A fetch handler gets what the server passes after the request, too. Behind a proxy, or in a worker,
   * the address must be read from a header that the proxy sets.
   * @default the address of the connection with @hono/node-server, Bun and Deno; elsewhere an empty string
   */
  address?(...given: Given): string
}

export const ADDRESS_OPTION: OptionNames<AddressOption<[]>> = { address: true }

/** The argument that servers pass to a fetch handler besides the request: their own interface, or bindings. */
interface ServerArgument {
  /** @hono/node-server */
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } }
  /** Hono on Bun may pass the server as a member. */
  readonly server?: ServerArgument
  /** Bun */
  requestIP?(request: Request): { readonly address: string } | null
  /** Deno */
  readonly remoteAddr?: { readonly hostname?: string }
}

/**
 * The address at the other end of the connection, with @hono/node-server, Bun and Deno; an empty string if the
 * server does not pass it to its handler.
 */
export function connectionAddress(request: Request, passed: unknown): string {
  const { incoming, server, remoteAddr } = Object(passed) as ServerArgument
  const bun = (server ?? Object(passed)) as ServerArgument
  const found =
    incoming?.socket?.remoteAddress ??
    remoteAddr?.hostname ??
    (typeof bun.requestIP === 'function' ? bun.requestIP(request)?.address : undefined)
  return found ?? ''
}
