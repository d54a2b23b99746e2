import type { AuditEvent, JsonObject, JsonValue, LinkDefinition } from 'daybook'
import { manualClock } from 'daybook/testing'
import { EXPORT_FORMATS } from '../../src/exporting/formats.js'
import { type Predicate, predicateOf, predicates } from '../../src/filter/predicates.js'
import type { RawRequest, RawResponse } from './http.js'
import { randomOf } from './random.js'
import { words } from './words.js'

/*
 * Requests by which a user could learn about concealed attributes and hidden events. Each is sent to a log with `conceal` and
 * `visible`, and to a log whose events never had the attributes, without the hidden events. The answers have to be the same.
 */

/** The same present for all logs. */
export const clock = manualClock('2026-02-01T00:00:00Z')

/** Part of each concealed text. */
export const SECRET = 's3cr3t'
/** Part of each text of hidden events. */
export const HIDDEN = 'h1dd3n'

const secret = (n: number): string => `${SECRET} ${n}`

export const LINKS: readonly LinkDefinition[] = [
  { attribute: 'order_id', kind: 'code', path: '/api/orders/{order_id}', rank: 1 },
]

/** Attributes, and what is left of them. */
type Shape = readonly [attributes: JsonObject, shown: JsonObject]

/** By concealed name the forms in which an event may have the attribute. */
const SHAPES: Readonly<Record<string, readonly Shape[]>> = {
  remote_address: [
    [{ remote_address: secret(1) }, {}],
    [{ remote: { address: secret(2), port: 1 } }, { remote: { port: 1 } }],
    [{ remote: [{ address: secret(3) }, { name: 'x' }] }, { remote: [{}, { name: 'x' }] }],
    [{ remote_address: null }, {}],
    [{ remote_address: '' }, {}],
    [{ remote_address: [secret(4), [secret(5)], 5] }, {}],
  ],
  backtrace: [
    [{ backtrace: { lines: [secret(6)], file: secret(7) } }, {}],
    [{ backtrace: [secret(8), { file: secret(9) }] }, {}],
    [{ backtrace: secret(10), message: 'x' }, { message: 'x' }],
  ],
  a_b_c: [
    [{ a: { b: { c: secret(11), d: 1 }, b_c: secret(12) } }, { a: { b: { d: 1 } } }],
    [
      { a_b: { c: { deep: secret(13) } }, a: [[{ b: [{ c: secret(14) }] }]] },
      { a_b: {}, a: [[{ b: [{}] }]] },
    ],
    [{ a_b_c: true, a_b_cd: 1 }, { a_b_cd: 1 }],
  ],
  price: [
    [{ price: 31337.5, name: 'x' }, { name: 'x' }],
    [{ price: '31337.5' }, {}],
  ],
  salary: [
    [
      {
        changes: [
          { op: 'replace', path: '/salary', value: secret(15), old_value: secret(16) },
          { op: 'replace', path: '/name', value: 'n', old_value: 'm' },
        ],
        order_no: 1,
      },
      { changes: [{ op: 'replace', path: '/name', value: 'n', old_value: 'm' }], order_no: 1 },
    ],
    [
      { changes: [{ op: 'add', path: '', value: { salary: secret(17), name: 'n' } }], order_no: 1 },
      { changes: [{ op: 'add', path: '', value: { name: 'n' } }], order_no: 1 },
    ],
    [
      {
        before: { salary: secret(18), name: 'm' },
        after: { salary: secret(19), name: 'n' },
        order_no: 1,
      },
      { before: { name: 'm' }, after: { name: 'n' }, order_no: 1 },
    ],
    [{ changes: { salary: [secret(20), secret(21)] } }, { changes: {} }],
  ],
  password: [
    [
      {
        password: secret(22),
        recording: { replaced: ['/password', `/password/${SECRET}`, '/other/0'], cut_bytes: 3 },
      },
      { recording: { replaced: ['/other/0'], cut_bytes: 3 } },
    ],
    [{ recording: { redacted: ['/password'] } }, {}],
  ],
  // The newer event shows no value of `solo`.
  solo_token: [
    [{ solo: { token: secret(24), other: 1 } }, { solo: { other: 1 } }],
    [{ solo: { token: secret(25) } }, { solo: {} }],
  ],
  order_id: [[{ order_id: `${SECRET}-23`, order_no: 2 }, { order_no: 2 }]],
}

