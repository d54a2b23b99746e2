import { gzipSync } from 'node:zlib'
import type { TimeSlices } from '../filter/time-slices.js'
import { type Column, schemaOf } from './columns.js'
import {
  type ByteWriter,
  type CellValue,
  type Compressor,
  type FileWriter,
  loadWriterLibrary,
  type RowGroup,
} from './library.js'
import { createPlainPages, type PlainPage } from './plain-pages.js'

/** A Parquet file whose bytes can be taken while it is written. */
export interface ParquetFile {
  /** Adds the cell of a column to the row group, and returns its size. */
  add(column: number, cell: CellValue): number
  /** Writes the row group. Each column must have the same number of cells. The event loop turns between columns. */
  endGroup(slices: TimeSlices): Promise<void>
  /** The bytes written since the last call. */
  take(): Uint8Array
  /** Writes the footer, and returns all bytes not taken yet. */
  finish(): Uint8Array
}

// Bytes of a page of a column, before compression.
const PAGE_BYTES = 1_048_576

/** Higher levels take far more time and save little, because attributes mostly repeat their names. */
const COMPRESSION = { level: 4 }

const compress: Compressor = (bytes) => gzipSync(bytes, COMPRESSION)

/** The file, and the bytes that its parts write to. */
interface Output {
  readonly bytes: ByteWriter
  readonly file: FileWriter
}

/** Collects the cells of a column. Writes them as a separate row group. */
interface ColumnWriter {
  add(cell: CellValue): number
  write(output: Output): void | Promise<void>
}

const sizeOf = (cell: CellValue): number =>
  typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 8

/** Lets the library choose the encoding. */
function libraryColumn({ element, encoding }: Column): ColumnWriter {
  let data: CellValue[] = []
  return {
    add(cell) {
      data.push(cell)
      return sizeOf(cell)
    },
    write({ file }) {
      file.write({
        columnData: [
          {
            name: element.name,
            data,
            offsetIndex: false,
            ...(encoding && { encoding }),
          },
        ],
        rowGroupSize: data.length,
        pageSize: PAGE_BYTES,
      })
      data = []
    },
  }
}

// Types of Thrift's compact protocol: the first byte of a field whose id exceeds the previous id by one or five.
const NEXT_I32 = 0x15
const FIFTH_NEXT_STRUCT = 0x5c
const STOP = 0

const DATA_PAGE_V2 = 3
const PLAIN = 0

/** The header of a page without nulls. */
function writePageHeader(bytes: ByteWriter, { rows, size, bytes: compressed }: PlainPage): void {
  const writeNumbers = (...numbers: readonly number[]): void => {
    for (const number of numbers) {
      bytes.appendUint8(NEXT_I32)
      bytes.appendZigZag(number)
    }
  }
  const nulls = 0
  const levelBytes = 0
  writeNumbers(DATA_PAGE_V2, size, compressed.length)
  bytes.appendUint8(FIFTH_NEXT_STRUCT)
  writeNumbers(rows, nulls, rows, PLAIN, levelBytes, levelBytes)
  bytes.appendUint8(STOP)
  bytes.appendUint8(STOP)
}

/**
 * Writes texts without the library's conversion. The library would keep each text as an object until the row group
 * ends, and compress it in this thread.
 */
function largeColumn({ element: { name } }: Column): ColumnWriter {
  const pages = createPlainPages(PAGE_BYTES, COMPRESSION)
  return {
    add: (cell) => pages.add(cell as string),
    async write({ bytes, file }) {
      const taken = await pages.take()
      const start = bytes.offset
      let [rows, size] = [0, 0]
      for (const page of taken) {
        const headerStart = bytes.offset
        writePageHeader(bytes, page)
        size += bytes.offset - headerStart + page.size
        rows += page.rows
        bytes.appendBytes(page.bytes)
      }
      const sizes = {
        total_byte_size: BigInt(size),
        total_compressed_size: BigInt(bytes.offset - start),
        num_rows: BigInt(rows),
      }
      const meta_data = {
        type: 'BYTE_ARRAY',
        encodings: ['PLAIN'],
        path_in_schema: [name],
        codec: 'GZIP',
        num_values: sizes.num_rows,
        total_compressed_size: sizes.total_compressed_size,
        total_uncompressed_size: sizes.total_byte_size,
        data_page_offset: BigInt(start),
      }
      file.row_groups.push({ ...sizes, columns: [{ meta_data, file_offset: BigInt(start) }] })
    },
  }
}

/** Combines row groups of one column each. */
function joinGroups(parts: readonly RowGroup[]): RowGroup {
  const sum = (sizes: readonly bigint[]): bigint => sizes.reduce((total, size) => total + size, 0n)
  return {
    columns: parts.flatMap((part) => part.columns),
    total_byte_size: sum(parts.map((part) => part.total_byte_size)),
    total_compressed_size: sum(parts.map((part) => part.total_compressed_size)),
    num_rows: parts[0]!.num_rows,
  }
}

/** Throws `MISSING_DEPENDENCY` without the package hyparquet-writer. */
export function createFile(columns: readonly Column[]): ParquetFile {
  const library = loadWriterLibrary()
  const bytes = new library.ByteWriter()
  const file = new library.ParquetWriter({
    writer: bytes,
    schema: schemaOf(columns),
    codec: 'GZIP',
    compressors: { GZIP: compress },
    createdBy: 'daybook',
  })
  const writers = columns.map((column) =>
    column.isLarge ? largeColumn(column) : libraryColumn(column),
  )
  const output = { bytes, file }

  const take = (): Uint8Array => {
    const taken = bytes.getBytes().slice()
    bytes.index = 0
    return taken
  }

  return {
    add: (column, cell) => writers[column]!.add(cell),
    async endGroup(slices) {
      const before = file.num_rows
      for (const writer of writers) {
        await writer.write(output)
        if (slices.isOver()) await slices.next()
      }
      const group = joinGroups(file.row_groups.splice(-writers.length))
      file.row_groups.push(group)
      file.num_rows = before + group.num_rows
    },
    take,
    finish() {
      file.finish()
      return take()
    },
  }
}
