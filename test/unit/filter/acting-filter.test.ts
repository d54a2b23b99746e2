import { describe, expect, it } from 'vitest'
import { parseActing } from '../../../src/filter/acting-filter.js'
import { formatQuery } from '../../../src/filter/format.js'
import { parseQuery } from '../../../src/filter/parse.js'
import type { QueryInput } from '../../../src/filter/query-input.js'

const TYPE = { type_start: 'app:' }
const type = { attributes: ['type'], combinator: 'and', predicate: 'start', values: ['app:'] }

const parsed = (where: unknown): object => ({ where, sorts: [], limit: 10 })
const grouping = (condition: object, groupings: readonly unknown[] = []): object =>
  parsed({ combinator: 'and', conditions: [{ ...type, ...condition }], groupings })

/** Filters with a part that would be left out, and the name of the part. */
const LEFT_OUT: readonly [part: string, filter: unknown][] = [
  ['filter[tenant_eq]', { filter: { ...TYPE, tenant_eq: undefined } }],
  ['filter[tenant_eq]', { filter: { ...TYPE, tenant_eq: '\u3000\u2003\n' } }],
  ['filter[tenant_eq]', 'filter[type_start]=app:&filter[tenant_eq]='],
  ['filter[tenant_eq]', 'filter[type_start]=app:&filter[tenant_eq]'],
  ['filter[tenant_eq]', 'filter[tenant_eq]=%E3%80%80'],
  ['filter[tenant_eq]', new URLSearchParams('filter[type_start]=app:&filter[tenant_eq]=')],
  ['filter[tenant_in]', { filter: { ...TYPE, tenant_in: [] } }],
  ['filter[tenant_in]', { filter: { ...TYPE, tenant_in: {} } }],
  ['filter[tenant_in]', { filter: { ...TYPE, tenant_in: ['', ' '] } }],
  ['filter[tenant_in]', { filter: { ...TYPE, tenant_in: ['a', undefined] } }],
  ['filter[tenant_in]', { filter: { ...TYPE, tenant_in: Array.from({ length: 1 }) } }],
  ['filter[tenant_not_in]', { filter: { ...TYPE, tenant_not_in: ['a', ''] } }],
  ['filter[tenant_not_in]', 'filter[tenant_not_in][]=a&filter[tenant_not_in][]='],
  ['filter[archived_true]', { filter: { ...TYPE, archived_true: '' } }],
  ['filter[created_at_lt]', { filter: { ...TYPE, created_at_lt: '' } }],
  ['filter[m]', { filter: { ...TYPE, m: '' } }],
  ['filter[combinator]', { filter: { ...TYPE, m: 'or', combinator: 'and' } }],
  ['filter[g]', { filter: { ...TYPE, g: [] } }],
  ['filter[g]', { filter: { ...TYPE, g: undefined } }],
  ['filter[g]', 'filter[type_start]=app:&filter[g]='],
  ['filter[g][0]', { filter: { ...TYPE, g: [{}] } }],
  ['filter[g][1]', { filter: { ...TYPE, g: [TYPE, { m: 'or' }] } }],
  ['filter[g][0][tenant_eq]', { filter: { ...TYPE, g: [{ tenant_eq: ' ' }] } }],
  ['filter[groupings][x][g]', { filter: { groupings: { x: { g: {} } } } }],
  ['filter[c]', { filter: { ...TYPE, c: [] } }],
  ['filter[c][0][v]', { filter: { c: [{ a: 'tenant', p: 'eq' }] } }],
  ['filter[c][0][v]', { filter: { c: [{ a: 'tenant', p: 'in', v: [] }] } }],
  ['filter[c][0][v]', { filter: { c: [{ a: 'tenant', p: 'in', v: ['a', ''] }] } }],
  ['filter[c][0][a]', { filter: { c: [{ a: ['tenant', ''], p: 'eq', v: 'a' }] } }],
  ['filter[c][0][m]', { filter: { c: [{ a: ['a', 'b'], m: '', p: 'eq', v: 'a' }] } }],
  [
    'filter[c][0][attributes]',
    { filter: { c: [{ a: 'type', attributes: 'tenant', p: 'eq', v: 'a' }] } },
  ],
  ['filter', { filter: undefined }],
  ['q', { filter: TYPE, q: undefined }],
  ['q', { filter: TYPE, q: '' }],
  ['q', { filter: TYPE, q: [] }],
  ['q', { filter: TYPE, q: ['a', ' '] }],
  ['q', 'filter[type_start]=app:&q='],
  ['where', parsed({})],
  ['where', parsed({ combinator: 'and', conditions: [], groupings: [] })],
  ['where.conditions[0]', grouping({ attributes: [] })],
  ['where.conditions[0]', grouping({ attributes: ['tenant', ' '] })],
  ['where.conditions[0]', grouping({ values: [] })],
  ['where.conditions[0]', grouping({ values: [' '] })],
  ['where.conditions[0]', grouping({ values: [undefined] })],
  ['where.conditions[0]', grouping({ values: ['a', 'b'] })],
  ['where.conditions[0]', grouping({ predicate: 'in', values: ['a', ''] })],
  ['where.conditions[0]', grouping({ predicate: 'equals' })],
  ['where.groupings[0]', grouping({}, [{ combinator: 'or', conditions: [], groupings: [] }])],
  ['where.groupings[0]', grouping({}, [undefined])],
  // A parsed query no longer has the part, but the parser remembers it.
  ['filter[tenant_eq]', parseQuery({ filter: { ...TYPE, tenant_eq: undefined } })],
  ['filter[tenant_in]', parseQuery('filter[type_start]=app:&filter[tenant_in][]=')],
]