export const CONCEALED = Object.keys(SHAPES)
export const VISIBLE = { tenant_id_eq: 'acme' }

const ids = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

/** Attributes of events that `visible` hides: some have the right value beside another. */
const HIDDEN_EVENTS: readonly JsonObject[] = [
  { tenant_id: 'umbrella' },
  { tenant_id: 'umbrella', tenant: { id: 'acme' } },
  { tenant_id: ['acme', 'umbrella'] },
  { tenant: [{ id: 'acme' }, { id: 'umbrella' }] },
  { tenant_id: { name: HIDDEN }, tenant: { id: 'acme' } },
  {},
].map((tenant) => ({
  ...tenant,
  note: HIDDEN,
  price: 7,
  order_no: 1,
  changes: [{ op: 'replace', path: '/name', value: HIDDEN, old_value: 'm' }],
}))

function eventAt(n: number, attributes: JsonObject, source: string | null): AuditEvent {
  const created_at = new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString().replace('Z', '000Z')
  const type = n % 4 === 0 ? 'api:orders:update' : 'error:orders'
  return { id: ids(n), created_at, username: 'ann', system: true, type, source, attributes }
}

/** The events of the log, and the same as its user may see them. */
export const EVENTS: { readonly stored: AuditEvent[]; readonly shown: AuditEvent[] } = {
  stored: [],
  shown: [],
}
for (const [attributes, shown] of Object.values(SHAPES).flat()) {
  const n = EVENTS.stored.length
  const id = attributes['order_id']
  const source = typeof id === 'string' ? `/api/orders/${id}` : null
  const tenant = n % 3 === 0 ? { tenant: { id: 'acme' } } : { tenant_id: 'acme' }
  EVENTS.stored.push(eventAt(n, { ...attributes, ...tenant }, source))
  EVENTS.shown.push(eventAt(n, { ...shown, ...tenant }, null))
  const hidden = HIDDEN_EVENTS[n % HIDDEN_EVENTS.length]!
  EVENTS.stored.push(eventAt(n + 1, hidden, null))
}

const SEARCHES = [SECRET, HIDDEN, secret(1), '31337', 'acme', 'orders', `${SECRET}-23`]

/** The last event of a log. It is recorded, because streams begin with the first recorded event after imported ones. */
export const END = {
  type: 'end',
  // The text is that of the searches, so that a stream of a search has an end too.
  attributes: { tenant_id: 'acme', note: SEARCHES.join(' '), order_no: 3 },
} as const

/** True for the data of the last event in a stream. */
export const isEnd = (data: string): boolean => data.includes(`"type":"${END.type}"`)

/** A request, and its form. */
export interface Probe {
  /** The path after that of the endpoints. */
  readonly path: string
  readonly request?: RawRequest
  /** True if it names a concealed attribute: then it is refused. */
  readonly isRefused?: boolean
  /** True for a stream, which is read up to the last events. */
  readonly isStream?: boolean
}

const valueOf = (predicate: Predicate, n: number): string =>
  predicate.takes === 'flag' ? '1' : encodeURIComponent(VALUES[n % VALUES.length]!)

const filterOf = (name: string, predicate: Predicate, n: number): string =>
  `filter[${name}_${predicate.name}]${predicate.takes === 'list' ? '[]' : ''}=${valueOf(predicate, n)}`

const posted = (path: string, body: string): Probe => ({
  path,
  request: {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  },
})

/** The beginning of a stream of existing events. */
const AFTER = 'after=2026-01-01T00:00:00.000000Z'

