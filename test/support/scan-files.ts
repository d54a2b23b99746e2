import fs from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'

/*
 * Searches files for words, byte by byte: in UTF-8, UTF-16, base64 and hexadecimal, and in what raw deflate streams, gzip and
 * zlib hide. A word in two pages of a database is found by its halves, so words need random halves of 8 letters or more.
 */

/** A word that was found, and where. */
export interface FoundWord {
  readonly word: string
  readonly file: string
  /** How it was written. */
  readonly as: 'text' | 'utf16' | 'hex' | 'base64' | 'deflate'
  readonly at: number
}

/** A random word of 16 letters. Its halves are random, too. */
export function canary(): string {
  const bytes = new Uint8Array(16)
  crypto.getRandomValues(bytes)
  return Array.from(bytes, (byte) => String.fromCharCode(97 + (byte % 26))).join('')
}

/** What base64 of the word has in each of the three ways in which it can be aligned. */
function base64Forms(word: string): readonly string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.from(' '.repeat(before) + word).toString('base64')
    // The first and the last characters depend on the neighbours.
    return text.slice(before === 0 ? 0 : 4, Math.floor(((before + word.length) * 8) / 6) - 1)
  })
}

const HALF = 8

type Form = readonly [as: Exclude<FoundWord['as'], 'deflate'>, bytes: Buffer]

const formsOf = (word: string): readonly Form[] => [
  ['text', Buffer.from(word.slice(0, HALF))],
  ['text', Buffer.from(word.slice(-HALF))],
  ['utf16', Buffer.from(word, 'utf16le')],
  ['hex', Buffer.from(Buffer.from(word).toString('hex'))],
  ['hex', Buffer.from(Buffer.from(word).toString('hex').toUpperCase())],
  ...base64Forms(word).map((text): Form => ['base64', Buffer.from(text)]),
]

/** The lowest bits of a stream of one compressed block: https://www.rfc-editor.org/rfc/rfc1951#section-3.2.3 */
const ONLY_BLOCK: ReadonlySet<number> = new Set([0b011, 0b101])

/** Bytes of a stream that are inflated. */
const MAX_STREAM = 1024

/** Inflates what it can of a raw deflate stream that begins here. */
function inflateAt(data: Buffer, at: number, dictionary: Buffer | undefined): Buffer {
  try {
    return zlib.inflateRawSync(data.subarray(at, at + MAX_STREAM), {
      chunkSize: MAX_STREAM,
      finishFlush: zlib.constants.Z_SYNC_FLUSH,
      ...(dictionary && { dictionary }),
    })
  } catch {
    return Buffer.alloc(0)
  }
}

/** The words that the bytes have. */
export function scanBytes(file: string, data: Buffer, words: readonly string[]): FoundWord[] {
  const found: FoundWord[] = []
  for (const word of words)
    for (const [as, bytes] of formsOf(word)) {
      const at = data.indexOf(bytes)
      if (at !== -1) found.push({ word, file, as, at })
    }
  return found
}

/**
 * The words at the beginning of a raw deflate stream of one block, as short texts are, somewhere in the bytes. Tries each byte as
 * the beginning of a stream, which takes some seconds for 100 kB.
 */
export function scanDeflated(
  file: string,
  data: Buffer,
  words: readonly string[],
  dictionary?: Buffer,
): FoundWord[] {
  const found: FoundWord[] = []
  for (let at = 0; at < data.length; at++) {
    if (!ONLY_BLOCK.has(data[at]! & 7)) continue
    const text = inflateAt(data, at, dictionary)
    if (text.length < HALF) continue
    for (const word of words) if (text.includes(word)) found.push({ word, file, as: 'deflate', at })
  }
  return found
}

/** All files of a folder and of those in it. */
export const filesIn = (folder: string): readonly string[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))

/** The words that any file of the folder has. */
export const scanFiles = (folder: string, words: readonly string[]): FoundWord[] =>
  filesIn(folder).flatMap((file) => {
    const data = fs.readFileSync(file)
    const unzipped = file.endsWith('.gz') ? zlib.gunzipSync(data) : Buffer.alloc(0)
    return [...scanBytes(file, data, words), ...scanBytes(file, unzipped, words)]
  })

/** The words that were found, without those that were found again. */
export const wordsIn = (found: readonly FoundWord[]): readonly string[] =>
  Array.from(new Set(found.map(({ word }) => word)))
