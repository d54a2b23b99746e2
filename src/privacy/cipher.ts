import { createCipheriv, createDecipheriv, createHmac, randomFillSync } from 'node:crypto'
import type { IdSuffix } from '../event/event-id.js'
import type { PlacedValue } from './separate.js'

/** The event that a sealed part belongs to. Its part cannot be read as one of another event. */
export interface PartOf {
  /** The random part of the id. */
  readonly suffix: IdSuffix
  readonly type: string
}

/** The random part of an id, also of an imported one. */
export const suffixOf = (id: string): IdSuffix => id.slice(19, 23) + id.slice(24)

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const TAG = { authTagLength: TAG_BYTES } as const

const associated = ({ suffix, type }: PartOf): Buffer => Buffer.from(`${suffix}\n${type}`)

const NONCES = 256
const pool = Buffer.alloc(NONCE_BYTES * NONCES)
let used = pool.length

/** Random bytes. One system call serves many nonces. */
function randomNonce(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const nonce = Buffer.from(pool.subarray(used, used + NONCE_BYTES))
  used += NONCE_BYTES
  return nonce
}

/** A nonce that is made of the text and the event, so that a repeated import has the same ciphertext. */
const nonceOf = (key: Uint8Array, about: Buffer, text: string): Buffer =>
  createHmac('sha256', key)
    .update('nonce\n')
    .update(about)
    .update('\n')
    .update(text)
    .digest()
    .subarray(0, NONCE_BYTES)

/**
 * The values as the `data` of a sealed part: nonce, ciphertext and tag of AES-256-GCM (NIST SP 800-38D) as base64url. `isRepeatable`: the
 * same values of the same event give the same text.
 */
export function sealValues(
  key: Uint8Array,
  part: PartOf,
  values: readonly PlacedValue[],
  isRepeatable = false,
): string {
  const about = associated(part)
  const text = JSON.stringify(values)
  const nonce = isRepeatable ? nonceOf(key, about, text) : randomNonce()
  const cipher = createCipheriv(ALGORITHM, key, nonce, TAG).setAAD(about)
  return Buffer.concat([
    nonce,
    cipher.update(text, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ]).toString('base64url')
}

/** The values of a sealed part; `undefined` if the key, the event or the data is not the one that was sealed. */
export function openValues(
  key: Uint8Array,
  part: PartOf,
  data: string,
): readonly PlacedValue[] | undefined {
  const bytes = Buffer.from(data, 'base64url')
  const end = bytes.length - TAG_BYTES
  if (end < NONCE_BYTES) return undefined
  try {
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), TAG)
    decipher.setAAD(associated(part)).setAuthTag(bytes.subarray(end))
    const text = decipher.update(bytes.subarray(NONCE_BYTES, end))
    return JSON.parse(Buffer.concat([text, decipher.final()]).toString()) as readonly PlacedValue[]
  } catch {
    return undefined
  }
}
