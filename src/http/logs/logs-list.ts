import type { AuditLogs } from '../../audit-logs.js'
import { fold } from '../../filter/values.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import { checkAccept, jsonResponse } from '../media.js'
import {
  extractParameters,
  readInteger,
  readSingleValues,
  refuseParameters,
} from '../parameters.js'
import { jsonapi } from '../problem.js'
import { pathOfLog } from './requests.js'

const KEYS_LIMIT = { min: 1, max: 1000, default: 100 }
/** Number of keys that are read at once to find the logs that the user may see. */
const KEYS_PAGE = 1000
const KEYS_PARAMETERS: ReadonlySet<string> = new Set(['search', 'after', 'limit'])

interface LogsCall {
  readonly request: HttpRequest
  /** True if the user may do something in the log. */
  readonly mayAnything: (key: string) => Promise<boolean>
}

/** `GET <path>`: the logs in which the user may do something. */
export const logsHandler =
  (logs: Pick<AuditLogs, 'keys'>, path: string) =>
  async ({ request, mayAnything }: LogsCall): Promise<HttpResponse> => {
    checkAccept(request.header('accept'))
    const { query, signal } = request
    const { extracted, rest } = extractParameters(query, (name) => KEYS_PARAMETERS.has(name))
    refuseParameters(rest, 'search, after and limit')
    const own = readSingleValues(extracted)
    const limit = readInteger(own, 'limit', KEYS_LIMIT)
    const search = fold(own.get('search') ?? '')
    const found: string[] = []
    let after = own.get('after')
    for (let isMore = true; isMore && found.length <= limit;) {
      const keys = await logs.keys({ after, limit: KEYS_PAGE, signal })
      for (const key of keys)
        if (found.length <= limit && fold(key).includes(search) && (await mayAnything(key)))
          found.push(key)
      isMore = keys.length === KEYS_PAGE
      after = keys.at(-1)
    }
    const shown = found.slice(0, limit)
    const data = shown.map((id) => ({
      type: 'log',
      id,
      relationships: { events: { links: { related: pathOfLog(path, id) } } },
    }))
    const self = query === '' ? path : `${path}?${query}`
    const links: Record<string, string> = { self }
    if (found.length > limit) {
      const next = new URLSearchParams([...own].filter(([name]) => name !== 'after'))
      next.set('after', shown.at(-1)!)
      links['next'] = `${path}?${next.toString()}`
    }
    const body = JSON.stringify({ jsonapi, data, links })
    return jsonResponse(found.length > limit ? 206 : 200, body)
  }
