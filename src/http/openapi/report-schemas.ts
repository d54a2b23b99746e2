import { closedObject, count, links, listOf, path, ref, text } from './shapes.js'

/** The schema of `GET <path>/report`. */
export const reportSchemas = {
  Report: closedObject({
    jsonapi: ref('JsonApi'),
    data: listOf(ref('Event')),
    links: links('self'),
    meta: closedObject({
      username: { ...text, description: 'The user who requested the report.' },
      total: { ...count, description: 'Number of events in the report.' },
      as_of: {
        ...text,
        description:
          '`created_at` of the newest event in the report; without events, the time of the report.',
      },
      bytes: { ...count, description: 'Size of the export as JSON lines.' },
      sha256: {
        type: 'string',
        pattern: '^[0-9a-f]{64}$',
        description: 'SHA-256 digest of the export as JSON lines.',
      },
      export: { ...path, description: 'The export: the same query with a fixed end.' },
    }),
  }),
}
