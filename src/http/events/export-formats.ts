import type { AuditEvent } from '../../event/event.js'
import { decideWithin } from '../../filter/steps.js'
import { attributesJson } from '../../event/lazy-event.js'
import { csvCell, csvRecord } from '../csv.js'
import { type Column, type DescribedTypes, exportColumns } from './export-columns.js'
import type { Fieldset } from './fieldset.js'

/** A line in pieces; `undefined` where the work can pause. */
export type LinePieces = Generator<string | undefined, void, undefined>

/** How an export writes events. */
export interface ExportLines {
  /** Written before the first event. */
  readonly head: string
  /** The line of an event if writing it takes little work, otherwise its pieces. */
  readonly line: (event: AuditEvent) => string | LinePieces
}

interface Format {
  readonly mediaType: string
  readonly contentType: string
  readonly lines: (described: DescribedTypes, fields: Fieldset) => ExportLines
}

/** A whole event, in the format of archives and of `importEvents`. */
function jsonLine(event: AuditEvent): string {
  const { id, created_at, username, system, type, source } = event
  const own = JSON.stringify({ id, created_at, username, system, type, source })
  return `${own.slice(0, -1)},"attributes":${attributesJson(event)}}\n`
}

function* cellsInSteps(columns: readonly Column[], event: AuditEvent): LinePieces {
  const last = columns.at(-1)
  for (const column of columns) {
    const text = column.cellInSteps ? yield* column.cellInSteps(event) : column.cell(event)
    yield csvCell(text, column === last)
  }
}

/** By file extension; the first one is the default. */
export const exportFormats = {
  ndjson: {
    // No media type is registered for JSON lines; this one is the most common.
    mediaType: 'application/x-ndjson',
    contentType: 'application/x-ndjson',
    lines: () => ({ head: '', line: jsonLine }),
  },
  csv: {
    mediaType: 'text/csv',
    contentType: 'text/csv; charset=utf-8',
    lines: (described, fields) => {
      const columns = exportColumns(described, fields)
      return {
        head: csvRecord(columns.map(({ name }) => name)),
        line: decideWithin(
          (event) => csvRecord(columns.map(({ cell }) => cell(event))),
          (event) => cellsInSteps(columns, event),
        ),
      }
    },
  },
} as const satisfies Record<string, Format>

export type ExportFormat = keyof typeof exportFormats

export const EXPORT_FORMATS = Object.keys(exportFormats) as ExportFormat[]
