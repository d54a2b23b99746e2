import { loadPackage } from '../store/packages.js'

/*
 * The parts of the optional packages hyparquet-writer and hyparquet that Daybook uses. With their own types, programs
 * that use Daybook would not compile without these packages.
 */

/** An element of a Parquet schema. */
export interface SchemaElement {
  readonly name: string
  readonly type?: 'BOOLEAN' | 'INT64' | 'BYTE_ARRAY' | 'FIXED_LEN_BYTE_ARRAY'
  readonly type_length?: number
  readonly repetition_type?: 'REQUIRED' | 'OPTIONAL'
  readonly converted_type?: 'UTF8' | 'TIMESTAMP_MICROS'
  readonly logical_type?: Readonly<Record<string, string | boolean>>
  readonly num_children?: number
}

export type CellValue = string | boolean | bigint | Uint8Array | null

/** A column of a row group. */
export interface ColumnSource {
  readonly name: string
  readonly data: readonly CellValue[]
  readonly encoding?: 'PLAIN' | 'DELTA_BINARY_PACKED'
  readonly offsetIndex?: boolean
}

/** The bytes written. `index` is the end in the buffer, and may be set back. */
export interface ByteWriter {
  index: number
  /** The number of all bytes written. */
  readonly offset: number
  getBytes(): Uint8Array
  appendUint8(value: number): void
  appendZigZag(value: number): void
  appendBytes(value: Uint8Array): void
}

export interface RowGroup {
  readonly columns: readonly unknown[]
  readonly total_byte_size: bigint
  readonly total_compressed_size: bigint
  readonly num_rows: bigint
}

export type Compressor = (bytes: Uint8Array) => Uint8Array

export interface FileWriter {
  /** The row groups of the footer. */
  row_groups: RowGroup[]
  num_rows: bigint
  write(options: {
    readonly columnData: readonly ColumnSource[]
    readonly rowGroupSize: number
    readonly pageSize: number
  }): void
  finish(): void
}

interface FileWriterOptions {
  readonly writer: ByteWriter
  readonly schema: readonly SchemaElement[]
  readonly codec: 'GZIP'
  readonly compressors: { readonly GZIP: Compressor }
  readonly createdBy: string
}

/** hyparquet-writer. */
export interface WriterLibrary {
  readonly ByteWriter: new () => ByteWriter
  readonly ParquetWriter: new (options: FileWriterOptions) => FileWriter
}

/** Throws `MISSING_DEPENDENCY` if hyparquet-writer is not installed. */
export const loadWriterLibrary = (): WriterLibrary =>
  loadPackage({ name: 'hyparquet-writer', neededBy: 'the format Parquet' }) as WriterLibrary

/** A file that can be read in parts. */
export interface AsyncBuffer {
  readonly byteLength: number
  slice(start: number, end?: number): Promise<ArrayBuffer>
}

interface FileMetadata {
  readonly schema: readonly SchemaElement[]
  readonly row_groups: readonly { readonly num_rows: bigint }[]
}

interface ReadOptions {
  readonly file: AsyncBuffer
  readonly metadata: FileMetadata
  readonly columns: readonly string[]
  readonly rowStart: number
  readonly rowEnd: number
  readonly compressors: Readonly<Record<string, Compressor>>
  readonly parsers: Readonly<Record<string, (value: never) => unknown>>
}

/** hyparquet. */
export interface ReaderLibrary {
  parquetMetadataAsync(file: AsyncBuffer): Promise<FileMetadata>
  parquetReadObjects(options: ReadOptions): Promise<readonly Readonly<Record<string, unknown>>[]>
}

/** Throws `MISSING_DEPENDENCY` if hyparquet is not installed. */
export const loadReaderLibrary = (): ReaderLibrary =>
  loadPackage({ name: 'hyparquet', neededBy: 'reading Parquet files' }) as ReaderLibrary
