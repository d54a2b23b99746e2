import type { Grouping } from '../../filter/ast.js'
import { formatTimestamp, parseTimestamp } from '../../event/timestamp.js'
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

interface SentRequest {
  readonly query: string
  /** `Last-Event-ID`, if it is a time; else empty. */
  readonly lastEventId: string
  /** The parameters that are no filters. */
  readonly own: ReadonlySet<string>
  /** All parameters, as messages list them. */
  readonly known: string
}

/** Throws if the parameters or `Last-Event-ID` are invalid. */
export function readStreamRequest({ query, lastEventId, own, known }: SentRequest): StreamRequest {
  const { fields, rest } = extractFieldset(query)
  const { extracted, rest: filters } = extractParameters(rest, (name) => own.has(name))
  const values = readSingleValues(extracted)
  const { where, sorts } = parseEventsQuery(filters, known)
  const stray = values.has('limit') ? 'limit' : sorts.length > 0 ? 'filter[sorts]' : undefined
  if (stray) throw invalidParameter(stray, 'is not allowed: a stream is ordered by created_at')
  const changes = readFlag(values, 'changes')
  const after = readAfter(lastEventId, values.get('after'))
  return { where, fields, after, changes }
}
