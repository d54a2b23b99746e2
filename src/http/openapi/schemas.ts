import type { EventTypes } from '../../event/event-types.js'
import { LINK_ATTRIBUTES, type LinkAttribute, linkForm } from '../../event/links.js'
import { jsonapi } from '../problem.js'
import { countsSchemas } from './counts-schemas.js'
import {
  document,
  flag,
  links,
  listOf,
  object,
  path,
  ref,
  text,
  textOrNull,
  closedObject,
} from './shapes.js'

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

/** The type, what it says, and the attributes that its events are known to have. */
function systemType([name, { description, data }]: readonly [string, EventTypes[string]]) {
  const names = data !== undefined && !('~standard' in data) ? data : undefined
  return {
    const: name,
    ...(description !== undefined && { description }),
    ...(names && { 'x-attributes': names }),
  }
}

const username = { ...textOrNull, description: 'The user who asked, if one did.' }
const system = {
  ...flag,
  description: 'True where the service recorded the event, false for custom ones.',
}
const id = { type: 'string', format: 'uuid' } as const

/** A date-fns `Duration`. */
const period = { type: ['object', 'null'], additionalProperties: { type: 'number' } } as const

const eventType = closedObject({
  type: { const: 'event_type' },
  id: { ...text, description: 'The type.' },
  attributes: closedObject({
    area: { ...textOrNull, description: 'The heading under which catalogues list it.' },
    description: textOrNull,
    data: {
      type: ['array', 'null'],
      items: text,
      description: 'The attributes that its events are known to have.',
    },
    live: { ...flag, description: 'True where attributes go on changing while the work goes on.' },
    throttle: {
      description: 'At most one event per period, and per value of the attributes in `scope`.',
      anyOf: [
        { type: 'null' },
        closedObject({ period: { ...period, type: 'object' }, scope: listOf(text) }),
      ],
    },
    cadence: { ...period, description: 'How often it is recorded, unless the settings differ.' },
    only_while: { ...textOrNull, description: 'The setting that has to be on.' },
    sentence: { ...textOrNull, description: 'The template of the sentence that tells its events.' },
  }),
})

const user = (actions: readonly string[]) =>
  closedObject({
    type: { const: 'user' },
    id: { ...text, description: 'The name of the user.' },
    attributes: closedObject({
      may: closedObject(Object.fromEntries(actions.map((action) => [action, flag]))),
      restricted: { ...flag, description: 'True where the user sees only a part of the log.' },
    }),
  })

/** OpenAPI 3.1, "Schema Object" (JSON Schema 2020-12): what the endpoints take and give. */
export function componentSchemas(types: EventTypes, actions: readonly string[]) {
  return {
    JsonApi: closedObject({ version: { const: jsonapi.version } }),
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
        username,
        system,
        created_at,
      },
      additionalProperties: true,
    },
    Event: object(
      {
        type: { const: 'event' },
        id,
        attributes: ref('EventAttributes'),
        relationships: object(
          { source: object({ links: object({ source: path }, ['source']) }, ['links']) },
          ['source'],
        ),
        links: links('self'),
        meta: closedObject({
          live: { const: true, description: 'The event is open: its attributes go on changing.' },
        }),
      },
      ['type', 'id', 'attributes', 'links'],
    ),
    EventDocument: document(ref('Event'), 'self'),
    EventList: document(listOf(ref('Event')), 'self', 'prev'),
    ExportedEvent: closedObject({
      id,
      created_at,
      username,
      system,
      type,
      source: { ...textOrNull, description: 'The path of the resource that it relates to.' },
      attributes: { type: 'object' },
    }),
    EventTypeList: document(listOf(eventType), 'self'),
    UserDocument: document(user(actions), 'self'),
    ...countsSchemas,
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
