import { toWallClock } from '../data/zoned-time.js'

interface Format {
  readonly label: string
  /** The end of the file name. */
  readonly extension: string
  /** True if attributes can have columns of their own. */
  readonly hasColumns: boolean
}

/** The export formats, by their API names. */
export const exportFormats = {
  ndjson: { label: 'NDJSON', extension: 'ndjson', hasColumns: false },
  csv: { label: 'CSV', extension: 'csv', hasColumns: true },
  parquet: { label: 'Parquet', extension: 'parquet', hasColumns: true },
  cloudevents: { label: 'CloudEvents', extension: 'ndjson', hasColumns: false },
  ocsf: { label: 'OCSF', extension: 'ndjson', hasColumns: false },
  otlp: { label: 'OTLP', extension: 'ndjson', hasColumns: false },
} as const satisfies Record<string, Format>

export type ExportFormat = keyof typeof exportFormats

export const EXPORT_FORMATS = Object.keys(exportFormats) as ExportFormat[]

/** A format of records. They can be counted, and a file can end after any record. */
export type RecordFormat = Exclude<ExportFormat, 'parquet'>

export const hasRecords = (format: ExportFormat): format is RecordFormat => format !== 'parquet'

export interface WholeRecords {
  /** Bytes to write, ending with the line break of a record. */
  readonly whole: readonly Uint8Array<ArrayBuffer>[]
  /** The number of records completed; 0 for a file without records. */
  readonly count: number
}

/** Splits a chunked file at record ends, so that a cut file ends with a whole record. */
export interface RecordSplitter {
  push(chunk: Uint8Array<ArrayBuffer>): WholeRecords
  /** The remaining bytes: a last record without a line break. */
  rest(): readonly Uint8Array<ArrayBuffer>[]
}

/** Passes on a file that has no records. */
const unsplit: RecordSplitter = {
  push: (chunk) => ({ whole: [chunk], count: 0 }),
  rest: () => [],
}

const LINE_FEED = 0x0a
const QUOTE = 0x22

/**
 * Works on bytes: in UTF-8, a quote or line feed is never part of a longer character. A line break in a
 * quoted CSV field does not end the record (RFC 4180, section 2).
 */
export function createRecordSplitter(format: ExportFormat): RecordSplitter {
  if (!hasRecords(format)) return unsplit
  let pending: Uint8Array<ArrayBuffer>[] = []
  let isQuoted = false
  // The first CSV record is the header.
  let isHead = format === 'csv'

  const scan = (chunk: Uint8Array): { end: number; count: number } => {
    let end = 0
    let count = 0
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]
      if (byte === QUOTE && format === 'csv') isQuoted = !isQuoted
      else if (byte === LINE_FEED && !isQuoted) {
        end = i + 1
        if (isHead) isHead = false
        else count++
      }
    }
    return { end, count }
  }

  return {
    push(chunk) {
      const { end, count } = scan(chunk)
      if (end === 0) {
        pending.push(chunk)
        return { whole: [], count }
      }
      const whole = [...pending, chunk.subarray(0, end)]
      pending = end < chunk.length ? [chunk.subarray(end)] : []
      return { whole, count }
    },
    rest() {
      return pending
    },
  }
}

/** The last line of a cut file. */
export function cutLine(format: RecordFormat, count: number, total: number | undefined): string {
  if (format !== 'csv') return `${JSON.stringify({ cut: true, events: count, of: total })}\n`
  const of = total === undefined ? '' : ` of ${total}`
  return `"cut after ${count}${of} events"\r\n`
}

/** A time with its time zone. */
export interface LocalTime {
  readonly time: Date
  readonly zone: string
}

/** The local time with its offset without colons: `2026-11-20T140600+0100`. */
function basicTime(at: Date, zone: string): string {
  const wall = toWallClock(at, zone)
  const seconds = Math.floor(at.getTime() / 1000)
  const minutes = Math.round((Date.parse(`${wall}Z`) / 1000 - seconds) / 60)
  const [hours, rest] = [Math.trunc(minutes / 60), minutes % 60]
  const digits = (part: number): string => String(Math.abs(part)).padStart(2, '0')
  const offset = minutes === 0 ? 'Z' : `${minutes < 0 ? '-' : '+'}${digits(hours)}${digits(rest)}`
  return wall.replaceAll(':', '') + offset
}

/** `events-2026-11-20T140600+0100.csv` in the zone, or `…-cut.csv` for a cut file. */
export function fileName(format: ExportFormat, at: LocalTime, isCut = false): string {
  const time = basicTime(at.time, at.zone)
  return `events-${time}${isCut ? '-cut' : ''}.${exportFormats[format].extension}`
}
