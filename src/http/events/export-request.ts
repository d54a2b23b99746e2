import type { Grouping, Sort } from '../../filter/ast.js'
import { EXPORT_FORMATS, type ExportFormat, exportFormats } from '../../exporting/formats.js'
import { scanDirection } from '../../filter/order.js'
import type { HttpRequest } from '../exchange.js'
import { negotiateMediaType } from '../media.js'
import { invalidParameter, readSingleValues, extractParameters } from '../parameters.js'
import { FIELDS, type Fieldset, extractFieldset } from './fieldset.js'
import { parseEventsQuery } from './query.js'

/** The parameters of a request for an export. */
export interface ExportRequest {
  readonly where: Grouping | undefined
  readonly format: ExportFormat
  readonly fields: Fieldset
}

const OWN_PARAMETERS: ReadonlySet<string> = new Set(['format', 'limit'])

const alternatives = (names: readonly string[]): string =>
  `${names.slice(0, -1).join(', ')} or ${names.at(-1)!}`

/** The formats that have a media type of their own. */
const NEGOTIATED = EXPORT_FORMATS.flatMap((format) => {
  const found = exportFormats[format]
  return 'mediaType' in found ? [{ format, mediaType: found.mediaType }] : []
})

const WITH_COLUMNS = EXPORT_FORMATS.filter((format) => exportFormats[format].hasColumns)

/** The parameter takes precedence over the `Accept` header, because links can only contain a parameter. */
function readFormat(named: string | undefined, accept: string): ExportFormat {
  if (named === undefined) {
    const mediaTypes = NEGOTIATED.map(({ mediaType }) => mediaType)
    return NEGOTIATED[mediaTypes.indexOf(negotiateMediaType(accept, mediaTypes))]!.format
  }
  const format = EXPORT_FORMATS.find((name) => name === named)
  if (format) return format
  throw invalidParameter('format', `must be ${alternatives(EXPORT_FORMATS)}`)
}

const isOldestFirst = (sorts: readonly Sort[]): boolean =>
  sorts.length === 0 || scanDirection(sorts) === 'asc'

/** Reads filters. Throws for a limit, and for an order other than that of every export. */
export function readAllMatching(
  query: string,
  { known, limit }: { readonly known: string; readonly limit: string | undefined },
): Grouping | undefined {
  const { where, sorts } = parseEventsQuery(query, known)
  if (limit !== undefined)
    throw invalidParameter('limit', 'is not allowed: all matching events are returned')
  if (!isOldestFirst(sorts))
    throw invalidParameter('filter[sorts]', 'must be created_at asc, the only order')
  return where
}

/** Reads the parameters and `Accept`; throws if they are invalid. */
export function readExportRequest(request: Pick<HttpRequest, 'query' | 'header'>): ExportRequest {
  const { fields, rest } = extractFieldset(request.query)
  const { extracted, rest: filters } = extractParameters(rest, (name) => OWN_PARAMETERS.has(name))
  const own = readSingleValues(extracted)
  const known = `filter, q, format and ${FIELDS}`
  const where = readAllMatching(filters, { known, limit: own.get('limit') })
  const format = readFormat(own.get('format'), request.header('accept'))
  if (fields && !exportFormats[format].hasColumns)
    throw invalidParameter(
      FIELDS,
      `is allowed only with format=${WITH_COLUMNS.join(' or ')}; each line of ${format} is a whole event`,
    )
  return { where, format, fields }
}
