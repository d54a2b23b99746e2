import type { AuditEvent, JsonObject, LinkDefinition } from 'daybook'
import { manualClock } from 'daybook/testing'
import type { RawRequest, RawResponse } from './http.js'
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
].map((tenant) => ({ ...tenant, note: HIDDEN, price: 7 }))

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

/** A request, and its form. */
export interface Probe {
  readonly path: string
  readonly request?: RawRequest
  /** True if it names a concealed attribute: then it is refused. */
  readonly isRefused?: boolean
}

const PREDICATES = words(
  'eq not_eq cont not_cont start in lt gteq null not_null present blank true not_true eq_any cont_all',
)
const FLAGS = new Set(words('null not_null present blank true not_true'))

const filterOf = (name: string, predicate: string, value: string): string => {
  const isList = predicate === 'in' || /_(?:any|all)$/.test(predicate)
  const text = FLAGS.has(predicate) ? '1' : encodeURIComponent(value)
  return `filter[${name}_${predicate}]${isList ? '[]' : ''}=${text}`
}

/** Endpoints that take filters. */
const filtered = (query: string): readonly Probe[] => [
  { path: `?${query}&limit=2` },
  { path: `/counts?${query}&attributes=1&buckets=4&facets[]=type&facets[]=level` },
  { path: `/groups?${query}&by[]=type&buckets=3` },
  { path: `/export?${query}&format=ndjson` },
  { path: `/report?${query}` },
  {
    path: '/search',
    request: {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: query,
    },
  },
]

const SEARCHES = [SECRET, HIDDEN, secret(1), '31337', 'acme', 'orders', `${SECRET}-23`]

/** Names that lead to no concealed attribute, but near one. */
const NEAR = words(
  'remote a a_b a_b_cd name order_no tenant tenant_id recording changes changes_value message changes_path',
)

const VALUES = [secret(1), secret(15), '31337.5', 'x', '/salary']

function probesOfName(name: string, isRefused: boolean): readonly Probe[] {
  const filters = PREDICATES.flatMap((predicate, i) =>
    filtered(filterOf(name, predicate, VALUES[i % VALUES.length]!)),
  )
  const isInPart = /^(?:recording|changes)/.test(name)
  const others = [
    `?filter[sorts]=${name}%20asc`,
    `?filter[sorts][]=type&filter[sorts][]=${name}%20desc`,
    `/counts?facets[]=${name}&attributes=1`,
    `/groups?by[]=${name}`,
    `/groups?by[]=type&numbers[]=${name}`,
  ].map((path) => ({ path, isRefused: isRefused || isInPart }))
  const history = [
    `/history?resource[${name}]=${encodeURIComponent(secret(1))}`,
    `/history?resource[${name}]=x&resource[order_no]=1`,
  ]
  const forms = [
    `?filter[c][0][a][]=type&filter[c][0][a][]=${name}&filter[c][0][m]=or&filter[c][0][p]=cont&filter[c][0][v][]=${SECRET}`,
    `?filter[g][0][${name}_cont]=${SECRET}&filter[g][0][m]=or&filter[g][0][type_eq]=none`,
    `?filter[type_or_${name}_cont]=${SECRET}`,
  ]
  return [
    ...[...filters, ...forms.map((path) => ({ path }))].map((probe) => ({ ...probe, isRefused })),
    ...others,
    ...history.map((path) => ({ path, isRefused: isRefused || isInPart })),
  ]
}

