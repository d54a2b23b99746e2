import { isKey } from '../../store/log-stores.js'
import { extractParameters, invalidParameter, readSingleValues } from '../parameters.js'
import { MAX_LOGS } from '../openapi/parameters.js'

const LOGS = /^logs(?:\[\d*\])?$/

/** The path of the endpoints of one log. */
export const pathOfLog = (path: string, key: string): string =>
  `${path}/${encodeURIComponent(key)}/events`

/** The keys of `logs[]`, each once, and the rest of the query. Throws `INVALID_VALUE`. */
export function readLogs(query: string): {
  readonly logs: readonly string[]
  readonly rest: string
} {
  const { extracted, rest } = extractParameters(query, (name) => LOGS.test(name))
  const logs = [...new Set(extracted.map(([, key]) => key))]
  if (logs.length === 0) throw invalidParameter('logs[]', `is missing: name 1 to ${MAX_LOGS} logs`)
  if (logs.length > MAX_LOGS)
    throw invalidParameter('logs[]', `names ${logs.length} logs; at most ${MAX_LOGS} are allowed`)
  const wrong = logs.find((key) => !isKey(key))
  if (wrong !== undefined)
    throw invalidParameter('logs[]', `must be keys of logs; ${JSON.stringify(wrong)} is not one`)
  return { logs, rest }
}

/** The query without `logs[]`. */
export const withoutLogs = (query: string): string =>
  extractParameters(query, (name) => LOGS.test(name)).rest

/** The part of a query that names the logs. */
export const logsQuery = (keys: readonly string[]): string =>
  keys.map((key) => `logs[]=${encodeURIComponent(key)}`).join('&')

/** The parameters of a range of events of several logs. */
export type RangeParameter = 'cursor' | 'until'

/** A request for several logs. */
export interface LogsRequest extends Readonly<Partial<Record<RangeParameter, string>>> {
  readonly logs: readonly string[]
  /** The query as the client has sent it. */
  readonly sent: string
  /** The query without the logs and the range. */
  readonly rest: string
}

/** Throws `INVALID_VALUE`. Of a range it reads the parameters that are allowed. */
export function readLogsRequest(query: string, allowed: readonly RangeParameter[]): LogsRequest {
  const { logs, rest: others } = readLogs(query)
  const { extracted, rest } = extractParameters(others, (name) =>
    allowed.includes(name as RangeParameter),
  )
  return { logs, sent: query, rest, ...Object.fromEntries(readSingleValues(extracted)) }
}

/** The query with another cursor. */
export function withCursor(query: string, cursor: string): string {
  const { rest } = extractParameters(query, (name) => name === 'cursor')
  return [rest, `cursor=${cursor}`].filter((text) => text !== '').join('&')
}
