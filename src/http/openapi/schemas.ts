import type { EventTypes } from '../../event/event-types.js'
import { linkRules, type LinkRule, type LinkTable } from '../../event/links.js'
import { jsonapi } from '../problem.js'
import { countsSchemas } from './counts-schemas.js'
import { reportSchemas } from './report-schemas.js'
import { historySchemas } from './history-schemas.js'
import { groupsSchemas } from './groups-schemas.js'
import {
  document,
  flag,
  links,
  queryLinks,
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
  description: 'When the event became visible, in UTC with microseconds; unique per event.',
} as const
const type = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'The event type; custom events may have any type.',
} as const

function linkSchema({ expected, schema }: LinkRule) {
  return {
    ...schema,
    type: [schema.type, 'null'].flat(),
    description: `Links the event to a resource: ${expected}.`,
  }
}

/** The name, description and declared attributes of a registered type. */
function systemType([name, { description, data }]: readonly [string, EventTypes[string]]) {
  const names = data !== undefined && !('~standard' in data) ? data : undefined
  return {
    const: name,
    ...(description !== undefined && { description }),
    ...(names && { 'x-attributes': names }),
  }
}

const username = { ...textOrNull, description: 'The user who caused the event, or null.' }
const system = {
  ...flag,
  description: 'True if the service recorded the event, false for custom events.',
}
const id = { type: 'string', format: 'uuid' } as const

/** A date-fns `Duration`. */
const period = { type: ['object', 'null'], additionalProperties: { type: 'number' } } as const

const customType = closedObject({
  type: {
    ...text,
    description:
      'The type, or the beginning of types before `*`: `aws:ec2:*`. The longest beginning counts.',
  },
  label: { ...textOrNull, description: 'The log that the events come from.' },
  description: textOrNull,
  sentence: textOrNull,
})

const eventType = closedObject({
  type: { const: 'event_type' },
  id: { ...text, description: 'The event type.' },
  attributes: closedObject({
    area: { ...textOrNull, description: 'The heading under which catalogs list the type.' },
    description: textOrNull,
    data: {
      type: ['array', 'null'],
      items: text,
      description: 'The declared attributes of its events.',
    },
    live: {
      ...flag,
      description: 'True if the attributes of an event change until the event is closed.',
    },
    throttle: {
      description: 'At most one event per period and per value of the attributes in `scope`.',
      anyOf: [
        { type: 'null' },
        closedObject({ period: { ...period, type: 'object' }, scope: listOf(text) }),
      ],
    },
    cadence: { ...period, description: 'How often the event is recorded by default.' },
    only_while: { ...textOrNull, description: 'The setting that must be on.' },
    source: {
      ...textOrNull,
      description: 'The template of the source of its events, if link attributes do not give it.',
    },
    sentence: {
      ...textOrNull,
      description: 'The template of the sentence that describes its events.',
    },
  }),
})

const user = (actions: readonly string[]) =>
  closedObject({
    type: { const: 'user' },
    id: { ...text, description: 'The name of the user.' },
    attributes: closedObject({
      may: closedObject(Object.fromEntries(actions.map((action) => [action, flag]))),
      restricted: { ...flag, description: 'True if the user sees only a part of the log.' },
    }),
  })

const listWarning = {
  ...closedObject({ detail: text, source: closedObject({ parameter: text }) }),
  description: 'A sort by an attribute that no event has.',
}

/** The members of an Event resource, without `meta`. */
const eventMembers = {
  type: { const: 'event' },
  id,
  attributes: ref('EventAttributes'),
  relationships: object(
    { source: object({ links: object({ source: path }, ['source']) }, ['links']) },
    ['source'],
  ),
  links: links('self'),
}

/** The body of `POST <path>`. */
const newEventDocument = (table: LinkTable) => ({
  type: 'object',
  description: 'Other members, beside and within `data`, are ignored.',
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
              Array.from(linkRules(table), ([attribute, rule]) => [attribute, linkSchema(rule)]),
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
})

/** OpenAPI 3.1, "Schema Object" (JSON Schema 2020-12): the request and response bodies. */
export function componentSchemas(
  { types, links: table }: { readonly types: EventTypes; readonly links: LinkTable },
  actions: readonly string[],
) {
  return {
    JsonApi: closedObject({ version: { const: jsonapi.version } }),
    SystemEventType: {
      type: 'string',
      description: 'The types of system events.',
      oneOf: Object.entries(types).map(systemType),
    },
    EventAttributes: {
      type: 'object',
      description:
        'Attributes depend on the event type and may contain any JSON. A fieldset selects some of them.',
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
        ...eventMembers,
        meta: closedObject({
          live: {
            const: true,
            description: 'The live event is still open: its attributes may change.',
          },
        }),
      },
      ['type', 'id', 'attributes', 'links'],
    ),
    EventDocument: document(ref('Event'), 'self'),
    EventList: object(
      {
        jsonapi: ref('JsonApi'),
        data: listOf(ref('Event')),
        links: queryLinks('self', 'prev'),
        meta: closedObject({ warnings: listOf(listWarning) }),
      },
      ['jsonapi', 'data', 'links'],
    ),
    ExportedEvent: closedObject({
      id,
      created_at,
      username,
      system,
      type,
      source: { ...textOrNull, description: 'The path of the related resource.' },
      attributes: { type: 'object' },
    }),
    EventTypeList: object(
      {
        jsonapi: ref('JsonApi'),
        data: listOf(eventType),
        links: links('self'),
        meta: closedObject({ custom_types: listOf(customType) }),
      },
      ['jsonapi', 'data', 'links', 'meta'],
    ),
    UserDocument: document(user(actions), 'self'),
    ...countsSchemas,
    ...reportSchemas,
    ...historySchemas(eventMembers),
    ...groupsSchemas,
    NewEventDocument: newEventDocument(table),
  }
}
