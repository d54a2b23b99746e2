import { AuditLogError } from '../errors.js'

/** Visible ASCII characters, so that two origins never look the same. `+` separates the parts of a verifier key. */
const ORIGIN = /^[!-*,-~]{1,255}$/

/** Throws `INVALID_OPTION` for an origin that is no URL without its scheme. `name`: the name of the option. */
export function checkOriginName(origin: unknown, name = 'origin'): asserts origin is string {
  if (typeof origin === 'string' && ORIGIN.test(origin) && !origin.includes('://')) return
  const found = typeof origin === 'string' ? JSON.stringify(origin) : `of the type ${typeof origin}`
  throw new AuditLogError(
    'INVALID_OPTION',
    `${name} must be a URL without its scheme, such as audit.example.com/orders: 1 to 255 visible ASCII characters without + and ://; it is ${found}`,
  )
}
