import { hash } from 'node:crypto'

/** Reused, as each event needs two. It grows to the longest text. */
let buffer = Buffer.alloc(65_536)

/** The bytes of the prefix and of the text in UTF-8. They are valid until the next call. */
function bytesOf(prefix: Uint8Array, text: string): Uint8Array {
  // A UTF-16 unit has at most three bytes in UTF-8.
  const longest = prefix.length + 3 * text.length
  if (buffer.length < longest) buffer = Buffer.alloc(longest)
  buffer.set(prefix)
  return buffer.subarray(0, prefix.length + buffer.write(text, prefix.length))
}

const HASH_BYTES = 32

/** Copies the hash from a text: `node:crypto` allocates a buffer outside of the heap, which takes three times as long. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const text = hash('sha256', bytes, 'binary')
  const digest = new Uint8Array(HASH_BYTES)
  for (let i = 0; i < HASH_BYTES; i++) digest[i] = text.charCodeAt(i)
  return digest
}

/** SHA-256 of a prefix and a text in UTF-8. Faster than `createHash`, which makes an object for each hash. */
export const sha256OfText = (prefix: Uint8Array, text: string): Uint8Array =>
  sha256(bytesOf(prefix, text))

/** The same as base64 text. */
export const sha256Base64 = (prefix: Uint8Array, text: string): string =>
  hash('sha256', bytesOf(prefix, text), 'base64')
