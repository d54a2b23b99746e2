import { signal } from '@preact/signals'
import { attributeColumns } from '../columns/column-state.js'
import { query, zone } from '../data/address.js'
import { ApiError, checked, exportUrl } from '../data/api.js'
import { download } from '../data/download.js'
import { apiQueryWith } from '../data/query.js'
import { showNote } from '../ui/notes.js'
import { type ExportRun, exportRun } from './export-state.js'
import {
  createRecordSplitter,
  cutLine,
  type ExportFormat,
  exportFormats,
  fileName,
  hasRecords,
  type LocalTime,
} from './records.js'
import { endText } from './describe-run.js'
import { openSink, type Sink } from './sinks.js'

let stopping = new AbortController()

/** Stops the running export. The name and the last line of the cut file say so. */
export const stopExport = (): void => stopping.abort()

/** The export URL of the current query. */
export const currentExportUrl = (format: ExportFormat): string =>
  exportUrl(
    apiQueryWith(query.value, []),
    format,
    exportFormats[format].hasColumns ? columnsParameter() : '',
  )

/** True if CSV and Parquet have a column for each attribute that the list shows. */
export const hasShownColumns = signal(false)

const columnsParameter = (): string =>
  hasShownColumns.value
    ? attributeColumns.value.map((name) => `fields[event][]=${encodeURIComponent(name)}`).join('&')
    : ''

/** Makes the browser ask for confirmation before it leaves the page. */
const confirmLeave = (event: BeforeUnloadEvent): void => event.preventDefault()

/** Exports the current query. Does nothing while another export runs. */
export async function startExport(format: ExportFormat): Promise<void> {
  if (exportRun.value?.state === 'running') return
  const url = currentExportUrl(format)
  const at = { time: new Date(), zone: zone.value }
  try {
    const sink = await openSink(fileName(format, at))
    if (sink) await run(url, format, at, sink)
    // Without a sink, the browser downloads the file itself and shows the progress.
    else download(url, fileName(format, at))
  } catch {
    // The user cancelled the file picker.
  }
}

type End = Exclude<ExportRun['state'], 'running'>

const change = (part: Partial<ExportRun>): ExportRun =>
  (exportRun.value = { ...exportRun.value!, ...part })

async function run(url: string, format: ExportFormat, at: LocalTime, sink: Sink): Promise<void> {
  stopping = new AbortController()
  const { signal } = stopping
  exportRun.value = {
    format,
    count: 0,
    bytes: 0,
    total: undefined,
    isExact: true,
    state: 'running',
  }
  addEventListener('beforeunload', confirmLeave)
  const copied = await copy(url, format, sink, signal).catch((error: unknown) =>
    signal.aborted ? 'stopped' : reasonOf(error),
  )
  const state = await finish(copied, at, sink)
  removeEventListener('beforeunload', confirmLeave)
  showNote(endText(change({ state })))
}

function reasonOf(error: unknown): End {
  if (error instanceof ApiError)
    return error.problem?.code === 'FORMAT_UNAVAILABLE' ? 'unavailable' : 'refused'
  return error instanceof DOMException && error.name === 'QuotaExceededError' ? 'full' : 'lost'
}

/** Streams the response into the sink, one whole record at a time. */
async function copy(
  url: string,
  format: ExportFormat,
  sink: Sink,
  signal: AbortSignal,
): Promise<End> {
  const response = await checked(await fetch(url, { signal }))
  const exact = response.headers.get('x-total-count')
  const header = exact ?? response.headers.get('x-total-count-at-least')
  change({ total: header === null ? undefined : Number(header), isExact: exact !== null })
  const splitter = createRecordSplitter(format)
  const reader = response.body!.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    const { whole, count } = splitter.push(value)
    for (const bytes of whole) await sink.write(bytes)
    const written = exportRun.value!
    change({ count: written.count + count, bytes: written.bytes + value.length })
  }
  for (const bytes of splitter.rest()) await sink.write(bytes)
  return 'done'
}

/** Completes or discards the file; returns the final state. */
async function finish(state: End, at: LocalTime, sink: Sink): Promise<End> {
  const { format, count, total } = exportRun.value!
  const isCut = state !== 'done'
  try {
    if (!isCut) await sink.finish(fileName(format, at))
    else if (count > 0 && hasRecords(format)) {
      await sink.write(cutLine(format, count, total))
      await sink.finish(fileName(format, at, true))
    } else await sink.discard()
    return state
  } catch (error) {
    await sink.discard().catch(() => undefined)
    return isCut ? state : reasonOf(error)
  }
}
