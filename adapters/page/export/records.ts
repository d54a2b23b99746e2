/** The formats of an export, by what the endpoint calls them. */
export type ExportFormat = 'ndjson' | 'csv'

export interface WholeRecords {
  /** What may be written now: it ends with a record's line break. */
  readonly whole: readonly Uint8Array<ArrayBuffer>[]
  /** How many records were completed. */
  readonly count: number
}

/** Parts a file that comes in chunks behind its records, so that it can be ended where one ends. */
export interface RecordParter {
  push(chunk: Uint8Array<ArrayBuffer>): WholeRecords
  /** What is left: a last record without a line break. */
  rest(): readonly Uint8Array<ArrayBuffer>[]
}

const LINE_FEED = 0x0a
const QUOTE = 0x22

/**
 * Bytes of UTF-8 that mean something here are never part of a longer character. Between the quotes
 * of a CSV cell a line break ends nothing (RFC 4180, section 2).
 */
export function createRecordParter(format: ExportFormat): RecordParter {
  let pending: Uint8Array<ArrayBuffer>[] = []
  let isQuoted = false
  // The first record of a table names its columns.
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

/** The last line of a file that is not whole. */
export function cutLine(format: ExportFormat, count: number, total: number | undefined): string {
  if (format === 'ndjson') return `${JSON.stringify({ cut: true, events: count, of: total })}\n`
  const of = total === undefined ? '' : ` of ${total}`
  return `"cut after ${count}${of} events"\r\n`
}

/** `events-2026-11-20T130600Z.csv`, and `…-cut.csv` of what is not whole. */
export function fileName(format: ExportFormat, at: Date, isCut = false): string {
  const time = at.toISOString().replaceAll(/:|\.\d+/g, '')
  return `events-${time}${isCut ? '-cut' : ''}.${format}`
}
