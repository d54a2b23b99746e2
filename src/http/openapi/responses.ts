import { JSON_API } from '../problem.js'
import { ref } from './shapes.js'

export const header = (description: string, example: string, required = true) => ({
  description,
  required,
  schema: { type: 'string' },
  example,
})

const ETag = header('A weak entity tag of the document.', 'W/"2jmj7l5rSw0yVb_vlWAYkK_YBwk"')

/** The headers of documents that clients may cache. */
export const cacheHeaders = {
  ETag,
  Vary: header('Request headers that the response depends on.', 'Accept, Accept-Encoding'),
  'Cache-Control': header(
    'Clients may cache the response, and must revalidate it before each use.',
    'private, no-cache',
  ),
}

const applied = header('The preference of `Prefer` that was applied.', 'wait=30', false)

/** A response with a JSON:API document. */
export const documentResponse = (
  description: string,
  schema: string,
  headers: object = cacheHeaders,
) => ({
  description,
  headers,
  content: { [JSON_API]: { schema: ref(schema) } },
})

const lineOf = (description: string, ...required: readonly string[]) => ({
  type: 'object',
  description,
  properties: Object.fromEntries(required.map((name) => [name, {}])),
  required,
})

const list = { ...cacheHeaders, 'Preference-Applied': applied }

/** OpenAPI 3.1, "Response Object": all responses of the events endpoints other than errors. */
export const responses = {
  EventList: documentResponse('All matching events.', 'EventList', list),
  PartOfEventList: documentResponse(
    'Some of the matching events: there are more than the limit.',
    'EventList',
    list,
  ),
  Event: documentResponse('The event.', 'EventDocument'),
  Created: {
    description: 'The event was created. The response has no body.',
    headers: {
      Location: {
        description: 'The path of the event.',
        schema: { type: 'string', format: 'uri-reference' },
      },
      'Consistency-Token': header(
        'A read with this token has the event, whichever process answers it.',
        '2026-11-21T04:07:19.088118Z',
      ),
    },
  },
  NotModified: {
    description: 'The client already has the current document. The response has no body.',
    headers: cacheHeaders,
  },
  EventStream: {
    description: 'Events as they become visible. The response does not end.',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  },
  Counts: documentResponse('The counts.', 'Counts'),
  History: documentResponse('All changes of the resource until `as_of`.', 'History'),
  PartOfHistory: documentResponse(
    'The latest changes of the resource until `as_of`: there are more than the limit.',
    'History',
  ),
  Groups: documentResponse('The groups.', 'Groups'),
  Export: {
    description:
      'The events, sent while they are read. For JSON lines the schema describes one line.',
    headers: {
      'Content-Disposition': header(
        'The name of the file.',
        'attachment; filename="events-2026-11-20T130600Z.ndjson"',
      ),
      'X-Total-Count': header('Number of matching events.', '1834', false),
      'X-Total-Count-At-Least': header(
        'A lower bound of the number of matching events. Replaces `X-Total-Count` when an exact count takes too long.',
        '18340000',
        false,
      ),
      'X-Export-Until': header(
        '`created_at` of the newest event that the export may contain. With `filter[created_at_lteq]` a later export ends there too.',
        '2026-11-20T13:05:52.418114Z',
      ),
      Vary: header('Request headers that the response depends on.', 'Accept'),
      'Cache-Control': header('The response must not be cached.', 'no-store'),
    },
    content: {
      'application/x-ndjson': {
        schema: {
          anyOf: [
            ref('ExportedEvent'),
            lineOf('A CloudEvent: format=cloudevents.', 'specversion', 'data'),
            lineOf('An event of OCSF: format=ocsf.', 'class_uid', 'metadata'),
            lineOf('A request of OTLP with one log record: format=otlp.', 'resourceLogs'),
          ],
        },
      },
      'text/csv': { schema: { type: 'string' } },
      'application/vnd.apache.parquet': { schema: { type: 'string', format: 'binary' } },
    },
  },
  Report: documentResponse('The events and the digest of their export.', 'Report'),
  EventTypeList: documentResponse('The event types.', 'EventTypeList', {
    ...cacheHeaders,
    'Content-Language': header('The language of the sentences.', 'en'),
  }),
  User: documentResponse('The authenticated user.', 'UserDocument'),
  Description: {
    description: 'An OpenAPI 3.1 document.',
    headers: cacheHeaders,
    content: { 'application/json': { schema: { type: 'object' } } },
  },
} as const

export type ResponseName = keyof typeof responses
