import { EXPORT_FORMATS } from '../../exporting/formats.js'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../filter/ast.js'
import { type Predicate, predicates } from '../../filter/predicates.js'
import { COUNT_RANGES, FACETS_PARAMETER } from './counts-request.js'
import { FIELDS } from './fieldset.js'
import { HISTORY_LIMIT } from './history-request.js'
import { GROUP_RANGES } from './groups-request.js'
import type { IntegerRange } from '../parameters.js'

/** OpenAPI 3.1, "Parameter Object" or "Schema Object". */
type OpenApiObject = Readonly<Record<string, unknown>>

const text = { type: 'string' } as const
const texts = { type: 'array', items: text } as const
const oneOrMore = { oneOf: [text, texts] } as const

const VALUES: Readonly<Record<Predicate['takes'], { schema: OpenApiObject; description: string }>> =
  {
    one: { schema: text, description: 'Predicates that take one value' },
    list: {
      schema: oneOrMore,
      description: 'Predicates that take a list, written with `[]`, with `[0]` or repeated',
    },
    flag: {
      schema: text,
      description:
        'Predicates that any value applies, except `0 f F false FALSE`, which invert them',
    },
  }

const KINDS = Object.keys(VALUES) as Predicate['takes'][]

const namesOf = (kind: Predicate['takes']): string[] =>
  [...predicates.values()].filter(({ takes }) => takes === kind).map(({ name }) => name)

const conditions = Object.fromEntries(
  KINDS.map((kind) => [`_(?:${namesOf(kind).join('|')})$`, VALUES[kind].schema]),
)

const filter = {
  name: 'filter',
  in: 'query',
  style: 'deepObject',
  explode: true,
  description: [
    'Conditions, written `filter[<attribute>_<predicate>]=<value>`; square brackets need no encoding.',
    'Any attribute of events can be used, nested names joined by `_`: ' +
      '`filter[request_body_action_eq]=deploy`. `a_or_b_eq` and `a_and_b_eq` test several attributes.',
    ...KINDS.map((kind) => `${VALUES[kind].description}: ${namesOf(kind).join(', ')}.`),
    'An event must match all conditions, or any with `filter[m]=or`. `filter[g][0][…]` groups conditions, ' +
      '`filter[c][0][a|p|v|m]` writes one condition in parts.',
    '`filter[sorts]=<attribute> <asc|desc>`, repeated with `[]` for several, sets the order.',
  ].join('\n\n'),
  schema: {
    type: 'object',
    properties: {
      m: { enum: ['and', 'or'], default: 'and' },
      sorts: oneOrMore,
      s: { description: 'The same as `sorts`.' },
      g: { description: 'Groups of conditions.' },
      c: { description: 'Conditions in parts.' },
    },
    patternProperties: conditions,
    additionalProperties: false,
  },
  example: { type_start: 'api:', created_at_gt: '2026-11-01T00:00:00Z', sorts: 'created_at desc' },
}

const header = (
  name: string,
  description: string,
  schema: OpenApiObject,
  more = {},
): OpenApiObject => ({
  name,
  in: 'header',
  description,
  schema,
  ...more,
})

const query = (
  name: string,
  description: string,
  schema: OpenApiObject,
  more = {},
): OpenApiObject => ({
  name,
  in: 'query',
  description,
  schema,
  ...more,
})

const integer = ({ min, max, default: defaultValue }: IntegerRange): OpenApiObject => ({
  type: 'integer',
  minimum: min,
  maximum: max,
  default: defaultValue,
})

