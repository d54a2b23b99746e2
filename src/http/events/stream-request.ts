import type { Grouping } from '../../filter/ast.js'
import { formatTimestamp, parseTimestamp } from '../../event/timestamp.js'
import type { HttpRequest } from '../exchange.js'
import { invalidParameter, readSingleValues, readFlag, takeParameters } from '../parameters.js'
import { HttpProblem } from '../problem.js'
import { FIELDS, type Fieldset, takeFieldset } from './fieldset.js'
import { parseEventsQuery } from './query.js'

/** What a stream is asked for. */
export interface StreamRequest {
  readonly where: Grouping | undefined
  readonly fields: Fieldset
  /** The `created_at` to go on after, as events have it; `undefined` is from now on. */
  readonly after: string | undefined
  readonly changes: boolean
}

const OWN_PARAMETERS: ReadonlySet<string> = new Set(['after', 'changes', 'limit'])

const LAST_EVENT_ID = 'last-event-id'

const NO_TIME = 'must be an ISO 8601 timestamp, such as the created_at of an event'

function readTime(text: string): string | undefined {
  const time = parseTimestamp(text)
  return time === undefined ? undefined : formatTimestamp(time)
}

/** The header, which a client sends that comes back, counts more than the address it came with first. */
function readAfter(lastEventId: string, parameter: string | undefined): string | undefined {
  if (lastEventId === '' && parameter === undefined) return undefined
  const after = readTime(lastEventId || parameter!)
  if (after !== undefined) return after
  if (lastEventId === '') throw invalidParameter('after', NO_TIME)
  throw new HttpProblem('INVALID_HEADER', `${LAST_EVENT_ID} ${NO_TIME}`, { header: LAST_EVENT_ID })
}

/** Reads parameters and `Last-Event-ID`; throws what is wrong with them. */
export function readStreamRequest(request: Pick<HttpRequest, 'query' | 'header'>): StreamRequest {
  const { fields, rest } = takeFieldset(request.query)
  const { taken, rest: filters } = takeParameters(rest, (name) => OWN_PARAMETERS.has(name))
  const own = readSingleValues(taken)
  const { where, sorts } = parseEventsQuery(filters, `filter, ${FIELDS}, after and changes`)
  const stray = own.has('limit') ? 'limit' : sorts.length > 0 ? 'filter[sorts]' : undefined
  if (stray) throw invalidParameter(stray, 'means nothing to a stream, which runs along created_at')
  const changes = readFlag(own, 'changes')
  const after = readAfter(request.header(LAST_EVENT_ID), own.get('after'))
  return { where, fields, after, changes }
}
