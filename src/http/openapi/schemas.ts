import type { EventTypes } from '../../event-types.js'
import { LINK_ATTRIBUTES, type LinkAttribute, linkForm } from '../../links.js'
import { jsonapi } from '../problem.js'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` }) as const

const text = { type: 'string' } as const
const path = { type: 'string', description: 'A path, and a query where there is one.' } as const
const created_at = {
  type: 'string',
  format: 'date-time',
  pattern: '\\.\\d{6}Z$',
  description: 'When the event became visible: UTC, microseconds; no two events have the same.',
} as const
const type = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'What happened; custom events may have any type.',
} as const

function linkSchema(attribute: LinkAttribute) {
  const { expected, pattern } = linkForm(attribute)
  return {
    type: ['string', 'null'],
    ...(pattern === undefined ? { format: 'uuid' } : { pattern }),
    description: `Links the event to a resource: ${expected}.`,
  }
}

const object = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const links = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, path])),
  required: ['self'],
  additionalProperties: false,
})

const document = (data: object, ...linkNames: readonly string[]) =>
  object({ jsonapi: ref('JsonApi'), data, links: links(...linkNames) }, [
    'jsonapi',
    'data',
    'links',
  ])

/** The type, what it says, and the attributes that its events are known to have. */
function systemType([name, { description, data }]: readonly [string, EventTypes[string]]) {
  const names = data !== undefined && !('~standard' in data) ? data : undefined
  return {
    const: name,
    ...(description !== undefined && { description }),
    ...(names && { 'x-attributes': names }),
  }
}

/** OpenAPI 3.1, "Schema Object" (JSON Schema 2020-12): what the endpoints take and give. */
export function componentSchemas(types: EventTypes) {
  return {
    JsonApi: object({ version: { const: jsonapi.version } }, ['version']),
    SystemEventType: {
      type: 'string',
      description: 'The types of the events that the service records itself.',
      oneOf: Object.entries(types).map(systemType),
    },
    EventAttributes: {
      type: 'object',
      description:
        'Attributes vary with the type, and hold any JSON. With a fieldset, those that were asked for.',
      properties: {
        type: { ...type, anyOf: [ref('SystemEventType'), text] },
        username: { type: ['string', 'null'], description: 'The user who asked, if one did.' },
        system: {
          type: 'boolean',
          description: 'True where the service recorded the event, false for custom ones.',
        },
        created_at,
      },
      additionalProperties: true,
    },
    Event: object(
      {
        type: { const: 'event' },
        id: { type: 'string', format: 'uuid' },
        attributes: ref('EventAttributes'),
        relationships: object(
          { source: object({ links: object({ source: path }, ['source']) }, ['links']) },
          ['source'],
        ),
        links: links('self'),
      },
      ['type', 'id', 'attributes', 'links'],
    ),
    EventDocument: document(ref('Event'), 'self'),
    EventList: document({ type: 'array', items: ref('Event') }, 'self', 'prev'),
    NewEventDocument: {
      type: 'object',
      description: 'Members beside `data`, and others within, are ignored.',
      properties: {
        data: {
          type: 'object',
          properties: {
            type: { enum: ['Event', 'event'] },
            attributes: {
              type: 'object',
              properties: {
                type,
                ...Object.fromEntries(
                  LINK_ATTRIBUTES.map((attribute) => [attribute, linkSchema(attribute)]),
                ),
                id: false,
                username: false,
                system: false,
                created_at: false,
              },
              required: ['type'],
              additionalProperties: true,
            },
            id: false,
          },
          required: ['type', 'attributes'],
        },
      },
      required: ['data'],
    },
  }
}
