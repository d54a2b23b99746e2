import type { Grouping, Sort } from '../../filter/ast.js'
import { scanDirection } from '../../filter/order.js'
import type { HttpRequest } from '../exchange.js'
import { negotiateMediaType } from '../media.js'
import { invalidParameter, readSingleValues, takeParameters } from '../parameters.js'
import { EXPORT_FORMATS, type ExportFormat, exportFormats } from './export-formats.js'
import { FIELDS, type Fieldset, takeFieldset } from './fieldset.js'
import { parseEventsQuery } from './query.js'

/** What a file is asked for. */
export interface ExportRequest {
  readonly where: Grouping | undefined
  readonly format: ExportFormat
  readonly fields: Fieldset
}

const OWN_PARAMETERS: ReadonlySet<string> = new Set(['format', 'limit'])

/** The parameter, which links can hold, counts more than the header. */
function readFormat(named: string | undefined, accept: string): ExportFormat {
  if (named === undefined) {
    const offered = EXPORT_FORMATS.map((name) => exportFormats[name].mediaType)
    return EXPORT_FORMATS[offered.indexOf(negotiateMediaType(accept, offered))]!
  }
  const format = EXPORT_FORMATS.find((name) => name === named)
  if (format) return format
  throw invalidParameter('format', `must be ${EXPORT_FORMATS.join(' or ')}`)
}

const isOldestFirst = (sorts: readonly Sort[]): boolean =>
  sorts.length === 0 || scanDirection(sorts) === 'asc'

/** Reads parameters and `Accept`; throws what is wrong with them. */
export function readExportRequest(request: Pick<HttpRequest, 'query' | 'header'>): ExportRequest {
  const { fields, rest } = takeFieldset(request.query)
  const { taken, rest: filters } = takeParameters(rest, (name) => OWN_PARAMETERS.has(name))
  const own = readSingleValues(taken)
  const { where, sorts } = parseEventsQuery(filters, `filter, format and ${FIELDS}`)
  if (own.has('limit'))
    throw invalidParameter('limit', 'is not taken: an export has all events that match')
  if (!isOldestFirst(sorts))
    throw invalidParameter('filter[sorts]', 'may be created_at asc alone, as an export runs')
  const format = readFormat(own.get('format'), request.header('accept'))
  if (fields && format !== 'csv')
    throw invalidParameter(
      FIELDS,
      `names columns of format=csv; lines of ${format} are whole events`,
    )
  return { where, format, fields }
}
