import { closedObject, count, flag, links, listOf, object, ref, text } from './shapes.js'

const operations = (description: string) => ({
  type: ['array', 'null'],
  items: {
    type: 'object',
    properties: { op: text, path: text },
    required: ['op', 'path'],
    additionalProperties: true,
  },
  description,
})

const change = object(
  {
    known: {
      ...flag,
      description: 'Whether the events that the user may see give the state after the change.',
    },
    state: {
      description:
        'The state after the change; null if the resource does not exist after it, and if the state is not known.',
    },
    patch: operations(
      'The change as JSON Patch (RFC 6902); null if the event holds only a part of it.',
    ),
    revert: operations(
      'The JSON Patch that undoes the change, with a `test` for each value that the change has set; null if it ' +
        'cannot be undone.',
    ),
    not_revertible: { ...text, description: 'Why the change cannot be undone.' },
  },
  ['known', 'state', 'patch', 'revert'],
)

/** The schemas of `GET <path>/history`; `event` has the properties of an event that a history does not replace. */
export const historySchemas = <Members extends object>(event: Members) => ({
  HistoryEvent: object({ ...event, meta: closedObject({ change }) }, [
    'type',
    'id',
    'attributes',
    'links',
    'meta',
  ]),
  History: closedObject({
    jsonapi: ref('JsonApi'),
    data: listOf(ref('HistoryEvent')),
    links: links('self', 'prev'),
    meta: closedObject({
      total: { ...count, description: 'The number of all changes until `as_of`.' },
      restricted: {
        ...flag,
        description:
          'True if the user sees only a part of the log. Changes that the user may not see are missing from the states.',
      },
    }),
  }),
})