/** All parameters of the events endpoints, by the keys that routes use. */
export const parameters = {
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id of the event.',
    schema: { type: 'string', format: 'uuid' },
  },
  filter,
  q: query(
    'q',
    'Words and phrases that must all occur in texts of the event: its type, username and source and all texts in its ' +
      'attributes. Each may be a part of a text; case is ignored. The id is found by the whole of it. A phrase stands in quotation marks; a minus ' +
      'before a word or phrase excludes events. Repeated parameters must all match.',
    oneOrMore,
    { style: 'form', explode: true, example: 'deploy "by hand" -staging' },
  ),
  limit: query(
    'limit',
    `Maximum number of events in the response; a value above ${MAX_LIMIT} counts as ${MAX_LIMIT}.`,
    {
      type: 'integer',
      minimum: 1,
      default: DEFAULT_LIMIT,
    },
  ),
  fields: query(
    FIELDS,
    'The attributes and relationships to return. Default: all; none if the value is empty.',
    texts,
    { style: 'form', explode: false, example: ['type', 'username', 'created_at'] },
  ),
  after: query(
    'after',
    'An ISO 8601 time: send events after it. Default: events from now on.',
    text,
    { example: '2026-11-21T04:07:19.088118Z' },
  ),
  changes: query(
    'changes',
    'Also send the changes of live events as JSON Patch (RFC 6902), in messages named `change`.',
    { type: 'boolean', default: false },
  ),
  buckets: query(
    'buckets',
    'Maximum number of time buckets; 0 for none.',
    integer(COUNT_RANGES.buckets),
  ),
  zone: query(
    'zone',
    'The IANA time zone to which the buckets are aligned.',
    { type: 'string', default: 'UTC' },
    { example: 'Europe/Berlin' },
  ),
  facets: query(
    `${FACETS_PARAMETER}[]`,
    'Attributes, named as in filters, or `level`: return their most frequent values. Each facet ignores ' +
      'the conditions of the filter on its own attribute. A single one may be written `facets=type`.',
    texts,
    { style: 'form', explode: true, example: ['level', 'type'] },
  ),
  top: query('top', 'Maximum number of values per facet.', integer(COUNT_RANGES.top)),
  by: query(
    'by[]',
    'One or two attributes, named as in filters, or `level`: group the events by their values. A single one may be ' +
      'written `by=type`.',
    texts,
    { style: 'form', explode: true, required: true, example: ['type', 'username'] },
  ),
  numbers: query(
    'numbers[]',
    'At most 5 attributes, named as in filters: return percentiles of their numbers in each group.',
    texts,
    { style: 'form', explode: true, example: ['duration_ms'] },
  ),
  groupBuckets: query(
    'buckets',
    'Maximum number of time buckets of each group; 0 for none.',
    integer(GROUP_RANGES.buckets),
  ),
  groupTop: query('top', 'Maximum number of groups.', integer(GROUP_RANGES.top)),
  attributes: query(
    'attributes',
    'Also return the names of the attributes that occur, with their types and some values.',
    { type: 'boolean', default: false },
  ),
  format: query(
    'format',
    'The file format. Default: the `Accept` header decides; without it the first format.',
    { enum: EXPORT_FORMATS },
  ),
  columns: query(
    FIELDS,
    'With `format=csv` or `parquet`: attributes that get a column each, named as in filters. Without it, and always in ' +
      'Parquet, one column has all attributes as JSON.',
    texts,
    { style: 'form', explode: false, example: ['name', 'url_params_project_code'] },
  ),
  source: query(
    'source',
    'The path of the resource, as the source of its events has it. Either this or `resource` is required.',
    text,
    { example: '/api/orders/17' },
  ),
  resource: query(
    'resource',
    'Attributes that identify the resource, named as in filters: `resource[order_id]=A-17`. Replaces `source`.',
    { type: 'object', minProperties: 1, additionalProperties: text },
    { style: 'deepObject', explode: true, example: { order_id: 'A-17' } },
  ),
  as_of: query('as_of', 'An ISO 8601 time: leave out later changes. Default: now.', text, {
    example: '2026-11-21T04:07:19Z',
  }),
  historyLimit: query(
    'limit',
    'Maximum number of changes in the response.',
    integer(HISTORY_LIMIT),
  ),
  'Last-Event-ID': header(
    'Last-Event-ID',
    'The `id` of the last event that the client received: the stream continues after it, even if that ' +
      'event has been deleted. Takes precedence over `after`.',
    text,
  ),
  Prefer: header(
    'Prefer',
    '`wait=<seconds>`, at most 60: if nothing matches yet, delay the response until an event does ' +
      '(RFC 7240).',
    text,
    { example: 'wait=30' },
  ),
  'Accept-Language': header(
    'Accept-Language',
    'The preferred languages of the sentences, `en` or `de` (RFC 9110).',
    text,
    { example: 'de-AT, en;q=0.5' },
  ),
  'If-None-Match': header(
    'If-None-Match',
    'Entity tags of cached responses: the response is 304 if one of them is still current.',
    text,
  ),
  'Consistency-Token': header(
    'Consistency-Token',
    'That of an earlier response, or the `created_at` of an event: the response is not older than the state with that ' +
      'event. If the log is not that far, the status is 412.',
    text,
    { example: '2026-11-21T04:07:19.088118Z' },
  ),
  'Idempotency-Key': header(
    'Idempotency-Key',
    'Visible ASCII, unique per event and kept for 24 hours: a repeated request with the same key creates ' +
      'no second event and gets the first response.',
    { type: 'string', pattern: '^[!-~]{1,255}$' },
  ),
} as const satisfies Record<string, OpenApiObject>

export type ParameterName = keyof typeof parameters
