import { connectionAddress } from '../../src/http/fetch/address.js'
import type { FetchRequest } from './fetch.js'
import type { OptionNames } from '../../src/options.js'

export interface AddressOption {
  /**
   * The address of the client. `passed` is what the server passes to the handler after the request. Behind a proxy, or in a
   * worker, the address must be read from a header that the proxy sets.
   * @default the address of the connection with @hono/node-server, Bun and Deno; elsewhere an empty string
   */
  address?(request: FetchRequest, passed: unknown): string
}

export const ADDRESS_OPTION: OptionNames<AddressOption> = { address: true }

export const addressOf = (
  options: AddressOption,
  request: Request,
  [passed]: readonly unknown[],
): string => options.address?.(request, passed) ?? connectionAddress(request, passed)