/** The endpoints that take filters, each with one way in which it uses them. */
const WAYS: readonly ((query: string) => Probe)[] = [
  (query) => ({ path: `?${query}&limit=2` }),
  (query) => ({ path: `?${query}&limit=1000&filter[sorts]=created_at%20desc` }),
  (query) => posted('/search', query),
  (query) => ({ path: `/counts?${query}&attributes=1&buckets=4&facets[]=type&facets[]=level` }),
  (query) => posted('/counts', `${query}&facets[]=tenant_id&top=2`),
  (query) => ({ path: `/groups?${query}&by[]=type&buckets=3` }),
  (query) => ({ path: `/groups?${query}&by[]=level&by[]=name&numbers[]=order_no` }),
  ...EXPORT_FORMATS.map((format) => (query: string) => ({
    path: `/export?${query}&format=${format}`,
  })),
  (query) => ({ path: `/report?${query}` }),
]

const filtered = (query: string): readonly Probe[] => WAYS.map((way) => way(query))

/** Streams of the events that match one of the conditions, or are the last ones. */
const streamed = (conditions: string): readonly Probe[] => {
  const ended = conditions.replaceAll('filter[', 'filter[g][0][')
  const path = `/stream?${ended}&filter[g][1][type_eq]=${END.type}&filter[m]=or&${AFTER}`
  return ['', '&changes=true', '&fields[event]=type,name,remote_address,price'].map((more) => ({
    path: path + more,
    isStream: true,
  }))
}

/** Names that lead to no concealed attribute, but near one. */
export const NEAR = words(`
  remote remote_port remote_name solo a a_b a_b_d a_b_cd name order_no tenant tenant_id message before before_name after after_name
  recording recording_replaced recording_redacted recording_cut_bytes
  changes changes_op changes_path changes_value changes_value_name changes_value_salary changes_old_value
  type_or_remote remote_or_message a_and_b name_or_a_b`)

/** Names that lead to concealed attributes. */
const INSIDE = words(
  'backtrace_lines before_salary after_salary previous_salary remote_address_x changes_salary source a_b_c_deep type_or_price',
)

const VALUES = [secret(1), secret(15), '31337.5', 'x', '/salary', SECRET, '7', '/password']

const ALL_PREDICATES = [...predicates.values()]
/** A name that consists of several is read only before a predicate. */
const isCompound = (name: string): boolean => /_(?:or|and)_/.test(name)

/** Uses of a name that are refused where a part of the attribute may be concealed. */
const valuesOf = (name: string): readonly Probe[] =>
  [
    `?filter[sorts]=${name}%20asc`,
    `?filter[sorts]=${name}%20desc&limit=1`,
    `?filter[sorts][]=type&filter[sorts][]=${name}%20desc`,
    `/counts?facets[]=${name}&attributes=1`,
    `/groups?by[]=${name}`,
    `/groups?by[]=type&by[]=${name}`,
    `/groups?by[]=type&numbers[]=${name}`,
    `/history?resource[${name}]=${encodeURIComponent(secret(1))}`,
    `/history?resource[${name}]=x&resource[order_no]=1`,
  ].flatMap((path) => (isCompound(name) ? [] : [{ path }]))

/** Forms of a condition. */
const formsOf = (name: string): readonly Probe[] =>
  [
    `filter[c][0][a][]=type&filter[c][0][a][]=${name}&filter[c][0][m]=or&filter[c][0][p]=cont&filter[c][0][v][]=${SECRET}`,
    `filter[g][0][${name}_cont]=${SECRET}&filter[g][0][m]=or&filter[g][0][type_eq]=none`,
    `filter[type_or_${name}_cont]=${SECRET}`,
  ].flatMap((query) => (isCompound(name) ? [] : [{ path: `?${query}` }]))

const refused = (probes: readonly Probe[]): readonly Probe[] =>
  probes.map(({ path, request, isStream = false }) => ({
    path,
    // A stream that is not refused would not end.
    request: { ...request, ...(isStream && { method: 'HEAD' }) },
    isRefused: true,
  }))

