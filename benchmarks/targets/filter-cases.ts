import type { AuditEvent } from 'daybook'
import { sampleEvents } from '../harness/sample-events.js'

/* The events and queries of the suite `filter`. Every query is written for each library. */

export interface MatchCase {
  readonly name: string
  /** The query string that a client of Daybook sends. */
  readonly query: string
  /** The same query for sift and mingo, in the form that is fastest for them. */
  readonly mongo: { readonly [key: string]: unknown }
}

const USERS = ['0', '3', '8', '15', '24', '35', '48', '63', '80', '99'].map((n) => `user${n}`)

export const MATCH_CASES: readonly MatchCase[] = [
  {
    name: 'eq, own field',
    query: 'filter[type_eq]=api:projects:update',
    mongo: { type: 'api:projects:update' },
  },
  {
    name: 'eq, own field, no match',
    query: 'filter[type_eq]=api:projects:delete',
    mongo: { type: 'api:projects:delete' },
  },
  {
    name: 'eq, nested attribute',
    query: 'filter[parent_code_eq]=asset-1104',
    mongo: { 'attributes.parent.code': 'asset-1104' },
  },
  {
    name: 'eq, name of four segments',
    query: 'filter[url_params_environment_code_eq]=environment-4',
    mongo: { 'attributes.url_params.environment_code': 'environment-4' },
  },
  {
    name: 'eq, in an array of objects',
    query: 'filter[targets_code_eq]=asset-17',
    mongo: { 'attributes.targets.code': 'asset-17' },
  },
  {
    name: 'not_eq, nested attribute',
    query: 'filter[parent_node_type_not_eq]=asset',
    mongo: { 'attributes.parent.node_type': { $ne: 'asset' } },
  },
  {
    name: 'in, 10 values',
    query: USERS.map((user) => `filter[username_in][]=${user}`).join('&'),
    mongo: { username: { $in: USERS } },
  },
  {
    name: 'gt and lt, numbers',
    query: 'filter[duration_ms_gt]=1000&filter[duration_ms_lt]=5000',
    mongo: { 'attributes.duration_ms': { $gt: 1000, $lt: 5000 } },
  },
  {
    name: 'gteq and lt, created_at',
    query: 'filter[created_at_gteq]=2026-03-04T00:00:00Z&filter[created_at_lt]=2026-03-05',
    mongo: {
      created_at: { $gte: '2026-03-04T00:00:00.000000Z', $lt: '2026-03-05T00:00:00.000000Z' },
    },
  },
  {
    name: 'true',
    query: 'filter[stale_true]=1',
    mongo: { 'attributes.stale': true },
  },
  {
    name: 'null',
    query: 'filter[error_null]=1',
    mongo: { 'attributes.error': null },
  },
  {
    name: 'not_null, nested attribute',
    query: 'filter[cluster_region_not_null]=1',
    mongo: { 'attributes.cluster.region': { $exists: true } },
  },
  {
    name: 'start',
    query: 'filter[name_start]=deploy',
    mongo: { 'attributes.name': /^deploy/i },
  },
  {
    name: 'cont',
    query: 'filter[message_cont]=timeout',
    mongo: { 'attributes.message': /timeout/i },
  },
  {
    name: 'cont, no match',
    query: 'filter[request_body_reason_cont]=zebra',
    mongo: { 'attributes.request_body.reason': /zebra/i },
  },
  {
    name: 'matches, two wildcards',
    query: 'filter[message_matches]=%25stale%25worker',
    mongo: { 'attributes.message': /stale.*worker$/is },
  },
  {
    name: 'matches, two wildcards and `_`',
    query: 'filter[message_matches]=%25st_le%25worker',
    mongo: { 'attributes.message': /st.le.*worker$/is },
  },
  {
    name: 'or of 3',
    query:
      'filter[m]=or&filter[type_eq]=warn:agent:retry&filter[username_eq]=user7&filter[attempt_gt]=3',
    mongo: {
      $or: [
        { type: 'warn:agent:retry' },
        { username: 'user7' },
        { 'attributes.attempt': { $gt: 3 } },
      ],
    },
  },
  {
    name: 'and of 4',
    query:
      'filter[type_start]=api:&filter[response_status_eq]=201&filter[duration_ms_lt]=20000&filter[parent_node_type_eq]=project',
    mongo: {
      type: /^api:/i,
      'attributes.response_status': 201,
      'attributes.duration_ms': { $lt: 20_000 },
      'attributes.parent.node_type': 'project',
    },
  },
  {
    name: 'nested group',
    query:
      'filter[system_true]=1&filter[g][0][m]=or&filter[g][0][error_cont]=refused&filter[g][0][response_status_eq]=204',
    mongo: {
      system: true,
      $or: [{ 'attributes.error': /refused/i }, { 'attributes.response_status': 204 }],
    },
  },
]

/** The cases whose compilation is measured. */
export const COMPILE_CASES: readonly string[] = [
  'eq, own field',
  'in, 10 values',
  'and of 4',
  'nested group',
]

