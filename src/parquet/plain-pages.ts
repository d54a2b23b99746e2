import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** Values of a column, compressed. */
export interface PlainPage {
  readonly rows: number
  /** The bytes before compression. */
  readonly size: number
  readonly bytes: Uint8Array
}

/** Texts as pages of the encoding PLAIN, which threads compress while further texts are added. */
export interface PlainPages {
  /** Returns the number of its bytes. */
  add(text: string): number
  /** Resolves to the pages of all texts that were added since the last call. */
  take(): Promise<readonly PlainPage[]>
}

const LENGTH_BYTES = 4
/** The most bytes of a UTF-16 code unit. */
const MAX_UNIT_BYTES = 3

const compress = promisify(gzip)

/**
 * Pages of about `pageBytes` before compression. A larger text gets a separate page. Their memory is reused, because
 * the garbage collector would free it late.
 */
export function createPlainPages(pageBytes: number, compression: { level: number }): PlainPages {
  const free: Buffer[] = []
  let pages: Promise<PlainPage>[] = []
  let page: Buffer | undefined
  let size = 0
  let rows = 0

  const compressPage = async (buffer: Buffer, length: number, count: number) => {
    const bytes = await compress(buffer.subarray(0, length), compression)
    if (buffer.length === pageBytes) free.push(buffer)
    return { rows: count, size: length, bytes }
  }

  const endPage = (): void => {
    if (page) {
      const compressed = compressPage(page, size, rows)
      // `take` rejects with the error.
      compressed.catch(() => undefined)
      pages.push(compressed)
    }
    page = undefined
    size = rows = 0
  }

  /** Ends the page if it has no room for the text. */
  const pageFor = (text: string): Buffer => {
    const isShort = size + LENGTH_BYTES + text.length * MAX_UNIT_BYTES <= pageBytes
    const needed = LENGTH_BYTES + (isShort ? 0 : Buffer.byteLength(text))
    if (size + needed > pageBytes) endPage()
    if (needed > pageBytes) return (page = Buffer.allocUnsafe(needed))
    return (page ??= free.pop() ?? Buffer.allocUnsafe(pageBytes))
  }

  return {
    add(text) {
      const buffer = pageFor(text)
      const length = buffer.write(text, size + LENGTH_BYTES)
      buffer.writeUInt32LE(length, size)
      size += LENGTH_BYTES + length
      rows++
      return length
    },
    take() {
      endPage()
      const taken = pages
      pages = []
      return Promise.all(taken)
    },
  }
}
