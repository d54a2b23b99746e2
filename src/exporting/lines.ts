import type { DescribedTypes } from '../describing/describe-event.js'
import { eventJson } from '../event/body.js'
import type { AuditEvent } from '../event/event.js'
import type { EventOfLog } from '../event/event-of-log.js'
import { plainEvent } from '../event/lazy-event.js'
import { decideWithin } from '../filter/steps.js'
import { createTimeSlices } from '../filter/time-slices.js'
import { toCloudEvent } from '../formats/cloud-event.js'
import { toOcsf } from '../formats/ocsf.js'
import { toOtlp } from '../formats/otlp.js'
import { csvCell, csvRecord } from './csv.js'
import { type CsvColumn, csvColumns } from './csv-columns.js'

/** A line in pieces; `undefined` where the work can pause. */
export type LinePieces = Generator<string | undefined, void, undefined>

/** How an export writes events as lines. */
export interface ExportLines {
  /** Written before the first event. */
  readonly head: string
  /** The line of an event if writing it takes little work, otherwise its pieces. */
  readonly line: (item: EventOfLog) => string | LinePieces
}

/** Settings of the lines, besides the events. */
export interface LineSettings extends DescribedTypes {
  /** True if the events are of several logs. */
  readonly hasLogs?: boolean | undefined
  readonly columns?: readonly string[] | undefined
  readonly service: string
}

/** A whole event, in the format of archives and of `importEvents`, which ignores the key of the log. */
export const jsonLine = ({ event, log }: EventOfLog): string => `${eventJson(event, log)}\n`

function* cellsInSteps(columns: readonly CsvColumn[], item: EventOfLog): LinePieces {
  const last = columns.at(-1)
  for (const column of columns) {
    const text = column.cellInSteps ? yield* column.cellInSteps(item) : column.cell(item)
    yield csvCell(text, column === last)
  }
}

function csvLines(settings: LineSettings): ExportLines {
  const columns = csvColumns(settings)
  return {
    head: csvRecord(columns.map(({ name }) => name)),
    line: decideWithin(
      (item) => csvRecord(columns.map(({ cell }) => cell(item))),
      (item) => cellsInSteps(columns, item),
    ),
  }
}

const objectLines = (
  toObject: (event: AuditEvent, log: string | undefined) => object,
): ExportLines => ({
  head: '',
  line: ({ event, log }) => `${JSON.stringify(toObject(plainEvent(event), log))}\n`,
})

/** One event in each line, in the formats of text. */
export const exportLines = {
  ndjson: () => ({ head: '', line: jsonLine }),
  csv: csvLines,
  cloudevents: ({ service, types }) =>
    objectLines((event, log) => toCloudEvent(event, { source: service, types, log })),
  ocsf: ({ service, types }) =>
    objectLines((event, log) => toOcsf(event, { product: { name: service }, types, log })),
  // As files of the OpenTelemetry collector: a whole request in each line.
  otlp: ({ service, types }) =>
    objectLines((event, log) => toOtlp([event], { service, types, log })),
} as const satisfies Record<string, (settings: LineSettings) => ExportLines>

// About as much as a socket buffers at once, so that each chunk waits until the previous one is sent.
const CHUNK_LENGTH = 65_536

/** The lines of the events in chunks. The event loop turns between them, and within long lines. */
async function* chunksOf(
  events: readonly EventOfLog[],
  line: ExportLines['line'],
): AsyncGenerator<string, void, void> {
  const timeSlices = createTimeSlices()
  let text = ''
  for (const event of events) {
    const written = line(event)
    for (const piece of typeof written === 'string' ? [written] : written) {
      text += piece ?? ''
      if (timeSlices.isOver()) await timeSlices.next()
      if (text.length < CHUNK_LENGTH) continue
      yield text
      text = ''
    }
  }
  if (text !== '') yield text
}

/** The pages of events as chunks of text. */
export async function* writeLines(
  pages: AsyncIterable<readonly EventOfLog[]>,
  { head, line }: ExportLines,
): AsyncGenerator<string, void, void> {
  if (head !== '') yield head
  for await (const events of pages) yield* chunksOf(events, line)
}
