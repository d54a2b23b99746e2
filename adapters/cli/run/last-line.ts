import type { FileHandle } from 'node:fs/promises'
import type { ExportFormat } from '../../../src/exporting/formats.js'

/** The last whole line of a file, and its end. */
export interface LastLine {
  readonly text: string
  /** Position in bytes after the line break. */
  readonly end: number
}

const CHUNK = 65_536
const [NEWLINE, QUOTE] = [0x0a, 0x22]

/** Ends of lines in the order of the file. In CSV a line break within quotation marks is part of a cell. */
async function* lineEnds(file: FileHandle, isCsv: boolean): AsyncGenerator<number, void, void> {
  const buffer = Buffer.alloc(CHUNK)
  let isQuoted = false
  for (let start = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, start)
    if (bytesRead === 0) return
    for (let i = 0; i < bytesRead; i++) {
      if (isCsv && buffer[i] === QUOTE) isQuoted = !isQuoted
      if (buffer[i] === NEWLINE && !isQuoted) yield start + i + 1
    }
    start += bytesRead
  }
}

/** Reads the last whole line; `undefined` if the file has none. Reads the whole file, with constant memory. */
export async function readLastLine(
  file: FileHandle,
  isCsv: boolean,
): Promise<LastLine | undefined> {
  let [before, end] = [0, 0]
  for await (const next of lineEnds(file, isCsv)) [before, end] = [end, next]
  if (end === 0) return undefined
  const bytes = Buffer.alloc(end - before)
  await file.read(bytes, 0, bytes.length, before)
  return { text: bytes.toString().trimEnd(), end }
}

const recordsOf = (line: string): number => {
  const { resourceLogs } = JSON.parse(line) as {
    resourceLogs: readonly { scopeLogs: readonly { logRecords: readonly unknown[] }[] }[]
  }
  return resourceLogs
    .flatMap(({ scopeLogs }) => scopeLogs)
    .reduce((sum, { logRecords }) => sum + logRecords.length, 0)
}

/** The number of events in a file of lines. For OTLP, a line has several events. */
export async function countLines(file: FileHandle, format: ExportFormat): Promise<number> {
  let [count, start] = [0, 0]
  for await (const end of lineEnds(file, format === 'csv')) {
    if (format === 'otlp') {
      const bytes = Buffer.alloc(end - start)
      await file.read(bytes, 0, bytes.length, start)
      count += recordsOf(bytes.toString())
    } else {
      count++
    }
    start = end
  }
  // The heading is the first line of CSV.
  return format === 'csv' ? Math.max(0, count - 1) : count
}
