/** No unit of UTF-16 has more bytes in UTF-8. */
const MOST_BYTES = 3

/** More is not kept for the next text. */
const MAX_KEPT = 4 * 1024 * 1024

const newRoom = (size: number): Buffer => Buffer.allocUnsafeSlow(size)

// Texts are put together here and copied out: memory that is new each time costs more than the copy.
let room = newRoom(64 * 1024)

/** The bytes of a text that comes in parts, none of which ends within a character. */
export function utf8(parts: Iterable<string>): Uint8Array {
  let end = 0
  for (const part of parts) {
    const needed = end + MOST_BYTES * part.length
    if (needed > room.length) {
      const larger = newRoom(2 * needed)
      room.copy(larger, 0, 0, end)
      room = larger
    }
    end += room.write(part, end)
  }
  const bytes = Buffer.from(room.subarray(0, end))
  if (room.length > MAX_KEPT) room = newRoom(MAX_KEPT)
  return bytes
}
