import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import type { JsonObject } from '../event/event.js'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts the secrets of channels. */
export interface Seals {
  /** `undefined` if there is nothing to encrypt. Throws `NO_SECRETS_KEY`. */
  seal(id: string, secrets: JsonObject): string | undefined
  /** Throws `NO_SECRETS_KEY` if none of the keys decrypts the secrets of this channel. */
  open(id: string, sealed: string | undefined): JsonObject
}

/** Throws `INVALID_OPTION`, without the key. */
function readKey(given: string): Buffer {
  const key = Buffer.from(typeof given === 'string' ? given : '', 'base64')
  if (key.length === KEY_BYTES) return key
  throw new AuditLogError('INVALID_OPTION', `secretsKey must be the base64 of ${KEY_BYTES} bytes`)
}

/** The id of the channel is authenticated too, so that the secrets of one channel cannot be moved to another. */
const boundTo = (id: string): Buffer => Buffer.from(`daybook channel ${id}`)

/** AES-256-GCM: a random nonce, the ciphertext and the tag, as base64. The first key encrypts, all decrypt. */
export function createSeals(given: string | readonly string[] = []): Seals {
  const keys = (typeof given === 'string' ? [given] : given).map(readKey)
  return {
    seal(id, secrets) {
      if (Object.keys(secrets).length === 0) return undefined
      const [key] = keys
      if (!key) {
        const message = 'the channel has secrets: set the option secretsKey to encrypt them'
        throw new AuditLogError('NO_SECRETS_KEY', message)
      }
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(boundTo(id))
      const text = Buffer.concat([cipher.update(JSON.stringify(secrets), 'utf8'), cipher.final()])
      return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64')
    },
    open(id, sealed) {
      if (sealed === undefined) return {}
      for (const key of keys) {
        const secrets = decrypt(key, id, Buffer.from(sealed, 'base64'))
        if (secrets) return secrets
      }
      throw new AuditLogError('NO_SECRETS_KEY', 'no key decrypts the secrets of the channel')
    },
  }
}

/**
 * The decrypted secrets. `undefined` if the key is another one, or if the secrets are damaged or belong to another
 * channel.
 */
function decrypt(key: Buffer, id: string, sealed: Buffer): JsonObject | undefined {
  try {
    const nonce = sealed.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(boundTo(id)).setAuthTag(sealed.subarray(-TAG_BYTES))
    const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES))
    return JSON.parse(Buffer.concat([text, decipher.final()]).toString()) as JsonObject
  } catch {
    return undefined
  }
}
