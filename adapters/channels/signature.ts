import { createHmac } from 'node:crypto'
import { AuditLogError } from '../../src/errors.js'

/*
 * Signatures of Standard Webhooks 1.0: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */

const PREFIX = 'whsec_'
const MIN_BYTES = 24
const MAX_BYTES = 64

/** Reads secrets such as `whsec_<base64 of 24 to 64 bytes>`. Throws `INVALID_OPTION`, without the secret. */
export function readSecrets(given: unknown): readonly Buffer[] {
  const secrets: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (secrets.length === 0 || given === undefined || given === '')
    throw new AuditLogError('INVALID_OPTION', 'webhook: secret is missing')
  return secrets.map((secret) => {
    const isText = typeof secret === 'string' && secret.startsWith(PREFIX)
    const bytes = Buffer.from(isText ? secret.slice(PREFIX.length) : '', 'base64')
    const isValid = bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES
    if (isValid) return bytes
    const form = `${PREFIX} and the base64 of ${MIN_BYTES} to ${MAX_BYTES} bytes`
    throw new AuditLogError('INVALID_OPTION', `webhook: secret must be ${form}`)
  })
}

export interface SignedHeaders {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** The headers that prove the origin of the body to the receiver: a signature by each secret. */
export function signedHeaders(
  id: string,
  seconds: number,
  body: Buffer,
  secrets: readonly Buffer[],
): SignedHeaders {
  const signatures = secrets.map((secret) => {
    const signature = createHmac('sha256', secret).update(`${id}.${seconds}.`).update(body)
    return `v1,${signature.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  }
}
