import { isUtf8 } from 'node:buffer'
import { isBytes } from '../../event/realm.js'

/** How much of a response is read for the reason of a failure, in bytes. */
export const MAX_READ_BYTES = 65_536

/** How much of a response is read for the ids of the records that it lists, in bytes. */
export const MAX_LIST_BYTES = 1_048_576

/**
 * The text of a part of a response, which may be the reason of a failure. Undefined if it is a page for people,
 * compressed, other binary data, or longer than `maxBytes`.
 */
export function readableText(part: unknown, maxBytes = MAX_READ_BYTES): string | undefined {
  const text = textOf(part, maxBytes)
  return text === undefined || text.startsWith('<') ? undefined : text
}

function textOf(part: unknown, maxBytes: number): string | undefined {
  if (typeof part === 'string') return part
  if (!isBytes(part) || part.byteLength > maxBytes || !isUtf8(part)) return undefined
  return Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString()
}
