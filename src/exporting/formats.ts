import { AuditLogError } from '../errors.js'
import type { EventOfLog } from '../event/event-of-log.js'
import { isUriReference } from '../formats/cloud-event.js'
import { exportLines, type LineSettings, writeLines } from './lines.js'

/** Settings of an export, besides the events. */
export interface ExportSettings extends Omit<LineSettings, 'service'> {
  /**
   * Attributes by their names in queries, such as `url_params_project_code`: a column for each, in place of one
   * with all attributes in CSV, and besides it in Parquet. Other formats have no columns.
   */
  readonly columns?: readonly string[] | undefined
  /**
   * The name of the service that recorded the events: the `source` of CloudEvents, the product of OCSF and `service.name` of OTLP. A
   * URI reference.
   * @default 'daybook'
   */
  readonly service?: string | undefined
}

/** The bytes or texts of a file, one after the other. */
export type ExportChunks = AsyncGenerator<string | Uint8Array, void, void>

/** Writes pages of events. */
export type ExportWriter = (pages: AsyncIterable<readonly EventOfLog[]>) => ExportChunks

interface Format {
  /** The media type by which the header `Accept` selects the format. The other formats of lines have none. */
  readonly mediaType?: string
  readonly contentType: string
  /** The ending of the name of a file. */
  readonly extension: string
  readonly hasColumns: boolean
}

// No media type is registered for JSON lines; this one is the most common.
const JSON_LINES: Format = {
  contentType: 'application/x-ndjson',
  extension: 'ndjson',
  hasColumns: false,
}

/** The formats of exports; the first one is the default. */
export const exportFormats = {
  ndjson: { ...JSON_LINES, mediaType: 'application/x-ndjson' },
  csv: {
    mediaType: 'text/csv',
    contentType: 'text/csv; charset=utf-8',
    extension: 'csv',
    hasColumns: true,
  },
  cloudevents: JSON_LINES,
  ocsf: JSON_LINES,
  otlp: JSON_LINES,
  parquet: {
    mediaType: 'application/vnd.apache.parquet',
    contentType: 'application/vnd.apache.parquet',
    extension: 'parquet',
    hasColumns: true,
  },
} as const satisfies Record<string, Format>

export type ExportFormat = keyof typeof exportFormats

export const EXPORT_FORMATS = Object.keys(exportFormats) as ExportFormat[]

const DEFAULT_SERVICE = 'daybook'

/** Throws `INVALID_OPTION` for a name that CloudEvents cannot have as their source. */
export function readService(service: string = DEFAULT_SERVICE): string {
  if (isUriReference(service)) return service
  throw new AuditLogError(
    'INVALID_OPTION',
    'service must be a URI reference, such as orders or https://orders.example',
  )
}

/**
 * Rejects with `MISSING_DEPENDENCY` for Parquet without the package hyparquet-writer, and with `INVALID_OPTION` for an unknown
 * format and for settings that are not valid.
 */
export async function openExport(
  format: ExportFormat,
  { service, ...settings }: ExportSettings,
): Promise<ExportWriter> {
  const named = { ...settings, service: readService(service) }
  if (format === 'parquet') {
    // Most services never need it.
    const { openParquet } = await import('../parquet/to-parquet.js')
    return openParquet(settings)
  }
  if (!Object.hasOwn(exportLines, format))
    throw new AuditLogError('INVALID_OPTION', `format must be ${EXPORT_FORMATS.join(', ')}`)
  const lines = exportLines[format](named)
  return (pages) => writeLines(pages, lines)
}
