import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { AuditLogError } from '../../errors.js'

export const KEY_BYTES = 32
const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Bytes of a random name of 22 base64url characters. */
const NAME_BYTES = 16

export const newName = (): string => randomBytes(NAME_BYTES).toString('base64url')

/** Encrypts with AES-256-GCM, bound to the name of what is encrypted. Returns base64url of the nonce, the ciphertext and the tag. */
export function wrap(by: KeyObject, name: string, bytes: Uint8Array): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, by, nonce).setAAD(Buffer.from(name))
  const text = Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
  return text.toString('base64url')
}

/** The bytes that {@link wrap} has encrypted; `undefined` with another key, another name or other text. */
export function unwrap(by: KeyObject, name: string, wrapped: string): Uint8Array | undefined {
  try {
    const bytes = Buffer.from(wrapped, 'base64url')
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv(ALGORITHM, by, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
    decipher.final()
    // Not a part of the pool that small buffers share.
    const copy = new Uint8Array(opened)
    opened.fill(0)
    return copy
  } catch {
    return undefined
  }
}

/** HMAC-SHA-256 as base64url. */
export const hmac = (secret: KeyObject, text: string): string =>
  createHmac('sha256', secret).update(text).digest('base64url')

export const keysUnavailable = (reason: string, cause?: unknown): AuditLogError =>
  new AuditLogError('KEYS_UNAVAILABLE', `the keys of subjects cannot be had: ${reason}`, { cause })
