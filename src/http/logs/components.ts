import { parameters as eventsParameters } from '../events/route-parameters.js'
import { documentResponse, header, responses as eventsResponses } from '../openapi/responses.js'
import type { componentSchemas } from '../openapi/schemas.js'
import { closedObject, links, listOf, object, path, queryLinks, ref } from '../openapi/shapes.js'

const text = { type: 'string' } as const

/** OpenAPI 3.1, "Parameter Object", by the keys that routes use. */
export const parameters = {
  ...eventsParameters,
  logs: {
    name: 'logs[]',
    in: 'query',
    required: true,
    description: 'The keys of 1 to 100 logs. A single one may be written `logs=acme`.',
    schema: { type: 'array', items: text, minItems: 1, maxItems: 100 },
    style: 'form',
    explode: true,
    example: ['acme', 'umbrella'],
  },
  cursor: {
    name: 'cursor',
    in: 'query',
    description:
      'Continues after what the client has: the text from `links.prev`, `links.next`, `meta.cursor`, `X-Export-Until` or the `id` of a message.',
    schema: text,
  },
  until: {
    name: 'until',
    in: 'query',
    description:
      'Only events up to this cursor: the text of `meta.cursor`, `X-Export-Until` or the `id` of a message.',
    schema: text,
  },
  ignoredChanges: {
    name: 'changes',
    in: 'query',
    description:
      'Accepted, without effect: changes of live events are sent by the stream of one log only.',
    schema: { type: 'boolean' },
  },
  search: {
    name: 'search',
    in: 'query',
    description: 'Only logs whose key contains this text; case is ignored.',
    schema: text,
  },
  afterKey: {
    name: 'after',
    in: 'query',
    description: 'Only logs whose key comes after this one.',
    schema: text,
  },
  keysLimit: {
    name: 'limit',
    in: 'query',
    description: 'Maximum number of logs.',
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  },
  'Last-Event-ID': {
    name: 'Last-Event-ID',
    in: 'header',
    description:
      'The `id` of the last message that the client received. Takes precedence over `cursor`.',
    schema: text,
  },
} as const

export type LogsParameterName = keyof typeof parameters

export const responses = {
  ...eventsResponses,
  Export: {
    ...eventsResponses.Export,
    headers: {
      ...eventsResponses.Export.headers,
      'X-Export-Until': header(
        'A cursor: how far the export goes in each log. With `until`, a later export ends there too.',
        'AQ7Zb1LvT2s9gAZWd1hJ6A',
      ),
    },
  },
  LogList: documentResponse('All logs that the user may read.', 'LogList'),
  PartOfLogList: documentResponse('Some of the logs: there are more than the limit.', 'LogList'),
} as const

export type LogsResponseName = keyof typeof responses

/** OpenAPI 3.1, "Schema Object". `events` are those of the endpoints of one log. */
export function schemasOf(
  events: ReturnType<typeof componentSchemas>,
): Readonly<Record<string, object>> {
  const { Event, ExportedEvent, HistoryEvent } = events
  const log = { ...text, description: 'The key of the log.' }
  const live = {
    const: true,
    description: 'The live event is still open: its attributes may change.',
  }
  return {
    ...events,
    Event: {
      ...Event,
      properties: {
        ...Event.properties,
        meta: object({ log, live }, ['log']),
      },
      required: [...Event.required, 'meta'],
    },
    ExportedEvent: {
      ...ExportedEvent,
      properties: { log, ...ExportedEvent.properties },
      required: ['log', ...ExportedEvent.required],
    },
    HistoryEvent: {
      ...HistoryEvent,
      properties: {
        ...HistoryEvent.properties,
        meta: closedObject({ log, ...HistoryEvent.properties.meta.properties }),
      },
    },
    EventList: closedObject({
      jsonapi: ref('JsonApi'),
      data: listOf(ref('Event')),
      links: queryLinks('self', 'prev', 'next'),
      meta: object(
        {
          cursor: {
            ...text,
            description: 'A cursor for the stream: what becomes visible from now on.',
          },
          ...events.EventList.properties.meta.properties,
        },
        ['cursor'],
      ),
    }),
    LogList: closedObject({
      jsonapi: ref('JsonApi'),
      data: listOf(
        closedObject({
          type: { const: 'log' },
          id: { ...text, description: 'The key of the log.' },
          relationships: closedObject({
            events: closedObject({ links: closedObject({ related: path }) }),
          }),
        }),
      ),
      links: links('self', 'next'),
    }),
  }
}
