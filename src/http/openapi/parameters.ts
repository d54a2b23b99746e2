import { DEFAULT_BUCKETS, DEFAULT_TOP, MAX_BUCKETS, MAX_TOP } from '../../counting/count-options.js'
import { EXPORT_FORMATS } from '../../exporting/formats.js'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../filter/ast.js'
import { type Predicate, predicates } from '../../filter/predicates.js'
import { DEFAULT_TOP as DEFAULT_GROUPS } from '../../grouping/group-options.js'
import type { IntegerRange } from '../parameters.js'
import * as s from './shapes.js'

/* OpenAPI 3.1, "Parameter Object": the parameters of requests by the keys that routes use, and the ranges of numbers. */

export const COUNT_RANGES = {
  buckets: { min: 0, max: MAX_BUCKETS, default: DEFAULT_BUCKETS },
  top: { min: 1, max: MAX_TOP, default: DEFAULT_TOP },
} as const satisfies Record<string, IntegerRange>

export const GROUP_RANGES = {
  buckets: { min: 0, max: MAX_BUCKETS, default: 0 },
  top: { min: 1, max: MAX_TOP, default: DEFAULT_GROUPS },
} as const satisfies Record<string, IntegerRange>

/** A change may hold a whole state, so pages are smaller than in lists. */
export const HISTORY_LIMIT = { min: 1, max: 100, default: 20 } as const satisfies IntegerRange

/** Most logs in one request. */
export const MAX_LOGS = 100

/** The forms of personal attributes in responses, the default first. */
export const PERSONAL_FORMS = ['sealed', 'open', 'stored'] as const

/** The parameter of a fieldset in links and messages. */
export const FIELDS = 'fields[event]'

const texts = s.list(s.text())
const oneOrMore = { oneOf: [s.text(), texts] }

const integer = ({ min, max, default: defaultValue }: IntegerRange) => ({
  type: 'integer',
  minimum: min,
  maximum: max,
  default: defaultValue,
})

const parameter =
  (place: 'header' | 'path' | 'query', common: object = {}) =>
  (name: string, description: string, schema: object = s.text(), more: object = {}) => ({
    name,
    in: place,
    description,
    schema,
    ...common,
    ...more,
  })

const header = parameter('header')
const query = parameter('query')
/** A parameter that may be repeated. */
const repeated = parameter('query', { style: 'form', explode: true })
/** A parameter whose value is a list with commas. */
const listed = parameter('query', { style: 'form', explode: false })
/** A parameter with names in square brackets. */
const nested = parameter('query', { style: 'deepObject', explode: true })
const idOf = (what: string) =>
  parameter('path', { required: true })('id', `The id of the ${what}.`, s.id())

const KINDS: Readonly<Record<Predicate['takes'], { schema: object; description: string }>> = {
  one: { schema: s.text(), description: 'Predicates that take one value' },
  list: {
    schema: oneOrMore,
    description: 'Predicates that take a list, written with `[]`, with `[0]` or repeated',
  },
  flag: {
    schema: s.text(),
    description: 'Predicates that any value applies, except `0 f F false FALSE`, which invert them',
  },
}

/** The names of the predicates of each kind. */
const byKind = Object.entries(KINDS).map(([kind, { schema, description }]) => {
  const names = [...predicates.values()].filter(({ takes }) => takes === kind)
  return { schema, description, names: names.map(({ name }) => name) }
})

const filterSchema = {
  type: 'object',
  properties: {
    m: { enum: ['and', 'or'], default: 'and' },
    sorts: oneOrMore,
    s: { description: 'The same as `sorts`.' },
    g: { description: 'Groups of conditions.' },
    c: { description: 'Conditions in parts.' },
  },
  patternProperties: Object.fromEntries(
    byKind.map(({ schema, names }) => [`_(?:${names.join('|')})$`, schema]),
  ),
  additionalProperties: false,
}

