import { once } from 'node:events'
import { type Duplex, pipeline, Readable } from 'node:stream'
import zlib from 'node:zlib'
import { CommandError, messageOf } from '../terminal/exit-codes.js'

/** Compressed forms that Node does not read, by their first bytes in hexadecimal. */
const FOREIGN: readonly (readonly [start: string, name: string])[] = [
  ['fd377a58', 'xz'],
  ['425a68', 'bzip2'],
  ['504b0304', 'zip'],
  ['04224d18', 'lz4'],
]

/** Encodings of text by their first bytes: a byte order mark, or the first character of JSON. */
const ENCODINGS: readonly (readonly [start: string, encoding: string])[] = [
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
  ['7b00', 'utf-16le'],
  ['5b00', 'utf-16le'],
  ['007b', 'utf-16be'],
  ['005b', 'utf-16be'],
]

const HEAD_BYTES = 4

/** The first bytes, and a stream that still contains them. A pipe may deliver them one by one. */
async function headOf(
  stream: Readable,
): Promise<{ readonly head: string; readonly whole: Readable }> {
  const parts: Buffer[] = []
  for (let length = 0; length < HEAD_BYTES && !stream.readableEnded;) {
    const part = stream.read() as Buffer | null
    if (part) {
      parts.push(part)
      length += part.length
    } else await Promise.race([once(stream, 'readable'), once(stream, 'end')])
  }
  const bytes = Buffer.concat(parts)
  const head = bytes.subarray(0, HEAD_BYTES).toString('hex')
  if (stream.readableEnded) return { head, whole: Readable.from(parts) }
  stream.unshift(bytes)
  return { head, whole: stream }
}

/** The decompressor for data with this beginning. Throws for compressed data that this Node cannot read. */
function decompressorOf(head: string): Duplex | undefined {
  // A single byte is the rest of a copy that was cut off.
  if (head.startsWith('1f8b') || head === '1f') return zlib.createGunzip()
  if (head === '28b52ffd') {
    const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Duplex }
    if (createZstdDecompress) return createZstdDecompress()
    const message = `zstd is read by Node.js 22.15 or later, and this is ${process.version}; decompress the file first`
    throw new CommandError('failed', message)
  }
  const foreign = FOREIGN.find(([start]) => head.startsWith(start))
  if (!foreign) return undefined
  throw new CommandError('failed', `${foreign[1]} is not read; decompress the file first`)
}

async function* utf8Of(stream: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const decode = (chunk?: Buffer): Buffer => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }))
    } catch {
      throw new CommandError('failed', 'the UTF-16 text is damaged')
    }
  }
  for await (const chunk of stream) yield decode(chunk)
  yield decode()
}

/** The chunks of a decompressor. Its errors do not name the compressed data, so they are replaced. */
async function* chunksOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* stream
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (!/^(?:Z|ERR_ZLIB|ZSTD)_/.test(String(code))) throw cause
    throw new CommandError(
      'failed',
      `the compressed data is cut off or damaged: ${messageOf(cause)}`,
    )
  }
}

/**
 * The text of the stream in UTF-8. Data that begins as gzip or zstd is decompressed, also twice, and UTF-16 is
 * converted. Rejects for other compressed data.
 */
export async function decoded(stream: Readable): Promise<Readable> {
  const { head, whole } = await headOf(stream)
  const decompressor = decompressorOf(head)
  // The reader gets the errors of both streams. Without a callback, they would also be thrown.
  if (decompressor) return decoded(Readable.from(chunksOf(pipeline(whole, decompressor, () => {}))))
  const encoding = ENCODINGS.find(([start]) => head.startsWith(start))?.[1]
  return encoding === undefined ? whole : Readable.from(utf8Of(whole, encoding))
}
