import { DEFAULT_LIMIT, MAX_LIMIT } from '../../filter/ast.js'
import { type Predicate, predicates } from '../../filter/predicates.js'
import { COUNTS, FACETS } from './counts-request.js'
import { EXPORT_FORMATS } from './export-formats.js'
import { FIELDS } from './fieldset.js'
import type { IntegerRange } from '../parameters.js'

/** OpenAPI 3.1, "Parameter Object" and "Schema Object"; what they hold is the document's business. */
type Describing = Readonly<Record<string, unknown>>

const text = { type: 'string' } as const
const texts = { type: 'array', items: text } as const
const oneOrMore = { oneOf: [text, texts] } as const

const VALUES: Readonly<Record<Predicate['takes'], { schema: Describing; says: string }>> = {
  one: { schema: text, says: 'Predicates that take one value' },
  list: { schema: oneOrMore, says: 'Predicates that take a list, as `[]`, as `[0]` or repeated' },
  flag: {
    schema: text,
    says: 'Predicates that any value applies, but for `0 f F false FALSE`, which turn them round',
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
    'Conditions, written `filter[<attribute>_<predicate>]=<value>`; square brackets may be sent as they are.',
    'Attributes are those of the event and any other that events carry, nested names joined by `_`: ' +
      '`filter[request_body_action_eq]=deploy`. `a_or_b_eq` and `a_and_b_eq` test several.',
    ...KINDS.map((kind) => `${VALUES[kind].says}: ${namesOf(kind).join(', ')}.`),
    'All must hold, or one of them with `filter[m]=or`. `filter[g][0][…]` puts conditions in brackets, ' +
      '`filter[c][0][a|p|v|m]` writes one in parts.',
    '`filter[sorts]=<attribute> <asc|desc>`, repeated with `[]` for more, gives the order.',
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

const header = (name: string, description: string, schema: Describing, more = {}): Describing => ({
  name,
  in: 'header',
  description,
  schema,
  ...more,
})

const query = (name: string, description: string, schema: Describing, more = {}): Describing => ({
  name,
  in: 'query',
  description,
  schema,
  ...more,
})

const whole = ({ min, max, standard }: IntegerRange): Describing => ({
  type: 'integer',
  minimum: min,
  maximum: max,
  default: standard,
})

/** All parameters of the events endpoints, by the names that routes use. */
export const parameters = {
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id of the event.',
    schema: { type: 'string', format: 'uuid' },
  },
  filter,
  limit: query('limit', `Most events of an answer; more than ${MAX_LIMIT} counts as that.`, {
    type: 'integer',
    minimum: 1,
    default: DEFAULT_LIMIT,
  }),
  fields: query(
    FIELDS,
    'The attributes and relationships wanted; none where it is empty, all without it.',
    texts,
    { style: 'form', explode: false, example: ['type', 'username', 'created_at'] },
  ),
  after: query(
    'after',
    'An ISO 8601 time: follow what comes after it. Without it, what comes from now on.',
    text,
    { example: '2026-11-21T04:07:19.088118Z' },
  ),
  changes: query(
    'changes',
    'Send the changes of live events too, as JSON Patch (RFC 6902), in events called `change`.',
    { type: 'boolean', default: false },
  ),
  buckets: query(
    'buckets',
    'Most stretches of time that events are counted for; 0 for none.',
    whole(COUNTS.buckets),
  ),
  zone: query(
    'zone',
    'The IANA time zone in whose round times the stretches begin.',
    { type: 'string', default: 'UTC' },
    { example: 'Europe/Berlin' },
  ),
  facets: query(
    `${FACETS}[]`,
    'Attributes whose most frequent values are wanted, named as filters name them, and `level`. Each is ' +
      'counted as if the filter did not restrict it. One may be written `facets=type`.',
    texts,
    { style: 'form', explode: true, example: ['level', 'type'] },
  ),
  top: query('top', 'Most values of each of them.', whole(COUNTS.top)),
  attributes: query(
    'attributes',
    'Tell the names of attributes that occur, with types and a few values.',
    { type: 'boolean', default: false },
  ),
  format: query(
    'format',
    'How the file is written. Without it the header `Accept` decides; nothing said is the first.',
    { enum: EXPORT_FORMATS },
  ),
  columns: query(
    FIELDS,
    'With `format=csv`: attributes that have a column each, named as filters name them. Without it all ' +
      'are in one, as JSON.',
    texts,
    { style: 'form', explode: false, example: ['name', 'url_params_project_code'] },
  ),
  'Last-Event-ID': header(
    'Last-Event-ID',
    'The `id` of the last event that was seen: the stream goes on behind it, even where it is gone. ' +
      'Counts more than `after`.',
    text,
  ),
  Prefer: header(
    'Prefer',
    '`wait=<seconds>`, at most 60: where nothing matches yet, hold the answer back until something does ' +
      '(RFC 7240).',
    text,
    { example: 'wait=30' },
  ),
  'If-None-Match': header(
    'If-None-Match',
    'Entity tags of answers that the client has: 304 where one of them still holds.',
    text,
  ),
  'Idempotency-Key': header(
    'Idempotency-Key',
    'Visible ASCII, new with each event and kept for 24 hours: what is sent again with it creates no ' +
      'second event and has the first answer.',
    { type: 'string', pattern: '^[!-~]{1,255}$' },
  ),
} as const satisfies Record<string, Describing>

export type ParameterName = keyof typeof parameters
