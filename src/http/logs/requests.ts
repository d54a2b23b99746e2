import { isKey } from '../../store/log-stores.js'
import {
  extractParameters,
  invalidParameter,
  joinQueries,
  readSingleValues,
} from '../parameters.js'
import { MAX_LOGS } from '../openapi/parameters.js'

const LOGS = /^logs(?:\[\d*\])?$/

/** The path of the endpoints of one log. */
export const pathOfLog = (path: string, key: string): string =>
  `${path}/${encodeURIComponent(key)}/events`

/** The query without `logs[]`. */
export const withoutLogs = (query: string): string =>
  extractParameters(query, (name) => LOGS.test(name)).rest

/** The part of a query that names the logs. */
export const logsQuery = (keys: readonly string[]): string =>
  keys.map((key) => `logs[]=${encodeURIComponent(key)}`).join('&')

/** The parameters of a range of events of several logs. */
const RANGE: ReadonlySet<string> = new Set(['cursor', 'until'])

/** A request for several logs. */
export interface LogsRequest extends Readonly<Partial<Record<'cursor' | 'until', string>>> {
  readonly logs: readonly string[]
  /** The query as the client has sent it. */
  readonly sent: string
  /** The query without the logs and the range. */
  readonly rest: string
}

/** Reads `logs[]`, each key once, and of a range the parameters that the route has. Throws `INVALID_VALUE`. */
export function readLogsRequest(query: string, parameters: readonly string[]): LogsRequest {
  const isOwn = (name: string): boolean =>
    LOGS.test(name) || (RANGE.has(name) && parameters.includes(name))
  const { extracted, rest } = extractParameters(query, isOwn)
  const logs = [...new Set(extracted.flatMap(([name, key]) => (LOGS.test(name) ? [key] : [])))]
  if (logs.length === 0) throw invalidParameter('logs[]', `is missing: name 1 to ${MAX_LOGS} logs`)
  if (logs.length > MAX_LOGS)
    throw invalidParameter('logs[]', `names ${logs.length} logs; at most ${MAX_LOGS} are allowed`)
  const wrong = logs.find((key) => !isKey(key))
  if (wrong !== undefined)
    throw invalidParameter('logs[]', `must be keys of logs; ${JSON.stringify(wrong)} is not one`)
  const range = extracted.filter(([name]) => !LOGS.test(name))
  return { logs, sent: query, rest, ...Object.fromEntries(readSingleValues(range)) }
}

/** The query with another cursor. */
export function withCursor(query: string, cursor: string): string {
  const { rest } = extractParameters(query, (name) => name === 'cursor')
  return joinQueries(rest, `cursor=${cursor}`)
}