const filterOf = (example: object, ...paragraphs: readonly string[]) =>
  nested('filter', paragraphs.join('\n\n'), filterSchema, { example })

const ifNoneMatch = header(
  'If-None-Match',
  'Entity tags of cached responses: the response is 304 if one of them is still current.',
)

/** The parameters of the endpoints of one log. */
export const parameters = {
  id: idOf('event'),
  filter: filterOf(
    { type_start: 'api:', created_at_gt: '2026-11-01T00:00:00Z', sorts: 'created_at desc' },
    'Conditions, written `filter[<attribute>_<predicate>]=<value>`; square brackets need no encoding.',
    'Any attribute of events can be used, nested names joined by `_`: ' +
      '`filter[request_body_action_eq]=deploy`. `a_or_b_eq` and `a_and_b_eq` test several attributes.',
    ...byKind.map(({ description, names }) => `${description}: ${names.join(', ')}.`),
    'An event must match all conditions, or any with `filter[m]=or`. `filter[g][0][…]` groups conditions, ' +
      '`filter[c][0][a|p|v|m]` writes one condition in parts.',
    '`filter[sorts]=<attribute> <asc|desc>`, repeated with `[]` for several, sets the order.',
  ),
  q: repeated(
    'q',
    'Words and phrases that must all occur in texts of the event: its type, username and source and all texts in its ' +
      'attributes. Each may be a part of a text; case is ignored. The id is found by the whole of it. A phrase stands in ' +
      'quotation marks; a minus before a word or phrase excludes events. Repeated parameters must all match.',
    oneOrMore,
    { example: 'deploy "by hand" -staging' },
  ),
  limit: query(
    'limit',
    `Maximum number of events in the response; a value above ${MAX_LIMIT} counts as ${MAX_LIMIT}.`,
    { type: 'integer', minimum: 1, default: DEFAULT_LIMIT },
  ),
  fields: listed(
    FIELDS,
    'The attributes and relationships to return. Default: all; none if the value is empty.',
    texts,
    { example: ['type', 'username', 'created_at'] },
  ),
  personal: query(
    'personal',
    'The form of personal attributes. `sealed`: left out, each part as `{ subject, sealed: true }` in the attribute `personal`, or as ' +
      '`{ subject, erased }` with the time once it was erased. `open`: the values at their places; needs the right `personal`. `stored`: encrypted, ' +
      'as the ledger proves them.',
    { enum: PERSONAL_FORMS, default: PERSONAL_FORMS[0] },
  ),
  after: query(
    'after',
    'An ISO 8601 time: send events after it. Default: events from now on.',
    s.text(),
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
  facets: repeated(
    'facets[]',
    'Attributes, named as in filters, or `level`: return their most frequent values. Each facet ignores ' +
      'the conditions of the filter on its own attribute. A single one may be written `facets=type`.',
    texts,
    { example: ['level', 'type'] },
  ),
  top: query('top', 'Maximum number of values per facet.', integer(COUNT_RANGES.top)),
  by: repeated(
    'by[]',
    'One or two attributes, named as in filters, or `level`: group the events by their values. A single one may be ' +
      'written `by=type`.',
    texts,
    { required: true, example: ['type', 'username'] },
  ),
  numbers: repeated(
    'numbers[]',
    'At most 5 attributes, named as in filters: return percentiles of their numbers in each group.',
    texts,
    { example: ['duration_ms'] },
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
  columns: listed(
    FIELDS,
    'With `format=csv` or `parquet`: attributes that get a column each, named as in filters. Without it, and always in ' +
      'Parquet, one column has all attributes as JSON.',
    texts,
    { example: ['name', 'url_params_project_code'] },
  ),
  source: query(
    'source',
    'The path of the resource, as the source of its events has it. Either this or `resource` is required.',
    s.text(),
    { example: '/api/orders/17' },
  ),
  resource: nested(
    'resource',
    'Attributes that identify the resource, named as in filters: `resource[order_id]=A-17`. Replaces `source`.',
    { type: 'object', minProperties: 1, additionalProperties: s.text() },
    { example: { order_id: 'A-17' } },
  ),
  as_of: query('as_of', 'An ISO 8601 time: leave out later changes. Default: now.', s.text(), {
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
  ),
  Prefer: header(
    'Prefer',
    '`wait=<seconds>`, at most 60: if nothing matches yet, delay the response until an event does (RFC 7240).',
    s.text(),
    { example: 'wait=30' },
  ),
  'Accept-Language': header(
    'Accept-Language',
    'The preferred languages of the sentences, `en` or `de` (RFC 9110).',
    s.text(),
    { example: 'de-AT, en;q=0.5' },
  ),
  'If-None-Match': ifNoneMatch,
  'Consistency-Token': header(
    'Consistency-Token',
    'That of an earlier response, or the `created_at` of an event: the response is not older than the state with that ' +
      'event. If the log is not that far, the status is 412.',
    s.text(),
    { example: '2026-11-21T04:07:19.088118Z' },
  ),
  'Idempotency-Key': header(
    'Idempotency-Key',
    'Visible ASCII, unique per event and kept for 24 hours: a repeated request with the same key creates ' +
      'no second event and gets the first response.',
    { type: 'string', pattern: '^[!-~]{1,255}$' },
  ),
}

/** The parameters of the endpoints of several logs. */
export const severalLogsParameters = {
  ...parameters,
  logs: repeated(
    'logs[]',
    `The keys of 1 to ${MAX_LOGS} logs. A single one may be written \`logs=acme\`.`,
    { type: 'array', items: s.text(), minItems: 1, maxItems: MAX_LOGS },
    { required: true, example: ['acme', 'umbrella'] },
  ),
  cursor: query(
    'cursor',
    'Continues after what the client has: the text from `links.prev`, `links.next`, `meta.cursor`, `X-Export-Until` or the `id` of a message.',
  ),
  until: query(
    'until',
    'Only events up to this cursor: the text of `meta.cursor`, `X-Export-Until` or the `id` of a message.',
  ),
  ignoredChanges: query(
    'changes',
    'Accepted, without effect: changes of live events are sent by the stream of one log only.',
    s.flag(),
  ),
  search: query('search', 'Only logs whose key contains this text; case is ignored.'),
  afterKey: query('after', 'Only logs whose key comes after this one.'),
  keysLimit: query(
    'limit',
    'Maximum number of logs.',
    integer({ min: 1, max: 1000, default: 100 }),
  ),
  'Last-Event-ID': header(
    'Last-Event-ID',
    'The `id` of the last message that the client received. Takes precedence over `cursor`.',
  ),
}

/** The parameters of lists of resources that users manage. */
const managed = (what: string, items: string, filter: object) => ({
  id: idOf(what),
  filter,
  limit: query('limit', `Maximum number of ${items} in the response. Default: no limit.`, {
    type: 'integer',
    minimum: 1,
  }),
  'If-None-Match': ifNoneMatch,
})

const CONDITIONS =
  'Conditions on `id` and the attributes, written `filter[<attribute>_<predicate>]=<value>`.'
const allOf = (what: string) =>
  `${what} must match all conditions, or any with \`filter[m]=or\`. \`filter[sorts]=<attribute> <asc|desc>\` sets the order.`

/** The parameters of the endpoints of subscriptions and channels. */
export const subscriptionsParameters = managed(
  'subscription or channel',
  'items',
  filterOf(
    { state_in: ['failing', 'broken'], sorts: 'lag_ms desc' },
    `${CONDITIONS} Members of \`config\`, \`retain\` and \`last_error\` are joined by \`_\`: \`filter[last_error_kind_eq]=timeout\`.`,
    allOf('An item'),
  ),
)

/** The parameters of the endpoints of views. */
export const viewsParameters = managed(
  'view',
  'views',
  filterOf({ name_cont: 'deploy', shared_true: '1' }, CONDITIONS, allOf('A view')),
)
