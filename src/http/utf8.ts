import { createTimeSlices, type TimeSlices } from '../filter/time-slices.js'
import type { Content } from './exchange.js'

/** A text in parts that are made when they are needed. No part may end within a surrogate pair. */
export interface TextParts {
  readonly length: number
  /** Called once for each part, in order. */
  at(index: number): string
}

/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3

/** A larger buffer is not kept for the next text. */
const MAX_REUSED_BYTES = 4 * 1024 * 1024

const allocate = (size: number): Buffer => Buffer.allocUnsafeSlow(size)

// Texts are encoded here and copied out: allocating a new buffer each time costs more than the copy.
let buffer = allocate(64 * 1024)

/** Moves the first bytes to a larger buffer. */
function grow(end: number, needed: number): void {
  const larger = allocate(2 * needed)
  buffer.copy(larger, 0, 0, end)
  buffer = larger
}

/** A longer text is returned as bytes. */
const MAX_TEXT = 32 * 1024

/**
 * The joined parts: a short text as it is, as servers send it in one piece with the headers, and a longer one as UTF-8, because
 * it may be sent several times. The event loop turns between the parts of long texts.
 */
export function joinParts(parts: TextParts): Content | Promise<Uint8Array> {
  const slices = createTimeSlices()
  let text = ''
  for (let i = 0; i < parts.length; i++) {
    text += parts.at(i)
    if (text.length > MAX_TEXT || slices.isOver()) return encode(parts, text, i + 1, slices)
  }
  return text
}

/** The UTF-8 bytes of a text and the parts that follow it. */
async function encode(
  parts: TextParts,
  text: string,
  next: number,
  slices: TimeSlices,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let end = 0
  const takeChunk = (): void => {
    chunks.push(Buffer.from(buffer.subarray(0, end)))
    end = 0
    if (buffer.length > MAX_REUSED_BYTES) buffer = allocate(MAX_REUSED_BYTES)
  }
  let part = text
  for (let i = next; ; i++) {
    const needed = end + MAX_BYTES_PER_UNIT * part.length
    if (needed > buffer.length) grow(end, needed)
    end += buffer.write(part, end)
    if (i >= parts.length) break
    if (slices.isOver()) {
      // Other texts use the buffer meanwhile.
      takeChunk()
      await slices.next()
    }
    part = parts.at(i)
  }
  takeChunk()
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}
