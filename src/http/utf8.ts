import { createTimeSlices } from '../filter/time-slices.js'

/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3

/** A larger buffer is not kept for the next text. */
const MAX_REUSED_BYTES = 4 * 1024 * 1024

const allocate = (size: number): Buffer => Buffer.allocUnsafeSlow(size)

// Texts are encoded here and copied out: allocating a new buffer each time costs more than the copy.
let buffer = allocate(64 * 1024)

/** The UTF-8 bytes of the joined parts. No part may end within a surrogate pair. */
export function utf8(parts: Iterable<string>): Uint8Array {
  let end = 0
  for (const part of parts) {
    const needed = end + MAX_BYTES_PER_UNIT * part.length
    if (needed > buffer.length) {
      const larger = allocate(2 * needed)
      buffer.copy(larger, 0, 0, end)
      buffer = larger
    }
    end += buffer.write(part, end)
  }
  const bytes = Buffer.from(buffer.subarray(0, end))
  if (buffer.length > MAX_REUSED_BYTES) buffer = allocate(MAX_REUSED_BYTES)
  return bytes
}

/** Yields further parts until `isOver`; calls `end` after the last of all. */
function* partsUntil(
  parts: Iterator<string>,
  isOver: () => boolean,
  end: () => void,
): Generator<string> {
  do {
    const next = parts.next()
    if (next.done) return end()
    yield next.value
  } while (!isOver())
}

/** Like {@link utf8}. The event loop turns between the parts of long texts. */
export async function utf8InTurns(parts: Iterator<string>): Promise<Uint8Array> {
  const slices = createTimeSlices()
  const chunks: Uint8Array[] = []
  for (let isDone = false; ;) {
    const end = (): void => void (isDone = true)
    chunks.push(utf8(partsUntil(parts, () => slices.isOver(), end)))
    if (isDone) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    await slices.next()
  }
}