export const PARSE_CASES: readonly { readonly name: string; readonly query: string }[] = [
  { name: 'one condition', query: 'filter[type_eq]=api:changes:create&limit=10' },
  {
    name: 'in with 4 values, created_at',
    query:
      'filter[type_in][]=api:changes:create&filter[type_in][]=api:changes:update&filter[type_in][]=audit:steps:approve&filter[type_in][]=error:steps:start&filter[created_at_gt]=2026-03-01T12:00:00.000000Z&limit=100',
  },
  {
    name: 'the same with encoded brackets',
    query:
      'filter%5Btype_in%5D%5B%5D=api%3Achanges%3Acreate&filter%5Btype_in%5D%5B%5D=api%3Achanges%3Aupdate&filter%5Btype_in%5D%5B%5D=audit%3Asteps%3Aapprove&filter%5Btype_in%5D%5B%5D=error%3Asteps%3Astart&filter%5Bcreated_at_gt%5D=2026-03-01T12%3A00%3A00.000000Z&limit=100',
  },
  {
    name: 'nested groups',
    query:
      'filter[system_true]=1&filter[g][0][m]=or&filter[g][0][type_start]=error:&filter[g][0][error_not_null]=1&filter[g][1][m]=or&filter[g][1][username_eq]=ann&filter[g][1][parent_code_eq]=asset-1104',
  },
  {
    name: '5 conditions, sorts',
    query:
      'filter[type_start]=api:&filter[username_in][]=ann&filter[username_in][]=bob&filter[request_body_reason_cont]=lost%20node&filter[duration_ms_gt]=1000&filter[created_at_lt]=2026-03-02&filter[sorts][]=duration_ms%20desc&filter[sorts][]=type&limit=50',
  },
]

const BEGIN = Date.UTC(2026, 2, 1)
const TEN_DAYS = 864_000_000
/** Further events are copies of these with another id and time. */
const MAX_DIFFERENT = 100_000

/** An array of up to three objects, which the sample events lack. */
const targets = (at: number): { code: string; state: string }[] =>
  Array.from({ length: at % 4 }, (_, i) => ({
    code: `asset-${(at * 7 + i * 131) % 5000}`,
    state: (at + i) % 5 === 0 ? 'failed' : 'ok',
  }))

/** Events of ten days. They are parsed from JSON, as the events of a store are. */
export function matchEvents(count: number): AuditEvent[] {
  const texts = sampleEvents(Math.min(count, MAX_DIFFERENT)).map(({ type, username, data }, i) =>
    JSON.stringify({
      username: type.startsWith('warn') ? null : username,
      system: i % 20 !== 0,
      type,
      source: 'change_id' in data ? `/api/changes/${String(data['change_id'])}` : null,
      attributes: { ...data, targets: targets(i) },
    }),
  )
  return Array.from({ length: count }, (_, i) => {
    const parsed = JSON.parse(texts[i % texts.length]!) as AuditEvent
    const { username, system, type, source, attributes } = parsed
    const id = `019ca6b0-0000-7000-8000-${i.toString(16).padStart(12, '0')}`
    const created_at = new Date(BEGIN + (i / count) * TEN_DAYS).toISOString().replace('Z', '000Z')
    return { id, created_at, username, system, type, source, attributes }
  })
}

export interface WildcardCase {
  readonly name: string
  pattern(wildcards: number): string
  /** A text of about `length` characters. */
  text(length: number): string
}

const WORDS = ['deploy', 'rollback', 'scale', 'restart', 'patch', 'backup', 'restore', 'verify']

const repeat = (words: readonly string[], count: number, separator: string): string =>
  Array.from({ length: count }, (_, i) => words[i % words.length]!).join(separator)

export const WILDCARD_CASES: readonly WildcardCase[] = [
  {
    name: 'words in order, a match: `%deploy%rollback%…`',
    pattern: (wildcards) => `%${repeat(WORDS, wildcards - 1, '%')}%`,
    text: (length) => `${repeat(WORDS, length / 8, ' ')} `,
  },
  {
    name: 'almost a match: `%x%x…%z%y` on `xxx…xy`',
    pattern: (wildcards) => `${'%x'.repeat(wildcards - 2)}%z%y`,
    text: (length) => `${'x'.repeat(length - 1)}y`,
  },
  {
    name: 'almost a match with `_`: `%x_x%x_x…%z_%y` on `xxx…xzy`',
    pattern: (wildcards) => `${'%x_x'.repeat(wildcards - 2)}%z_%y`,
    text: (length) => `${'x'.repeat(length - 2)}zy`,
  },
  {
    name: 'almost a match, only `_`: `%ab_ab_…b%` on `abcabc…`',
    pattern: (wildcards) => `%${'ab_'.repeat(wildcards - 2)}b%`,
    text: (length) => `${repeat(['abc'], length / 3, '')}b`,
  },
]
