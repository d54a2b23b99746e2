import { inspect } from 'node:util'
import { AuditLogError } from '../../errors.js'

const fault = (value: unknown): AuditLogError =>
  new AuditLogError(
    'INVALID_OPTION',
    `frameAncestors must list 'self' or origins such as https://admin.example.com; it has ${inspect(value)}`,
  )

/** The origin as browsers write it. Wildcards, paths and schemes other than http and https are refused. */
function readOrigin(value: unknown): string {
  if (value === 'self') return "'self'"
  if (typeof value !== 'string' || value.includes('*')) throw fault(value)
  const origin = URL.canParse(value) ? new URL(value).origin : ''
  // Browsers compare origins, so a path would suggest a limit that does not exist.
  if (!/^https?:/.test(origin) || origin !== value.toLowerCase()) throw fault(value)
  return origin
}

/**
 * The directive of a content security policy for the sites that may embed the page (CSP Level 3, section 6.4.2).
 * Throws `INVALID_OPTION` for anything but `'self'` and origins.
 */
export function frameAncestors(origins: readonly string[] = []): string {
  if (!Array.isArray(origins)) throw fault(origins)
  const sources = origins.map(readOrigin)
  return `frame-ancestors ${sources.length > 0 ? sources.join(' ') : "'none'"}`
}
