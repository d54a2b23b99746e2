import { invalidOption } from '../../../src/errors.js'

const COMPRESSIONS = ['none', 'deflate'] as const

/** How a store keeps the attributes of sealed events. */
export type Compression = (typeof COMPRESSIONS)[number]

/** Throws `INVALID_OPTION` for any other value. */
export function readCompression(given: unknown = 'none'): Compression {
  const known = COMPRESSIONS.find((one) => one === given)
  if (known) return known
  throw invalidOption(`compression must be 'none' or 'deflate'; it is ${JSON.stringify(given)}`)
}
