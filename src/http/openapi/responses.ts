import { JSON_API } from '../problem.js'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` }) as const

const header = (description: string, example: string, required = true) => ({
  description,
  required,
  schema: { type: 'string' },
  example,
})

const ETag = header('A weak entity tag of the document.', 'W/"2jmj7l5rSw0yVb_vlWAYkK_YBwk"')

const variants = {
  ETag,
  Vary: header('Which headers the answer depends on.', 'Accept, Accept-Encoding'),
  'Cache-Control': header(
    'A client may keep the answer, and asks before it is used again.',
    'private, no-cache',
  ),
}

const applied = header('What was done of `Prefer`.', 'wait=30', false)

const document = (description: string, schema: string, headers: object = variants) => ({
  description,
  headers,
  content: { [JSON_API]: { schema: ref(schema) } },
})

const list = { ...variants, 'Preference-Applied': applied }

/** OpenAPI 3.1, "Response Object": all answers of the events endpoints that are no errors. */
export const responses = {
  EventList: document('All events that match.', 'EventList', list),
  PartOfEventList: document(
    'Some of the events that match: there are more than the limit.',
    'EventList',
    list,
  ),
  Event: document('The event.', 'EventDocument'),
  Created: {
    description: 'The event is created. There is no body.',
    headers: {
      Location: {
        description: 'The path of the event.',
        schema: { type: 'string', format: 'uri-reference' },
      },
    },
  },
  NotModified: {
    description: 'The client has the answer already. There is no body.',
    headers: variants,
  },
  EventStream: {
    description: 'Events as they become visible. The answer does not end.',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  },
  Counts: document('The figures.', 'Counts'),
  Export: {
    description: 'The events, as they are read. The schema of JSON lines is that of a line.',
    headers: {
      'Content-Disposition': header(
        'The name of the file.',
        'attachment; filename="events-2026-11-20T130600Z.ndjson"',
      ),
      'X-Total-Count': header('How many events match.', '1834', false),
      'X-Total-Count-Estimated': header(
        'About how many, in its place, where counting would take too long.',
        '18340000',
        false,
      ),
      Vary: header('Which headers the answer depends on.', 'Accept'),
      'Cache-Control': header('The answer is not to be kept.', 'no-store'),
    },
    content: {
      'application/x-ndjson': { schema: ref('ExportedEvent') },
      'text/csv': { schema: { type: 'string' } },
    },
  },
  EventTypeList: document('The types.', 'EventTypeList'),
  User: document('The user who asks.', 'UserDocument'),
  Description: {
    description: 'An OpenAPI 3.1 document.',
    headers: variants,
    content: { 'application/json': { schema: { type: 'object' } } },
  },
} as const

export type ResponseName = keyof typeof responses
