import { query } from '../data/address.js'
import { exportUrl } from '../data/api.js'
import { download } from '../data/download.js'
import { apiQueryWith } from '../data/query.js'
import { texts } from '../ui/texts.js'
import { showNote } from '../ui/notes.js'
import { type ExportRun, exportRun } from './export-state.js'
import { createRecordParter, cutLine, type ExportFormat, fileName } from './records.js'
import { openSink, type Sink } from './sinks.js'

let stopping = new AbortController()

/** Of a cut file both its name and its last line say so. */
export const stopExport = (): void => stopping.abort()

/** The address of the export of the present query. */
export const presentExportUrl = (format: ExportFormat): string =>
  exportUrl(apiQueryWith(query.value, []), format)

/** Asks the reader whether he means to leave. */
const holdPage = (event: BeforeUnloadEvent): void => event.preventDefault()

/** Exports the present query. Does nothing while another export runs. */
export async function startExport(format: ExportFormat): Promise<void> {
  if (exportRun.value?.state === 'running') return
  const url = presentExportUrl(format)
  const at = new Date()
  try {
    const sink = await openSink(fileName(format, at))
    if (sink) await run(url, format, at, sink)
    // The browser writes by itself then, and shows how far it is.
    else download(url, fileName(format, at))
  } catch {
    // The reader has chosen no file.
  }
}

type End = Exclude<ExportRun['state'], 'running'>

const change = (part: Partial<ExportRun>): ExportRun =>
  (exportRun.value = { ...exportRun.value!, ...part })

async function run(url: string, format: ExportFormat, at: Date, sink: Sink): Promise<void> {
  stopping = new AbortController()
  const { signal } = stopping
  exportRun.value = { format, count: 0, total: undefined, isEstimate: false, state: 'running' }
  addEventListener('beforeunload', holdPage)
  const copied = await copy(url, format, sink, signal).catch((error: unknown) =>
    signal.aborted ? 'stopped' : reasonOf(error),
  )
  const state = await finish(copied, at, sink)
  removeEventListener('beforeunload', holdPage)
  showNote(texts.export.ended[state](change({ state }).count))
}

const reasonOf = (error: unknown): End =>
  error instanceof DOMException && error.name === 'QuotaExceededError' ? 'full' : 'lost'

/** Writes what comes, as far as records are whole. */
async function copy(
  url: string,
  format: ExportFormat,
  sink: Sink,
  signal: AbortSignal,
): Promise<End> {
  const response = await fetch(url, { signal })
  if (!response.ok || !response.body) return 'refused'
  const exact = response.headers.get('x-total-count')
  const told = exact ?? response.headers.get('x-total-count-estimated')
  change({ total: told === null ? undefined : Number(told), isEstimate: exact === null })
  const parter = createRecordParter(format)
  const reader = response.body.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    const { whole, count } = parter.push(value)
    for (const bytes of whole) await sink.write(bytes)
    change({ count: exportRun.value!.count + count })
  }
  for (const bytes of parter.rest()) await sink.write(bytes)
  return 'done'
}

/** Hands over what there is; gives what came of it all. */
async function finish(state: End, at: Date, sink: Sink): Promise<End> {
  const { format, count, total } = exportRun.value!
  const isCut = state !== 'done'
  try {
    if (isCut && count === 0) await sink.discard()
    else {
      if (isCut) await sink.write(cutLine(format, count, total))
      await sink.finish(fileName(format, at, isCut))
    }
    return state
  } catch (error) {
    await sink.discard().catch(() => undefined)
    return isCut ? state : reasonOf(error)
  }
}
