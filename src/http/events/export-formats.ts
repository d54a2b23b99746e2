import type { AuditEvent } from '../../event/event.js'
import type { EventTypes } from '../../event/event-types.js'
import { attributesJson } from '../../store-kit/lazy-event.js'
import { csvRecord } from '../csv.js'
import { exportColumns } from './export-columns.js'
import type { Fieldset } from './fieldset.js'

/** How an export writes events. */
export interface ExportLines {
  /** Written before the first event. */
  readonly head: string
  readonly line: (event: AuditEvent) => string
}

interface Format {
  readonly mediaType: string
  readonly contentType: string
  readonly lines: (types: EventTypes, fields: Fieldset) => ExportLines
}

/** A whole event, in the format of archives and of `importEvents`. */
function jsonLine(event: AuditEvent): string {
  const { id, created_at, username, system, type, source } = event
  const own = JSON.stringify({ id, created_at, username, system, type, source })
  return `${own.slice(0, -1)},"attributes":${attributesJson(event)}}\n`
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
    lines: (types, fields) => {
      const columns = exportColumns(types, fields)
      return {
        head: csvRecord(columns.map(({ name }) => name)),
        line: (event) => csvRecord(columns.map(({ cell }) => cell(event))),
      }
    },
  },
} as const satisfies Record<string, Format>

export type ExportFormat = keyof typeof exportFormats

export const EXPORT_FORMATS = Object.keys(exportFormats) as ExportFormat[]
