import { isUtf8 } from 'node:buffer'
import fs from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import type { JsonObject } from '../../../src/event/event.js'
import { NumberText, parseJson } from '../../../src/event/exact-numbers.js'
import { messageOf } from '../terminal/exit-codes.js'
import { decoded } from './decoded.js'

export const MAX_LINE_BYTES = 16 * 1024 * 1024
const NEWLINE = 0x0a

export interface OpenFile {
  readonly stream: Readable
  /**
   * Number of bytes read so far, before decompression, and the size of the file; the size is 0 if it is not known.
   */
  readonly progress: () => { readonly bytes: number; readonly size: number }
}

export interface OpenFileOptions {
  /** The stream for the file `-`. */
  readonly stdin?: Readable | undefined
  /** Ends the stream with an `AbortError`. */
  readonly signal?: AbortSignal | undefined
}

/** Opens a file of JSON, or `-`, stdin, as UTF-8: see {@link decoded}. */
export async function openFile(
  file: string,
  { stdin, signal }: OpenFileOptions = {},
): Promise<OpenFile> {
  if (file === '-' && stdin) {
    if (signal) addAbortSignal(signal, stdin)
    return { stream: await decoded(stdin), progress: () => ({ bytes: 0, size: 0 }) }
  }
  const raw = fs.createReadStream(file)
  if (signal) addAbortSignal(signal, raw)
  const stream = await decoded(raw)
  const { size } = await fs.promises.stat(file)
  return { stream, progress: () => ({ bytes: raw.bytesRead, size }) }
}

/**
 * Yields the lines of each chunk without `\n`. `node:readline` is not used, because it also splits at U+2028, which
 * JSON strings may contain. A line over the size limit is cut, but stays over the limit.
 */
export async function* linesOf(
  stream: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer[], void, void> {
  let parts: Buffer[] = []
  let bytes = 0
  const add = (part: Buffer): void => {
    if (bytes <= MAX_LINE_BYTES) parts.push(part)
    bytes += part.length
  }
  for await (const chunk of stream) {
    const lines: Buffer[] = []
    let start = 0
    for (let end; (end = chunk.indexOf(NEWLINE, start)) !== -1; start = end + 1) {
      add(chunk.subarray(start, end))
      lines.push(parts.length === 1 ? parts[0]! : Buffer.concat(parts))
      parts = []
      bytes = 0
    }
    if (start < chunk.length) add(chunk.subarray(start))
    yield lines
  }
  if (parts.length > 0) yield [Buffer.concat(parts)]
}

export const isBlank = (bytes: Buffer): boolean =>
  bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)

/**
 * The object in the line, or the reason why the line is malformed. A number that no double holds becomes its text.
 */
export function parseLine(bytes: Buffer): JsonObject | string {
  if (bytes.length > MAX_LINE_BYTES) return `longer than ${MAX_LINE_BYTES} bytes`
  if (!isUtf8(bytes)) return 'not UTF-8'
  try {
    // Some tools write a byte order mark at the start of a file.
    const value = parseJson(bytes.toString().replace(/^\uFEFF/, ''))
    return isObject(value) ? value : 'not a JSON object'
  } catch (error) {
    return `not JSON: ${messageOf(error)}`
  }
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof NumberText)
