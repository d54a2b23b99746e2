import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import type { TimeSlices } from '../filter/time-slices.js'
import { type Column, schemaOf } from './columns.js'
import {
  type CellValue,
  type ColumnSource,
  type Compressor,
  type FileWriter,
  loadWriterLibrary,
} from './library.js'

/** A Parquet file whose bytes are taken while it is written. */
export interface ParquetFile {
  /** Writes a row group: the cells of each column. The event loop turns between columns. */
  writeGroup(cells: readonly (readonly CellValue[])[], slices: TimeSlices): Promise<void>
  /** The bytes written since the last call. */
  take(): Uint8Array
  /** Writes the footer, and returns all bytes not taken yet. */
  finish(): Uint8Array
}

// Of a column, before compression.
const PAGE_BYTES = 1_048_576

/** Higher levels take far more time and save little: attributes mostly repeat their names. */
const COMPRESSION = { level: 4 }

const compress = promisify(gzip)

const compressAtOnce: Compressor = (bytes) => gzipSync(bytes, COMPRESSION)

/** Combines the row groups that writing columns one by one has made. */
function joinGroups(file: FileWriter, columns: number): void {
  const parts = file.row_groups.splice(-columns)
  const sum = (sizes: readonly bigint[]): bigint => sizes.reduce((total, size) => total + size, 0n)
  const { num_rows } = parts[0]!
  file.row_groups.push({
    columns: parts.flatMap((part) => part.columns),
    total_byte_size: sum(parts.map((part) => part.total_byte_size)),
    total_compressed_size: sum(parts.map((part) => part.total_compressed_size)),
    num_rows,
  })
  file.num_rows -= num_rows * BigInt(columns - 1)
}

const sourceOf = (
  { element, encoding, statistics }: Column,
  data: readonly CellValue[],
): ColumnSource => ({
  name: element.name,
  data,
  offsetIndex: false,
  ...(encoding && { encoding }),
  ...(statistics !== undefined && { statistics }),
})

const writeColumn = (file: FileWriter, column: ColumnSource): void =>
  file.write({
    columnData: [column],
    rowGroupSize: column.data.length,
    pageSize: PAGE_BYTES,
  })

/** Throws `MISSING_DEPENDENCY` without the package hyparquet-writer. */
export function createFile(columns: readonly Column[]): ParquetFile {
  const library = loadWriterLibrary()
  const bytes = new library.ByteWriter()
  const open = (writer: typeof bytes, GZIP: Compressor): FileWriter =>
    new library.ParquetWriter({
      writer,
      schema: schemaOf(columns),
      codec: 'GZIP',
      compressors: { GZIP },
      createdBy: 'daybook',
    })
  /** The compressed pages of the column that is written next, if it is a large one. */
  let ready: Uint8Array[] = []
  const file = open(bytes, (page) => ready.shift() ?? compressAtOnce(page))

  /** Compresses the pages of a column in threads. The library can only do so in this one. */
  const compressAhead = async (column: ColumnSource): Promise<Uint8Array[]> => {
    const pages: Uint8Array[] = []
    const collector = open(new library.ByteWriter(), (page) => {
      pages.push(page)
      return page
    })
    writeColumn(collector, column)
    return Promise.all(pages.map((page) => compress(page, COMPRESSION)))
  }

  const take = (): Uint8Array => {
    const taken = bytes.getBytes().slice()
    bytes.index = 0
    return taken
  }

  return {
    async writeGroup(cells, slices) {
      for (const [index, column] of columns.entries()) {
        const source = sourceOf(column, cells[index]!)
        ready = column.isLarge ? await compressAhead(source) : []
        writeColumn(file, source)
        if (slices.isOver()) await slices.next()
      }
      joinGroups(file, columns.length)
    },
    take,
    finish() {
      file.finish()
      return take()
    },
  }
}
