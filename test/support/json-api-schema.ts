/*
 * JSON:API 1.1, "Document Structure", as a JSON Schema. It gives way in what the service's interface
 * asks for, and nowhere else:
 * - attributes may be called `type`, as the type of an event is;
 * - the relationship `source` has a link of its own name, not `self` or `related`;
 * - links hold square brackets as the client sent them, which a URI reference has to encode;
 * - names of attributes are what was recorded, whatever characters they are made of.
 */

const text = { type: 'string' } as const
const meta = { type: 'object' } as const

const object = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...more,
})

/** A URI reference that may contain square brackets. The caller defines the format when compiling the schema. */
export const LINK_FORMAT = 'link'

const reference = { type: 'string', format: LINK_FORMAT } as const
const hreflang = { oneOf: [text, { type: 'array', items: text }] }
const linkObject = object(
  { href: reference, rel: text, describedby: reference, title: text, type: text, hreflang, meta },
  { required: ['href'] },
)
const link = { anyOf: [reference, { type: 'null' }, linkObject] }

const linksOf = (...names: readonly string[]) =>
  object(Object.fromEntries(names.map((name) => [name, link])))

const PAGES = ['first', 'last', 'prev', 'next']

const identifier = object({ type: text, id: text, meta }, { required: ['type', 'id'] })
const linkage = {
  anyOf: [{ type: 'null' }, identifier, { type: 'array', items: identifier, uniqueItems: true }],
}

const relationship = object(
  { links: { ...linksOf('self', 'related', ...PAGES), minProperties: 1 }, data: linkage, meta },
  { minProperties: 1 },
)
const source = object({ links: { ...linksOf('source'), minProperties: 1 } }, { minProperties: 1 })

const MEMBER_NAME =
  '^[a-zA-Z0-9\u0080-\uffff](?:[-_ a-zA-Z0-9\u0080-\uffff]*[a-zA-Z0-9\u0080-\uffff])?$'

const resource = object(
  {
    type: { type: 'string', pattern: MEMBER_NAME },
    id: text,
    attributes: { type: 'object', properties: { id: false } },
    relationships: {
      type: 'object',
      propertyNames: { pattern: MEMBER_NAME, not: { enum: ['id', 'type'] } },
      properties: { source },
      additionalProperties: relationship,
    },
    links: linksOf('self'),
    meta,
  },
  { required: ['type', 'id'] },
)

const error = object(
  {
    id: text,
    links: linksOf('about', 'type'),
    status: { type: 'string', pattern: '^[45]\\d\\d$' },
    code: text,
    title: text,
    detail: text,
    source: object({
      pointer: { type: 'string', format: 'json-pointer' },
      parameter: text,
      header: text,
    }),
    meta,
  },
  { minProperties: 1 },
)

const everywhere = {
  jsonapi: object({ version: text, ext: { type: 'array' }, profile: { type: 'array' }, meta }),
  links: linksOf('self', 'related', 'describedby', ...PAGES),
  meta,
}

const primary = {
  anyOf: [{ type: 'null' }, resource, { type: 'array', items: resource }],
}

/** The schema of the documents of responses. */
export const jsonApiSchema = {
  anyOf: [
    object(
      { ...everywhere, data: primary, included: { type: 'array', items: resource } },
      {
        required: ['data'],
      },
    ),
    object(
      { ...everywhere, errors: { type: 'array', items: error, minItems: 1 } },
      {
        required: ['errors'],
      },
    ),
    object(everywhere, { required: ['meta'] }),
  ],
}