/** Requests that name no attribute. */
const general = (): readonly Probe[] => [
  ...SEARCHES.flatMap((text) =>
    [text, `-${text}`, `"${text}" orders`].flatMap((q) => filtered(`q=${encodeURIComponent(q)}`)),
  ),
  ...SEARCHES.flatMap((text) =>
    [
      `filter[*_cont]=`,
      `filter[*_not_cont]=`,
      `filter[m]=or&filter[type_eq]=none&filter[*_cont]=`,
    ].flatMap((start) => filtered(start + encodeURIComponent(text))),
  ),
  ...EVENTS.stored.flatMap(({ id }) => [
    { path: `/${id}` },
    { path: `/${id}?fields[event]=type,remote_address,price` },
  ]),
  ...['csv', 'json', 'ndjson', 'cloudevents', 'ocsf', 'otlp'].map((format) => ({
    path: `/export?format=${format}`,
  })),
  { path: `/export?format=csv&fields[event]=type,remote_address,price,changes` },
  { path: '?fields[event]=type,remote_address,remote,source,recording&limit=1000' },
  { path: '?limit=1000' },
  { path: '?limit=1000', request: { method: 'HEAD' } },
  { path: '?limit=1', request: { headers: { prefer: 'wait=1' } } },
  { path: '/history?resource[order_no]=1' },
  { path: '/history?resource[order_no]=1&limit=1' },
  { path: '/history?resource[order_no]=2' },
  { path: `/history?source=/api/orders/${SECRET}-23`, isRefused: true },
  ...filtered('filter[source_not_null]=1').map((probe) => ({ ...probe, isRefused: true })),
]

/** All probes, after the path of the endpoints. */
export const PROBES: readonly Probe[] = [
  ...general(),
  ...CONCEALED.flatMap((name) => probesOfName(name, true)),
  ...[
    'backtrace_lines',
    'before_salary',
    'after_salary',
    'remote_address_x',
    'changes_salary',
    'source',
  ].flatMap((name) => probesOfName(name, true)),
  ...NEAR.flatMap((name) => probesOfName(name, false)),
]

const VARYING: readonly (readonly [RegExp, string])[] = [
  [/"restricted":(?:true|false)/g, '"restricted":true'],
  [/"took_ms":[\d.e-]+/g, '"took_ms":0'],
  [/"cursor":"[^"]*"/g, '"cursor":""'],
  // The time of the request, if no event matches.
  [/"as_of":"[^"]*"/g, '"as_of":""'],
  [/created_at_lteq%?\]?=?[^&"]*/g, 'created_at_lteq'],
  // Facets of what is concealed in part are refused, so their values are not listed either.
  [/\{"name":"(?:changes|recording)_?[^{}]*(?:\{[^{}]*\}[^{}]*)*\},?/g, ''],
  [/,\]/g, ']'],
]

const OWN_HEADERS = ['content-type', 'vary', 'x-total-count', 'x-total-count-at-least', 'location']

/** The answer without what differs between two logs with the same events. */
export function comparable({ status, headers, body }: RawResponse): string {
  const shown = OWN_HEADERS.map((name) => String(headers[name]))
  const text = VARYING.reduce((all, [from, to]) => all.replaceAll(from, to), body)
  return [status, ...shown, text].join('\n')
}

const withoutTotals = (headers: RawResponse['headers']): RawResponse['headers'] => ({
  ...headers,
  'x-total-count': undefined,
  'x-total-count-at-least': undefined,
})

/** The leak in an answer, with the beginning of the first difference; `undefined` if there is none. */
export function leakOf(
  { path, request, isRefused }: Probe,
  given: RawResponse,
  model: RawResponse,
): string | undefined {
  const asked = `${path} ${request ? JSON.stringify(request) : ''}`
  if (isRefused) {
    const isRight = given.status === 400 && given.body.includes('UNKNOWN_ATTRIBUTE')
    return isRight ? undefined : `${asked}: ${given.status} ${given.body.slice(0, 300)}`
  }
  // On a busy machine a count may end before it has read all events.
  const isCut = [given, model].some(
    ({ headers }) => headers['x-total-count-at-least'] !== undefined,
  )
  const [seen, expected] = [given, model].map((answer) =>
    comparable(isCut ? { ...answer, headers: withoutTotals(answer.headers) } : answer),
  )
  if (seen === expected) return undefined
  if (path.startsWith('/counts') && /"exact":(?:false|\{[^}]*false)/.test(given.body))
    return undefined
  let at = 0
  while (seen![at] === expected![at]) at += 1
  const cut = (text: string): string => text.slice(Math.max(0, at - 60), at + 60)
  return `${asked}: …${cut(seen!)}… instead of …${cut(expected!)}…`
}