/** Conditions with each predicate in one way of reading, and with some of them in all. */
const readingsOf = (name: string, inAll: readonly Predicate[]): readonly Probe[] => [
  ...ALL_PREDICATES.map((predicate, n) => WAYS[n % WAYS.length]!(filterOf(name, predicate, n))),
  ...inAll.flatMap((predicate, n) => filtered(filterOf(name, predicate, n))),
  ...inAll.flatMap((predicate, n) => streamed(filterOf(name, predicate, n))),
  ...formsOf(name),
]

const isPart = (name: string): boolean => /^(?:recording|changes)/.test(name)

const refusedOf = (name: string): readonly Probe[] =>
  refused([...readingsOf(name, [predicateOf('eq')]), ...valuesOf(name)])

const answeredOf = (name: string): readonly Probe[] => [
  ...readingsOf(
    name,
    words('null present not_cont').map((one) => predicateOf(one as 'null')),
  ),
  ...(isPart(name) ? refused(valuesOf(name)) : valuesOf(name)),
]

/** Requests that name no attribute. */
const general = (): readonly Probe[] => [
  ...SEARCHES.flatMap((text) =>
    [text, `-${text}`, `"${text}" orders`].flatMap((q) => filtered(`q=${encodeURIComponent(q)}`)),
  ),
  ...SEARCHES.map((text) => ({
    path: `/stream?q=${encodeURIComponent(text)}&${AFTER}`,
    isStream: true,
  })),
  ...SEARCHES.flatMap((text) =>
    [
      `filter[*_cont]=`,
      `filter[*_not_cont]=`,
      `filter[m]=or&filter[type_eq]=none&filter[*_cont]=`,
    ].flatMap((start) => filtered(start + encodeURIComponent(text))),
  ),
  ...SEARCHES.flatMap((text) => streamed(`filter[*_not_cont]=${encodeURIComponent(text)}`)),
  ...EVENTS.stored.flatMap(({ id }) => [
    { path: `/${id}` },
    { path: `/${id}?fields[event]=type,remote_address,price` },
  ]),
  ...EVENTS.stored.flatMap(({ created_at }) => [
    { path: `/stream?after=${created_at}`, isStream: true },
    { path: '/stream', request: { headers: { 'last-event-id': created_at } }, isStream: true },
  ]),
  ...['', '&limit=1000', '&filter[sorts]=type'].map((more) => ({
    path: `?fields[event]=type,remote_address,remote,source,recording${more}`,
  })),
  ...['csv', 'parquet'].map((format) => ({
    path: `/export?format=${format}&fields[event]=type,remote_address,price,changes`,
  })),
  { path: '?limit=1000' },
  { path: '?limit=1000', request: { method: 'HEAD' } },
  { path: '/export', request: { method: 'HEAD' } },
  { path: '/counts?attributes=1&buckets=100' },
  { path: '?limit=1', request: { headers: { prefer: 'wait=1' } } },
  {
    path: `?filter[type_eq]=none&filter[*_cont]=${HIDDEN}`,
    request: { headers: { prefer: 'wait=1' } },
  },
  { path: '/history?resource[order_no]=1' },
  { path: '/history?resource[order_no]=1&limit=1' },
  { path: '/history?resource[order_no]=2' },
  { path: '/me' },
  { path: '/types' },
  { path: '/openapi.json' },
  ...refused([
    { path: `/history?source=/api/orders/${SECRET}-23` },
    ...filtered('filter[source_not_null]=1'),
  ]),
]

const random = randomOf(48)

/** All probes, in an order in which each part of them has all kinds. */
export const PROBES: readonly Probe[] = [
  ...general(),
  ...[...CONCEALED, ...INSIDE].flatMap(refusedOf),
  ...NEAR.flatMap(answeredOf),
]
  .map((probe) => ({ probe, at: random() }))
  .toSorted((one, other) => one.at - other.at)
  .map(({ probe }) => probe)