describe('a filter that acts', () => {
  it.each(LEFT_OUT)('is refused if %s would be left out: %o', (part, filter) => {
    expect(() => parseActing(filter as QueryInput)).toThrow(
      expect.objectContaining({ code: 'INVALID_VALUE', parameter: part }),
    )
  })

  it.each<[string, unknown]>([
    ['UNKNOWN_PARAMETER', { filter: TYPE, filters: { tenant_eq: 'a' } }],
    ['UNKNOWN_PARAMETER', { filtr: TYPE }],
    ['UNKNOWN_PARAMETER', { filter: TYPE, filtr: undefined }],
    ['UNKNOWN_PARAMETER', 'filter[type_start]=app:&filters[tenant_eq]=a'],
    ['INVALID_OPTION', { ...parseQuery({ filter: TYPE }), filter: { tenant_eq: 'a' } }],
    ['INVALID_VALUE', { filter: TYPE, limit: 5 }],
    ['INVALID_VALUE', { filter: { ...TYPE, s: 'type' } }],
    ['INVALID_VALUE', { filter: { tenant_in: [null] } }],
    ['INVALID_VALUE', new Map([['filter', TYPE]])],
  ])('is refused with %s: %o', (code, filter) => {
    expect(() => parseActing(filter as QueryInput)).toThrow(expect.objectContaining({ code }))
  })

  it.each<QueryInput>([
    'filter[type_start]=app:&filter[tenant_in][]=a&filter[g][0][c][0][a]=x&filter[g][0][c][0][p]=null&filter[g][0][c][0][v]=1',
    { filter: { ...TYPE, m: 'or', archived_true: false, tenant_not_in: ['a', 'b'] }, q: 'deploy' },
    'q="by hand" -staging',
  ])('without such a part is parsed like a query: %o', (filter) => {
    const query = parseQuery(filter)
    expect(parseActing(filter)).toEqual(query.where)
    expect(parseActing(query)).toBe(query.where)
    expect(parseActing(formatQuery({ ...query, limit: 1 }).replace(/&limit=1$/, ''))).toEqual(
      query.where,
    )
  })
})
