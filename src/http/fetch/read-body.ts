import { checkBodyHeaders, malformed, tooLarge } from '../node-request.js'

type Reader = ReadableStreamDefaultReader<Uint8Array>

async function nextChunk(reader: Reader): Promise<Uint8Array | undefined> {
  try {
    return (await reader.read()).value
  } catch {
    throw malformed('the body ended early')
  }
}

/** Reads a refused body to its end too, so that the client receives the response. */
async function drain(reader: Reader): Promise<void> {
  try {
    let isDone = false
    while (!isDone) isDone = (await reader.read()).done
  } catch {
    // The client has disconnected.
  }
}

async function readStream(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array> {
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let bytes = 0
  for (let chunk = await nextChunk(reader); chunk; chunk = await nextChunk(reader)) {
    bytes += chunk.length
    if (bytes > maxBytes) {
      void drain(reader)
      throw tooLarge(maxBytes)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Returns a body that was already read. */
export type ReadAgain = () => Promise<Uint8Array>

const cannotReadAgain: ReadAgain = async () => {
  throw new Error('the request body was already read')
}

/**
 * The bytes of a body. Throws `HttpProblem` 413 for more than `maxBytes`, 415 for a compressed body, 400 if the
 * client aborted.
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  readAgain = cannotReadAgain,
): Promise<Uint8Array> {
  checkBodyHeaders((name) => request.headers.get(name), maxBytes)
  if (!request.bodyUsed) return request.body ? readStream(request.body, maxBytes) : new Uint8Array()
  const bytes = await readAgain()
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  return bytes
}
