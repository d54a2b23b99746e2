import type { AuditEvent } from '../../../src/event/event.js'
import { checked, type EventResource, eventOf, JSON_API } from '../data/api.js'
import { apiPath } from '../data/config.js'

/** Data of a report. */
export interface ReportData {
  /** Oldest first. */
  readonly events: readonly AuditEvent[]
  /** The number of live events that were still open. */
  readonly open: number
  /** The user of the request, as the service has identified them. */
  readonly username: string
  /** The SHA-256 digest of the export, in hexadecimal digits. */
  readonly sha256: string
  /** The path of the export: the same query with a fixed end. */
  readonly export: string
}

interface ReportDocument {
  readonly data: readonly EventResource[]
  readonly meta: Pick<ReportData, 'username' | 'sha256' | 'export'>
}

/** Requests a report of a query, a result of `apiQuery`. Throws `ApiError`, with 422 if too many events match. */
export async function requestReport(query: string, signal: AbortSignal): Promise<ReportData> {
  const url = query === '' ? `${apiPath}/report` : `${apiPath}/report?${query}`
  const response = await checked(await fetch(url, { headers: { accept: JSON_API }, signal }))
  const { data, meta } = (await response.json()) as ReportDocument
  const open = data.filter(({ meta }) => meta?.live).length
  return { ...meta, events: data.map(eventOf), open }
}

/** The path of the export. Characters that need no encoding within a quoted URL are readable. */
export const readableExport = ({ export: path }: ReportData): string =>
  path.replaceAll(/%(?:3A|2F|2C|40)/g, decodeURIComponent)

/** Parameters of the export that are not filters. The path of the page names the logs. */
const NO_FILTER = /^(?:format|until|logs(?:\[\d*\])?)=/

/** The query string of the page that shows exactly these events. */
export function filtersOf(report: ReportData): string {
  const path = readableExport(report)
  const parameters = path.slice(path.indexOf('?') + 1).split('&')
  return parameters.filter((text) => !NO_FILTER.test(text)).join('&')
}