const VARYING: readonly (readonly [RegExp, string])[] = [
  [/"took_ms":[\d.e-]+/g, '"took_ms":0'],
  // The time of a report in which no event matches.
  [/"as_of":"(?!2026-0[12]-01)[^"]*"/g, '"as_of":""'],
  [/created_at_lteq%?\]?=(?!2026-0[12]-01)[^&"]*/g, 'created_at_lteq'],
  // Facets of what is concealed in part are refused, so their values are not listed either.
  [/\{"name":"(?:changes|recording)_?[^{}]*(?:\{[^{}]*\}[^{}]*)*\},?/g, ''],
  [/,\]/g, ']'],
  [/filename="events-[^"]*\./g, 'filename="events.'],
]

/** Headers of the connection, and of the framework. */
const OTHERS = new Set(
  words('date connection keep-alive transfer-encoding content-length x-powered-by'),
)

/** The answer without what differs between two logs with the same events. */
export function comparable({ path }: Probe, { status, headers, bytes }: RawResponse): string {
  // The tag covers parts that vary.
  const isTagged = !path.includes('attributes=1') && !path.startsWith('/report')
  const own = Object.entries(headers)
    .filter(([name]) => !OTHERS.has(name) && (isTagged || name !== 'etag'))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  const text = Buffer.from(bytes).toString('latin1')
  return VARYING.reduce(
    (all, [from, to]) => all.replaceAll(from, to),
    [status, ...own.map((header) => header.join(': ')), text].join('\n'),
  )
}

/** Figures of an answer to counts or groups. */
const figuresOf = ({ body }: RawResponse): JsonObject | undefined =>
  body.includes('"took_ms"') ? (JSON.parse(body) as { readonly meta: JsonObject }).meta : undefined

const hasMember = (
  value: JsonValue | undefined,
  test: (key: string, member: JsonValue) => boolean,
): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).some(([key, member]) => test(key, member) || hasMember(member, test))

/** True for an answer in which some numbers are lower bounds or estimates, because the time for counting was over. */
export const isInexact = (answer: RawResponse): boolean =>
  'x-total-count-at-least' in answer.headers ||
  hasMember(figuresOf(answer)?.['exact'], (_, is) => is === false) ||
  hasMember(figuresOf(answer)?.['facets'], (key, is) => key === 'exact' && is === false)

const SHOWN = JSON.stringify([EVENTS.shown, END])

const matches = ({ body }: RawResponse, pattern: RegExp): readonly string[] =>
  Array.from(body.matchAll(pattern), (match) => match[1]!)

const totalOf = ({ headers, body }: RawResponse): number =>
  Number(
    headers['x-total-count-at-least'] ??
      headers['x-total-count'] ??
      /"total":(\d+)/.exec(body)?.[1],
  )

/** Totals, names and texts of lower bounds that a user who sees the exact figures cannot know. Groups are estimates. */
export function excessesOf(given: RawResponse, model: RawResponse): readonly string[] {
  if (given.body.includes('"groups":')) return []
  const [total, most] = [totalOf(given), totalOf(model)]
  const names = new Set(matches(model, /"name":"([^"]*)"/g))
  // The level of an event is a value that no event has as a text.
  const levels = new Set(matches(model, /"value":("[a-z]+")/g))
  return [
    ...(total > most ? [`at least ${total}, not ${most}`] : []),
    ...matches(given, /"name":"((?!changes|recording)[^"]*)"/g).filter((name) => !names.has(name)),
    ...matches(given, /"value":("[^"]*")/g).filter(
      (text) => !SHOWN.includes(text) && !levels.has(text),
    ),
  ]
}

/** The beginning of the first difference between an answer and that of the model; `undefined` if there is none. */
export function differenceOf(given: string, model: string): string | undefined {
  if (given === model) return undefined
  let at = 0
  while (given[at] === model[at]) at += 1
  const cut = (text: string): string => text.slice(Math.max(0, at - 60), at + 60)
  return `…${cut(given)}… instead of …${cut(model)}…`
}
