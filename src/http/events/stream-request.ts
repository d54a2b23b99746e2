import type { Grouping } from '../../filter/ast.js'
import { formatTimestamp, parseTimestamp } from '../../event/timestamp.js'
import type { HttpRequest } from '../exchange.js'
import { invalidParameter, readSingleValues, readFlag, extractParameters } from '../parameters.js'
import { HttpProblem } from '../problem.js'
import { type Fieldset, extractFieldset } from './fieldset.js'
import { parseEventsQuery } from './query.js'

/** The parameters of a request for a stream. */
export interface StreamRequest {
  readonly where: Grouping | undefined
  readonly fields: Fieldset
  /** The `created_at` after which the stream starts; `undefined` for events from now on. */
  readonly after: string | undefined
  /** Where the stream starts, if its messages have cursors as their ids. */
  readonly cursor: string | undefined
  readonly changes: boolean
}

export const LAST_EVENT_ID = 'last-event-id'

const NOT_A_TIME = 'must be an ISO 8601 timestamp, such as the created_at of an event'

function readTime(text: string): string | undefined {
  const time = parseTimestamp(text)
  return time === undefined ? undefined : formatTimestamp(time)
}

/** `Last-Event-ID`, sent by clients that reconnect, takes precedence over the parameter of the URL. */
function readAfter(lastEventId: string, parameter: string | undefined): string | undefined {
  if (lastEventId === '' && parameter === undefined) return undefined
  const after = readTime(lastEventId || parameter!)
  if (after !== undefined) return after
  if (lastEventId === '') throw invalidParameter('after', NOT_A_TIME)
  throw new HttpProblem('INVALID_HEADER', `${LAST_EVENT_ID} ${NOT_A_TIME}`, {
    header: LAST_EVENT_ID,
  })
}

/**
 * Reads the parameters and `Last-Event-ID`; throws if they are invalid. `own` are the parameters that are no filters, `known` is the
 * list of all in messages.
 */
export function readStreamRequest(
  request: Pick<HttpRequest, 'query' | 'header'>,
  own: ReadonlySet<string>,
  known: string,
): StreamRequest {
  const { fields, rest } = extractFieldset(request.query)
  const { extracted, rest: filters } = extractParameters(rest, (name) => own.has(name))
  const values = readSingleValues(extracted)
  const { where, sorts } = parseEventsQuery(filters, known)
  const stray = values.has('limit') ? 'limit' : sorts.length > 0 ? 'filter[sorts]' : undefined
  if (stray) throw invalidParameter(stray, 'is not allowed: a stream is ordered by created_at')
  const changes = readFlag(values, 'changes')
  const lastEventId = request.header(LAST_EVENT_ID)
  const hasCursors = own.has('cursor')
  const after = readAfter(hasCursors ? '' : lastEventId, values.get('after'))
  const cursor = hasCursors ? lastEventId || values.get('cursor') : undefined
  return { where, fields, after, cursor, changes }
}
