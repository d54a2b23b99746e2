import { AuditLogError } from '../errors.js'

/*
 * SHA-256 and Ed25519 as browsers and Node have them. Checks of proofs use them, because they also run in browsers; the sealer hashes
 * many leaves and uses `node:crypto`.
 */

export type Bytes = Uint8Array<ArrayBuffer>

export function bytesOf(...parts: readonly (Uint8Array | string)[]): Bytes {
  const encoder = new TextEncoder()
  const chunks = parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part))
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let end = 0
  for (const chunk of chunks) {
    bytes.set(chunk, end)
    end += chunk.length
  }
  return bytes
}

/** Browsers have it only on pages of https and of localhost. Throws `MISSING_DEPENDENCY`. */
function subtle(): typeof crypto.subtle {
  const found = (globalThis as { crypto?: Partial<typeof crypto> }).crypto?.subtle
  if (found) return found
  throw new AuditLogError(
    'MISSING_DEPENDENCY',
    'Web Crypto is missing: browsers have it only on pages of https and of localhost',
  )
}

/** The hash of the parts, one after the other. A text is hashed as UTF-8. */
export const sha256 = async (...parts: readonly (Uint8Array | string)[]): Promise<Bytes> =>
  new Uint8Array(await subtle().digest('SHA-256', bytesOf(...parts)))

/** True if the key has signed the message. */
export async function isSignedBy(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const key = await subtle().importKey('raw', bytesOf(publicKey), 'Ed25519', false, ['verify'])
  return subtle().verify('Ed25519', key, bytesOf(signature), bytesOf(message))
}

export function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  // A verification compares many hashes, and `every` would take longer than the rest.
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return a.length === b.length
}
