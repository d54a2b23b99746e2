import { setImmediate as turn } from 'node:timers/promises'
import { MAX_READ_BYTES, readableText } from '../record/response-text.js'

/** The bytes that a stream has at once; undefined if it has too many or is still being produced. */
async function bytesAtHand(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let bytes = 0
  while (bytes <= maxBytes) {
    const part = await Promise.race([reader.read(), turn()])
    if (part?.done) return Buffer.concat(chunks)
    if (!part) break
    chunks.push(part.value)
    bytes += part.value.length
  }
  reader.cancel().catch(() => {})
  return undefined
}

/** The text of a response that has its whole body; undefined for others. */
export async function responseText(
  response: Response,
  maxBytes = MAX_READ_BYTES,
): Promise<string | undefined> {
  try {
    const body = response.clone().body as ReadableStream<Uint8Array> | null
    return body ? readableText(await bytesAtHand(body, maxBytes), maxBytes) : undefined
  } catch {
    // The body has been read, or its source failed.
    return undefined
  }
}
