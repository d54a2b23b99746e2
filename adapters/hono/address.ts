import { connectionAddress } from '../../src/http/fetch/address.js'
import type { HonoContext } from './hono.js'
import type { OptionNames } from '../../src/options.js'

export interface AddressOption {
  /**
   * The address of the client. Behind a proxy, or in a worker, it must be read from a header that the proxy sets.
   * @default the address of the connection with @hono/node-server, Bun and Deno; elsewhere an empty string
   */
  address?(context: HonoContext): string
}

export const ADDRESS_OPTION: OptionNames<AddressOption> = { address: true }

export const addressOf = (options: AddressOption, context: HonoContext): string =>
  options.address?.(context) ?? connectionAddress(context.req.raw, context.env)
