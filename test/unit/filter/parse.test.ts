import {
  AuditLogError,
  type AuditLogErrorDetails,
  type Condition,
  type EventQuery,
  formatQuery,
  type Grouping,
  type ParseOptions,
  parseQuery,
  type PredicateName,
  type QueryObject,
} from 'daybook'
import { describe, expect, it } from 'vitest'
import { toQuery } from '../../../src/filter/query-input.js'
import { words } from '../../support/words.js'
import { refusalOf } from '../errors.js'
import { all, and, cond, everything, filters, joined, or } from './queries.js'

type Query = string | URLSearchParams | QueryObject

const refusal = (query: Query, options?: ParseOptions): AuditLogError =>
  refusalOf(() => parseQuery(query, options))

/** The machine-readable fields of an error. */
function faultOf(query: Query, options?: ParseOptions): AuditLogErrorDetails & { code: string } {
  const { code, parameter, suggestion } = refusal(query, options)
  return {
    code,
    ...(parameter !== undefined && { parameter }),
    ...(suggestion !== undefined && { suggestion }),
  }
}

/** The name of the first parameter, without the index of an element. */
const firstName = (query: string): string => query.split('=')[0]!.replace(/\[\d*\]$/, '')

/** An object with keys outside the type, as from external input. */
const untyped = (value: unknown): QueryObject => value as QueryObject

describe('a query without filters', () => {
  it.each(['', '?', '&'])('%j lists ten of all events', (query) => {
    expect(parseQuery(query)).toEqual(everything)
  })

  it('may be undefined or an empty object', () => {
    expect(parseQuery()).toEqual(everything)
    expect(parseQuery({})).toEqual(everything)
    expect(parseQuery({ filter: {} })).toEqual(everything)
    expect(parseQuery({ filter: undefined, limit: undefined })).toEqual(everything)
    expect(parseQuery(new URLSearchParams())).toEqual(everything)
  })
})

describe('attribute and predicate in one key', () => {
  const forms: readonly (readonly [query: string, expected: EventQuery])[] = [
    ['filter[type_eq]=api:changes:create', all(cond('type', 'eq', 'api:changes:create'))],
    ['?filter[type_eq]=x', all(cond('type', 'eq', 'x'))],
    ['filter%5Btype_eq%5D=x', all(cond('type', 'eq', 'x'))],
    ['filter%5btype_eq%5d=x', all(cond('type', 'eq', 'x'))],
    ['filter[%74ype_eq]=%78', all(cond('type', 'eq', 'x'))],
    ['&&filter[type_eq]=x&', all(cond('type', 'eq', 'x'))],
    ['filter[name_eq]=a+b%20c%2Bd', all(cond('name', 'eq', 'a b c+d'))],
    ['filter[name_eq]=a=b', all(cond('name', 'eq', 'a=b'))],
    ['filter[name_eq]=%26%3D%23%25', all(cond('name', 'eq', '&=#%'))],
    ['filter[name_eq]=[x]', all(cond('name', 'eq', '[x]'))],
    ['filter[name_eq]=é%F0%9F%98%80', all(cond('name', 'eq', 'é😀'))],
    ['filter[grün_eq]=x', all(cond('grün', 'eq', 'x'))],
    ['filter[a+b_eq]=x', all(cond('a b', 'eq', 'x'))],
    ['filter[a_eq]=1&filter[b_gt]=2', all(cond('a', 'eq', '1'), cond('b', 'gt', '2'))],
    [
      'filter[request_body_action_eq]=deploy&filter[type_eq]=api:changes:create',
      all(cond('request_body_action', 'eq', 'deploy'), cond('type', 'eq', 'api:changes:create')),
    ],
    // The longest suffix that is a predicate counts.
    ['filter[created_at_not_eq]=2026-03-01', all(cond('created_at', 'not_eq', '2026-03-01'))],
    [
      'filter[created_at_not_eq_any][]=2026-03-01',
      all(cond('created_at', 'not_eq_any', '2026-03-01')),
    ],
    ['filter[a_does_not_match_all][]=x', all(cond('a', 'does_not_match_all', 'x'))],
    ['filter[a_not_i_cont]=x', all(cond('a', 'not_i_cont', 'x'))],
    ['filter[i_cont]=x', all(cond('i', 'cont', 'x'))],
    ['filter[not_eq]=x', all(cond('not', 'eq', 'x'))],
    ['filter[not_not_eq]=x', all(cond('not', 'not_eq', 'x'))],
    ['filter[eq_eq]=x', all(cond('eq', 'eq', 'x'))],
    ['filter[start_end]=x', all(cond('start', 'end', 'x'))],
    ['filter[not_in_in]=x', all(cond('not_in', 'in', 'x'))],
    ['filter[a_eq_any_eq]=x', all(cond('a_eq_any', 'eq', 'x'))],
    ['filter[a__eq]=x', all(cond('a_', 'eq', 'x'))],
    ['filter[__eq]=x', all(cond('_', 'eq', 'x'))],
    ['filter[_a_eq]=x', all(cond('_a', 'eq', 'x'))],
    ['filter[__proto___eq]=x', all(cond('__proto__', 'eq', 'x'))],
    ['filter[constructor_null]=1', all(cond('constructor', 'null'))],
    ['filter[m_eq]=x', all(cond('m', 'eq', 'x'))],
    // Lists.
    ['filter[type_in][]=a&filter[type_in][]=b', all(cond('type', 'in', 'a', 'b'))],
    ['filter%5Btype_in%5D%5B%5D=a&filter[type_in][]=b', all(cond('type', 'in', 'a', 'b'))],
    ['filter[type_in][0]=a&filter[type_in][1]=b', all(cond('type', 'in', 'a', 'b'))],
    ['filter[type_in]=a&filter[type_in]=b', all(cond('type', 'in', 'a', 'b'))],
    ['filter[type_in]=a&filter[type_in][]=b', all(cond('type', 'in', 'a', 'b'))],
    ['filter[type_in][]=a&filter[type_in]=b', all(cond('type', 'in', 'a', 'b'))],
    ['filter[type_in]=a', all(cond('type', 'in', 'a'))],
    ['filter[type_in]=a,b', all(cond('type', 'in', 'a,b'))],
    ['filter[a_cont_any][]=x&filter[a_cont_any][]=y', all(cond('a', 'cont_any', 'x', 'y'))],
    ['filter[a_lt_all]=1', all(cond('a', 'lt_all', '1'))],
    // Flags. The value only applies or inverts them.
    ['filter[system_true]=1', all(cond('system', 'true'))],
    ['filter[system_true]=yes', all(cond('system', 'true'))],
    ['filter[system_true]=TRUE', all(cond('system', 'true'))],
    ['filter[system_true]=0', all(cond('system', 'not_true'))],
    ['filter[system_not_true]=f', all(cond('system', 'true'))],
    ['filter[a_false]=F', all(cond('a', 'not_false'))],
    ['filter[a_not_false]=false', all(cond('a', 'false'))],
    ['filter[a_null]=FALSE', all(cond('a', 'not_null'))],
    ['filter[a_not_null]=0', all(cond('a', 'null'))],
    ['filter[a_present]=false', all(cond('a', 'blank'))],
    ['filter[a_blank]=0', all(cond('a', 'present'))],
    ['filter[a_null]=False', all(cond('a', 'null'))],
    ['filter[created_at_null]=1', all(cond('created_at', 'null'))],
    // Several attributes in one name.
    ['filter[a_or_b_eq]=x', all(joined('or', ['a', 'b'], 'eq', 'x'))],
    ['filter[a_and_b_cont]=x', all(joined('and', ['a', 'b'], 'cont', 'x'))],
    [
      'filter[type_or_parent_code_or_c_in][]=x',
      all(joined('or', ['type', 'parent_code', 'c'], 'in', 'x')),
    ],
    ['filter[a_or_b_null]=0', all(joined('or', ['a', 'b'], 'not_null'))],
    ['filter[order_eq]=x', all(cond('order', 'eq', 'x'))],
    ['filter[brand_eq]=x', all(cond('brand', 'eq', 'x'))],
    ['filter[or_b_eq]=x', all(cond('or_b', 'eq', 'x'))],
    ['filter[a_or_eq]=x', all(cond('a_or', 'eq', 'x'))],
  ]
  it.each(forms)('%s', (query, expected) => {
    expect(parseQuery(query)).toEqual(expected)
    expect(parseQuery(new URLSearchParams(query))).toEqual(expected)
  })

  it('knows each of the 62 predicates', () => {
    const simple = ['eq', 'not_eq', 'lt', 'lteq', 'gt', 'gteq', 'in', 'not_in', 'matches']
    simple.push('does_not_match', 'cont', 'not_cont', 'i_cont', 'not_i_cont')
    simple.push('start', 'not_start', 'end', 'not_end')
    const compound = simple.flatMap((name) => [`${name}_any`, `${name}_all`])
    const flags = ['true', 'not_true', 'false', 'not_false', 'null', 'not_null', 'present', 'blank']
    const names = [...simple, ...compound, ...flags]
    expect(names).toHaveLength(62)
    for (const name of names) {
      const { where } = parseQuery(`filter[x_${name}]=v`)
      const values = flags.includes(name) ? [] : ['v']
      expect(where, name).toEqual(and([cond('x', name as PredicateName, ...values)]))
    }
  })
})

describe('blank values', () => {
  it.each(
    words(`
      a_eq= a_eq a_eq=+%09%0A a_eq=%C2%A0%E3%80%80 a_in[]= a_in[]=+&a_in[]= a_null= a_or_b_eq=+
      m= m=+ sorts= s[]=+ g= c= g[0][a_eq]= g[0][m]=or
      c[0][a]=x&c[0][p]=eq&c[0][v]= c[0][a]=x&c[0][p]=eq
    `),
  )('%s drops the filter', (query) => {
    expect(parseQuery(filters(query))).toEqual(everything)
  })

  it.each(
    words(`
      created_at_lt= created_at_gteq=%C2%A0 created_at_in[]= created_at_null= created_at_start=
      a_or_created_at_eq= g[0][created_at_gt]=
    `),
  )('%s is refused', (text) => {
    const query = filters(text)
    expect(faultOf(query)).toEqual({ code: 'INVALID_VALUE', parameter: firstName(query) })
  })

  it('refuses a blank condition object on created_at', () => {
    expect(faultOf(filters('c[0][a]=created_at&c[0][p]=lt&c[0][v]=')).code).toBe('INVALID_VALUE')
  })

  it('drops blank elements of a list and keeps the others', () => {
    expect(parseQuery('filter[a_in][]=&filter[a_in][]=x&filter[a_in][]=+')).toEqual(
      all(cond('a', 'in', 'x')),
    )
  })

  it('trims single values of ASCII white space, at the top level only', () => {
    expect(parseQuery('filter[a_eq]=%09+x+y%0D%0A')).toEqual(all(cond('a', 'eq', 'x y')))
    expect(parseQuery('filter[a_eq]=%C2%A0x')).toEqual(all(cond('a', 'eq', '\u00A0x')))
    expect(parseQuery('filter[a_in]=+x')).toEqual(all(cond('a', 'in', 'x')))
    expect(parseQuery('filter[a_in][]=+x+')).toEqual(all(cond('a', 'in', ' x ')))
    expect(parseQuery('filter[g][0][a_eq]=+x+').where).toEqual(
      and([], [and([cond('a', 'eq', ' x ')])]),
    )
    expect(parseQuery('filter[c][0][a]=a&filter[c][0][p]=eq&filter[c][0][v]=+x+')).toEqual(
      all(cond('a', 'eq', ' x ')),
    )
    expect(parseQuery('filter[system_true]=+0+')).toEqual(all(cond('system', 'not_true')))
  })

  it('trims a long run of spaces in linear time', () => {
    // Quadratic time would exceed the limit of a test.
    const inner = ' '.repeat(60_000)
    for (let i = 0; i < 8; i++)
      expect(parseQuery(`filter[a_eq]=x${inner}x`)).toEqual(all(cond('a', 'eq', `x${inner}x`)))
  })
})

describe('groupings', () => {
  it.each([
    ['m=or&a_eq=1&b_eq=2', or([cond('a', 'eq', '1'), cond('b', 'eq', '2')])],
    ['a_eq=1&combinator=or', or([cond('a', 'eq', '1')])],
    ['m=and&a_eq=1', and([cond('a', 'eq', '1')])],
    ['m=+&a_eq=1', and([cond('a', 'eq', '1')])],
    [
      'g[0][m]=or&g[0][a_eq]=1&g[0][b_eq]=2&g[1][c_eq]=3',
      and([], [or([cond('a', 'eq', '1'), cond('b', 'eq', '2')]), and([cond('c', 'eq', '3')])]),
    ],
    ['groupings[x][combinator]=or&groupings[x][a_eq]=1', and([], [or([cond('a', 'eq', '1')])])],
    [
      'g[][m]=or&g[][a_eq]=1&g[][m]=and&g[][a_eq]=2',
      and([], [or([cond('a', 'eq', '1')]), and([cond('a', 'eq', '2')])]),
    ],
    [
      'm=or&z_eq=0&g[0][a_eq]=1&g[0][g][0][b_eq]=2',
      or([cond('z', 'eq', '0')], [and([cond('a', 'eq', '1')], [and([cond('b', 'eq', '2')])])]),
    ],
    ['g[0][a_eq]=&g[1][a_eq]=1', and([], [and([cond('a', 'eq', '1')])])],
    [
      'g[9][a_eq]=1&g[2][a_eq]=2',
      and([], [and([cond('a', 'eq', '1')]), and([cond('a', 'eq', '2')])]),
    ],
    ['g[__proto__][a_eq]=1', and([], [and([cond('a', 'eq', '1')])])],
  ])('%s', (query, where) => {
    expect(parseQuery(filters(query))).toEqual({ where, sorts: [], limit: 10 })
  })
})

describe('condition objects', () => {
  it.each([
    ['c[0][a]=x&c[0][p]=eq&c[0][v]=1', cond('x', 'eq', '1')],
    [
      'conditions[0][attributes]=x&conditions[0][predicate]=eq&conditions[0][values]=1',
      cond('x', 'eq', '1'),
    ],
    ['c[][a]=x&c[][p]=eq&c[][v]=1', cond('x', 'eq', '1')],
    ['c[0][a][]=x&c[0][p]=in&c[0][v][]=1&c[0][v][]=2', cond('x', 'in', '1', '2')],
    [
      'c[0][a][0][name]=x&c[0][p]=in&c[0][v][0][value]=1&c[0][v][1][value]=2',
      cond('x', 'in', '1', '2'),
    ],
    [
      'c[0][a][]=x&c[0][a][]=y&c[0][m]=or&c[0][p]=cont&c[0][v]=1',
      { attributes: ['x', 'y'], combinator: 'or', predicate: 'cont', values: ['1'] },
    ],
    [
      'c[0][a][]=x&c[0][a][]=y&c[0][p]=cont&c[0][v]=1',
      { attributes: ['x', 'y'], combinator: 'and', predicate: 'cont', values: ['1'] },
    ],
    ['c[0][a]=a_or_b&c[0][p]=eq&c[0][v]=1', cond('a_or_b', 'eq', '1')],
    ['c[0][a]=x_not&c[0][p]=eq&c[0][v]=1', cond('x_not', 'eq', '1')],
    ['c[0][a]=a[0]&c[0][p]=eq&c[0][v]=1', cond('a[0]', 'eq', '1')],
    ['c[0][a]=x&c[0][p]=true&c[0][v]=0', cond('x', 'not_true')],
    ['c[0][a]=x&c[0][p]=null&c[0][v]=1', cond('x', 'null')],
  ] satisfies [string, Condition][])('%s', (query, condition) => {
    expect(parseQuery(filters(query))).toEqual(all(condition))
  })

  it('keep the position of their key', () => {
    const [x, y] = ['c[0][a]=x&c[0][p]=eq&c[0][v]=2', 'c[1][a]=y&c[1][p]=eq&c[1][v]=4']
    expect(parseQuery(filters(`a_eq=1&${x}&b_eq=3&${y}`))).toEqual(
      all(cond('a', 'eq', '1'), cond('x', 'eq', '2'), cond('y', 'eq', '4'), cond('b', 'eq', '3')),
    )
  })

  it.each([
    ['c[0][p]=eq&c[0][v]=1', 'MALFORMED_PARAMETER', 'filter[c][0][a]'],
    ['c[0][a]=+&c[0][p]=eq&c[0][v]=1', 'MALFORMED_PARAMETER', 'filter[c][0][a]'],
    ['c[0][a]=x&c[0][v]=1', 'UNKNOWN_PREDICATE', 'filter[c][0][p]'],
    ['c[0][a]=x&c[0][p]=&c[0][v]=1', 'UNKNOWN_PREDICATE', 'filter[c][0][p]'],
    ['c[0][a]=x&c[0][p][]=eq&c[0][v]=1', 'INVALID_VALUE', 'filter[c][0][p]'],
    ['c[0][a]=x&c[0][p]=eq&c[0][x]=1', 'MALFORMED_PARAMETER', 'filter[c][0][x]'],
    ['c[0][a]=x&c[0][p]=eq&c[0][v][]=1&c[0][v][]=2', 'INVALID_VALUE', 'filter[c][0][v]'],
    ['c[0][a]=x&c[0][p]=eq&c[0][v]=1&c[0][m]=xor', 'INVALID_VALUE', 'filter[c][0][m]'],
    ['c[0][a]=system&c[0][p]=eq&c[0][v]=maybe', 'INVALID_VALUE', 'filter[c][0][v]'],
    ['c=x', 'MALFORMED_PARAMETER', 'filter[c]'],
    ['c[0]=x', 'MALFORMED_PARAMETER', 'filter[c][0]'],
    ['c[]=x', 'MALFORMED_PARAMETER', 'filter[c][0]'],
  ])('%s is refused', (query, code, parameter) => {
    expect(faultOf(filters(query))).toEqual({ code, parameter })
  })

  it.each(['eqq', 'equals'])('suggests the predicate nearest to %s', (predicate) => {
    expect(faultOf(filters(`c[0][a]=x&c[0][p]=${predicate}&c[0][v]=1`))).toEqual({
      code: 'UNKNOWN_PREDICATE',
      parameter: 'filter[c][0][p]',
      suggestion: 'eq',
    })
  })
})

describe('sorts', () => {
  const byType = { attribute: 'type', direction: 'asc' }
  const byTime = { attribute: 'created_at', direction: 'desc' }
  it.each([
    ['filter[sorts]=created_at+desc', [byTime]],
    ['filter[s]=created_at%20desc', [byTime]],
    ['filter[sorts]=created_at+DESC', [byTime]],
    ['filter[sorts]=created_at+Desc', [byTime]],
    ['filter[sorts]=++created_at%09desc+', [byTime]],
    ['filter[sorts]=type', [byType]],
    ['filter[sorts]=type+ASC', [byType]],
    ['filter[sorts]=parent_code+asc', [{ attribute: 'parent_code', direction: 'asc' }]],
    ['filter[sorts][]=type+asc&filter[sorts][]=created_at+desc', [byType, byTime]],
    ['filter[sorts][]=created_at+desc&filter[sorts][]=type', [byTime, byType]],
    ['filter[sorts]=type&filter[sorts]=created_at+desc', [byType, byTime]],
    ['filter[s][0]=type&filter[s][1]=created_at+desc', [byType, byTime]],
    ['filter[sorts][]=&filter[sorts][]=type', [byType]],
    ['filter[sorts][name]=created_at&filter[sorts][dir]=desc', [byTime]],
    [
      'filter[sorts][0][name]=type&filter[sorts][1][name]=created_at&filter[sorts][1][dir]=DESC',
      [byType, byTime],
    ],
    ['filter[s][][name]=created_at&filter[s][][dir]=desc&filter[s][][name]=type', [byTime, byType]],
    ['filter[s]=type&filter[sorts]=created_at+desc', [byType, byTime]],
    [
      'filter[s][0][name]=User%20Name&filter[s][0][dir]=desc',
      [{ attribute: 'User Name', direction: 'desc' }],
    ],
    ['filter[s][name]=a,%20b[c]&filter[s][dir]=Asc', [{ attribute: 'a, b[c]', direction: 'asc' }]],
    ['filter[s][name]=-n&filter[s][dir]=asc', [{ attribute: '-n', direction: 'asc' }]],
  ])('%s', (query, sorts) => {
    expect(parseQuery(query)).toEqual({ where: undefined, sorts, limit: 10 })
  })

  it.each([
    ['filter[sorts]=type,created_at', 'MALFORMED_PARAMETER', 'filter[sorts]'],
    ['filter[sorts]=type+asc,+created_at+desc', 'MALFORMED_PARAMETER', 'filter[sorts]'],
    ['filter[sorts]=type+up', 'INVALID_VALUE', 'filter[sorts]'],
    ['filter[sorts]=type+asc+desc', 'INVALID_VALUE', 'filter[sorts]'],
    ['filter[s][]=type&filter[s][]=name+up', 'INVALID_VALUE', 'filter[s][1]'],
    ['filter[sorts][0][name]=type&filter[sorts][0][dir]=up', 'INVALID_VALUE', 'filter[sorts][0]'],
    [
      'filter[sorts][0][name]=type&filter[sorts][0][x]=1',
      'MALFORMED_PARAMETER',
      'filter[sorts][0][x]',
    ],
    ['filter[g][0][sorts]=type', 'MALFORMED_PARAMETER', 'filter[g][0][sorts]'],
    ['filter[g][0][s]=type', 'MALFORMED_PARAMETER', 'filter[g][0][s]'],
  ])('%s is refused', (query, code, parameter) => {
    expect(faultOf(query)).toEqual({ code, parameter })
  })

  it.each([
    ['filter[sorts]=-created_at', 'filter[sorts]', 'created_at desc'],
    ['filter[sorts][]=type&filter[sorts][]=-name', 'filter[sorts][1]', 'name desc'],
    ['filter[s][name]=-n', 'filter[s]', 'n desc'],
    ['filter[sorts]=+-n', 'filter[sorts]', 'n desc'],
  ])('refuses the descending sort of JSON:API: %s', (query, parameter, suggestion) => {
    expect(faultOf(query)).toEqual({ code: 'INVALID_VALUE', parameter, suggestion })
    expect(() => parseQuery(query)).toThrow(`${parameter}: write "${suggestion}", not "-`)
  })

  it('accepts an attribute whose name begins with a hyphen, with a direction', () => {
    expect(parseQuery('filter[sorts]=-n+asc').sorts).toEqual([
      { attribute: '-n', direction: 'asc' },
    ])
  })

  it('refuses a direction without a name', () => {
    expect(faultOf('filter[sorts][0][dir]=desc').code).toBe('MALFORMED_PARAMETER')
    expect(faultOf('filter[sorts][dir]=asc').code).toBe('MALFORMED_PARAMETER')
  })
})

describe('limit', () => {
  it.each([
    ['limit=1', 1],
    ['limit=10', 10],
    ['limit=1000', 1000],
    ['limit=1001', 1000],
    ['limit=5000', 1000],
    ['limit=99999999999999999999999', 1000],
    ['filter[a_eq]=1&limit=7', 7],
  ])('%s', (query, limit) => {
    expect(parseQuery(query).limit).toBe(limit)
  })

  it.each(
    words(`
      limit=0 limit=-1 limit=1.5 limit= limit limit=ten limit=1e2 limit=0x10 limit=Infinity
      limit=%D9%A1 limit=1&limit=2 limit=1&limit=1 limit[]=1 limit[x]=1
    `),
  )('%s is refused', (query) => {
    expect(faultOf(query)).toEqual({ code: 'INVALID_VALUE', parameter: 'limit' })
  })
})

describe('invalid values', () => {
  it.each([
    ...words(`
      created_at_lt=yesterday created_at_eq=2026-02-30
      created_at_in[]=2026-03-01&created_at_in[]=x created_at_gt_any[]=x created_at_gt=20260301T12
      type_or_created_at_eq=x system_eq=yes system_not_in[]=2 g[0][system_eq]=x
    `),
    // Combinators.
    ...words('m=xor m=OR m[]=or g[0][combinator]=none'),
    // Lists for a predicate that takes one value.
    ...words(`
      type_eq[]=a type_eq=a&type_eq=b type_eq[0]=a a_cont[]=a a_null[]=1
      system_true=1&system_true=1
    `),
  ])('%s is refused', (text) => {
    const query = filters(text)
    expect(faultOf(query)).toEqual({ code: 'INVALID_VALUE', parameter: firstName(query) })
  })

  it.each<[query: string, ...condition: Parameters<typeof cond>]>([
    ['created_at_lt=2026-03-01T14:00:00+02:00', 'created_at', 'lt', '2026-03-01T14:00:00 02:00'],
    ['created_at_cont=12:00', 'created_at', 'cont', '12:00'],
    ['created_at_start=2026-03', 'created_at', 'start', '2026-03'],
    ['system_eq=T', 'system', 'eq', 'T'],
    ['system_in[]=0&system_in[]=true', 'system', 'in', '0', 'true'],
    ['system_cont=x', 'system', 'cont', 'x'],
    ['my_created_at_lt=x', 'my_created_at', 'lt', 'x'],
    ['n_eq=x', 'n', 'eq', 'x'],
  ])('%s', (query, ...condition) => {
    expect(parseQuery(filters(query))).toEqual(all(cond(...condition)))
  })
})

describe('unknown predicates', () => {
  it.each([
    ['type_equals', 'type_eq'],
    ['typ_eqq', 'typ_eq'],
    ['type_is', 'type_eq'],
    ['type_ne', 'type_not_eq'],
    ['type_noteq', 'type_not_eq'],
    ['type_nin', 'type_not_in'],
    ['n_gte', 'n_gteq'],
    ['n_lte', 'n_lteq'],
    ['created_at_after', 'created_at_gt'],
    ['created_at_before', 'created_at_lt'],
    ['name_contains', 'name_cont'],
    ['name_starts_with', 'name_start'],
    ['name_ends_with', 'name_end'],
    ['name_like', 'name_matches'],
    ['name_presnt', 'name_present'],
    ['type_eq_an', 'type_eq_any'],
    ['parent_code_exists', 'parent_code_present'],
  ])('%s: did you mean %s?', (key, suggestion) => {
    const error = refusal(`filter[${key}]=1`)
    expect(error.code).toBe('UNKNOWN_PREDICATE')
    expect(error.parameter).toBe(`filter[${key}]`)
    expect(error.suggestion).toBe(suggestion)
    expect(error.message).toContain(suggestion)
  })

  it.each([
    ...words('type x_zzzzzz a_constructor a_toString a___proto__ __proto__ hasOwnProperty'),
    ' ',
  ])('filter[%s] has no near one', (key) => {
    expect(faultOf(`filter[${key}]=1&filter[a_eq]=1`)).toEqual({
      code: 'UNKNOWN_PREDICATE',
      parameter: `filter[${key}]`,
    })
  })

  it.each(['eq', '_eq', 'null'])('filter[%s] names no attribute', (key) => {
    expect(faultOf(`filter[${key}]=1`)).toMatchObject({
      code: 'UNKNOWN_PREDICATE',
      parameter: `filter[${key}]`,
    })
  })

  it('are also refused with a blank value and in groupings', () => {
    expect(faultOf('filter[type_equals]=').code).toBe('UNKNOWN_PREDICATE')
    expect(faultOf('filter[g][0][type_equals]=x')).toEqual({
      code: 'UNKNOWN_PREDICATE',
      parameter: 'filter[g][0][type_equals]',
      suggestion: 'type_eq',
    })
  })
})

describe('names that break the grammar', () => {
  it.each([
    ['filter[type_eq=x', 'filter[type_eq', 'position 7'],
    ['filter[a_eq][=x', 'filter[a_eq][', 'position 13'],
    ['filter]type_eq[=x', 'filter]type_eq[', 'position 7'],
    ['filter]=x', 'filter]', 'position 7'],
    ['filter[a[b_eq]]=x', 'filter[a[b_eq]]', 'position 9'],
    ['filter[type_eq]]=x', 'filter[type_eq]]', 'position 16'],
    ['filter[type_eq]x=x', 'filter[type_eq]x', 'position 16'],
    ['limit[=1', 'limit[', 'position 6'],
  ])('%s: the message names the place', (query, parameter, position) => {
    const error = refusal(query)
    expect([error.code, error.parameter]).toEqual(['MALFORMED_PARAMETER', parameter])
    expect(error.message).toContain(position)
  })

  it.each([
    ['filter=x', 'filter'],
    ['filter', 'filter'],
    ['filter[]=x', 'filter'],
    ['filter[g]=x', 'filter[g]'],
    ['filter[g][0]=x', 'filter[g][0]'],
    ['filter[a_in][0]=x&filter[a_in][]=y', 'filter[a_in][]'],
    ['filter[a_in][]=x&filter[a_in][0]=y', 'filter[a_in][0]'],
    ['filter[a_eq]=x&filter[a_eq][b]=y', 'filter[a_eq][b]'],
    ['filter=x&filter[a_eq]=y', 'filter[a_eq]'],
    ['filter[a_or_b_and_c_eq]=x', 'filter[a_or_b_and_c_eq]'],
    ['filter[a_or__eq]=x', 'filter[a_or__eq]'],
    ['filter[_or_b_eq]=x', 'filter[_or_b_eq]'],
    ['filter[a_and__eq]=x', 'filter[a_and__eq]'],
    ['filter[type_eq]=%E0%A4', 'filter[type_eq]'],
    ['filter[type_eq]=100%', 'filter[type_eq]'],
    ['filter[type_eq]=%zz', 'filter[type_eq]'],
    ['filter[%E0%A4]=1', 'filter[%E0%A4]'],
    ['limit=%FF', 'limit'],
  ])('%s', (query, parameter) => {
    expect(faultOf(query)).toEqual({ code: 'MALFORMED_PARAMETER', parameter })
  })

  it('refuses a bracket in an attribute of a joined name, in either form', () => {
    expect(faultOf('filter[a[_or_b_eq]=x').code).toBe('MALFORMED_PARAMETER')
    expect(faultOf({ filter: { 'a[_or_b_eq': 'x' } }).code).toBe('MALFORMED_PARAMETER')
  })
})

describe('unknown parameters', () => {
  it.each([
    ['sort=type', 'sort', 'filter[sorts]'],
    ['page[size]=5', 'page[size]', 'limit'],
    ['limt=5', 'limt', 'limit'],
    ['Limit=5', 'Limit', 'limit'],
    ['filters[type_eq]=x', 'filters[type_eq]', 'filter'],
    ['fields[event]=type', 'fields[event]', undefined],
    ['text=1', 'text', undefined],
    ['constructor=1', 'constructor', undefined],
    ['__proto__=1', '__proto__', undefined],
    ['__proto__[x]=1', '__proto__[x]', undefined],
    ['[x]=1', '[x]', undefined],
    ['=1', '', undefined],
    ['ref=%E0%A4', 'ref', undefined],
    ['x[=1', 'x[', undefined],
  ])('%s is refused', (query, parameter, suggestion) => {
    expect(faultOf(`limit=1&${query}`)).toEqual({
      code: 'UNKNOWN_PARAMETER',
      parameter,
      ...(suggestion !== undefined && { suggestion }),
    })
  })

  it.each([
    [{ sort: 'type' }, 'sort', 'filter[sorts]'],
    [{ filters: {}, limit: 3 }, 'filters', 'filter'],
    [{ filter: { a_eq: 1 }, limt: undefined }, 'limt', 'limit'],
    [{ at: new Date(0) }, 'at', undefined],
    [{ where: undefined, limit: 3 }, 'where', undefined],
    [JSON.parse('{"__proto__":{"limit":5}}'), '__proto__', undefined],
    [Object.assign(Object.create(null), { limit: 1, filtr: {} }), 'filtr', 'filter'],
  ])('of the object %o are refused', (query, parameter, suggestion) => {
    expect(faultOf(untyped(query))).toEqual({
      code: 'UNKNOWN_PARAMETER',
      parameter,
      ...(suggestion !== undefined && { suggestion }),
    })
  })
})

describe('the object form', () => {
  it('converts dates to their time', () => {
    const time = new Date('2026-03-01T13:00:00.5+01:00')
    expect(parseQuery({ filter: { created_at_gt: time, at_in: [time, 1] } })).toEqual(
      parseQuery(
        'filter[created_at_gt]=2026-03-01T12:00:00.500Z&filter[at_in][]=2026-03-01T12:00:00.500Z&filter[at_in][]=1',
      ),
    )
    const invalid = { filter: { created_at_gt: new Date(Number.NaN) } }
    expect(faultOf(invalid)).toEqual({ code: 'INVALID_VALUE', parameter: 'filter[created_at_gt]' })
  })

  it.each<[title: string, filter: QueryObject['filter'], conditions: readonly Condition[]]>([
    [
      'converts numbers and booleans to text',
      { a_eq: 1, b_lt: -1.5, c_eq: true, d_in: [1, false, 'x'], e_eq: 10n },
      [
        cond('a', 'eq', '1'),
        cond('b', 'lt', '-1.5'),
        cond('c', 'eq', 'true'),
        cond('d', 'in', '1', 'false', 'x'),
        cond('e', 'eq', '10'),
      ],
    ],
    [
      'accepts a boolean for a flag',
      { system_true: true, a_null: false },
      [cond('system', 'true'), cond('a', 'not_null')],
    ],
    ['leaves undefined out', { a_eq: undefined, b_in: ['x', undefined] }, [cond('b', 'in', 'x')]],
    ['does not decode', { a_eq: 'a+b%20c&d=e' }, [cond('a', 'eq', 'a+b%20c&d=e')]],
    [
      'trims and drops values like the query string',
      { a_eq: ' x ', b_eq: ' ', c_in: [' x ', ''] },
      [cond('a', 'eq', 'x'), cond('c', 'in', ' x ')],
    ],
  ])('%s', (_, filter, conditions) => {
    expect(parseQuery({ filter, limit: 3 })).toEqual({ ...all(...conditions), limit: 3 })
  })

  it('accepts groupings, conditions and sorts as lists or hashes', () => {
    const expected: EventQuery = {
      where: or([cond('z', 'eq', '0'), cond('x', 'in', '1')], [and([cond('a', 'eq', '1')])]),
      sorts: [
        { attribute: 'type', direction: 'desc' },
        { attribute: 'n', direction: 'asc' },
      ],
      limit: 7,
    }
    expect(
      parseQuery({
        filter: {
          m: 'or',
          z_eq: 0,
          c: [{ a: ['x'], p: 'in', v: [1] }],
          g: [{ a_eq: 1 }],
          sorts: ['type desc', { name: 'n', dir: 'asc' }],
        },
        limit: 7,
      }),
    ).toEqual(expected)
    expect(
      parseQuery({
        filter: {
          combinator: 'or',
          z_eq: 0,
          conditions: { 0: { attributes: { 0: { name: 'x' } }, predicate: 'in', values: '1' } },
          groupings: { 0: { a_eq: 1 } },
          s: { 0: 'type desc', 1: 'n' },
        },
        limit: '7',
      }),
    ).toEqual(expected)
  })

  it.each([
    [{ filter: { a_eq: null } }, 'filter[a_eq]'],
    [{ filter: { a_eq: new Map() } }, 'filter[a_eq]'],
    [{ filter: { a_eq: () => 1 } }, 'filter[a_eq]'],
    [{ filter: { a_eq: Symbol('x') } }, 'filter[a_eq]'],
    [{ filter: { a_eq: NaN } }, 'filter[a_eq]'],
    [{ filter: { a_eq: Infinity } }, 'filter[a_eq]'],
    [{ filter: { a_in: ['x', null] } }, 'filter[a_in][1]'],
    [{ filter: { g: [{ a_eq: null }] } }, 'filter[g][0][a_eq]'],
    [{ filter: null }, 'filter'],
    [{ limit: null }, 'limit'],
    [{ limit: 0 }, 'limit'],
    [{ limit: -1 }, 'limit'],
    [{ limit: 1.5 }, 'limit'],
    [{ limit: NaN }, 'limit'],
    [{ limit: true }, 'limit'],
    [{ limit: [1] }, 'limit'],
    [{ filter: { a_eq: ['x'] } }, 'filter[a_eq]'],
    [{ filter: { a_eq: { x: 1 } } }, 'filter[a_eq]'],
    [{ filter: { a_in: [['x']] } }, 'filter[a_in][0]'],
    [{ filter: { created_at_eq: 5 } }, 'filter[created_at_eq]'],
  ])('%j is refused', (query, parameter) => {
    expect(faultOf(untyped(query))).toEqual({ code: 'INVALID_VALUE', parameter })
  })

  it.each([
    [{ filter: 'type_eq' }, 'filter'],
    [{ filter: ['type_eq'] }, 'filter'],
    [{ filter: { g: [1] } }, 'filter[g][0]'],
    [{ filter: { c: 'x' } }, 'filter[c]'],
  ])('%j is malformed', (query, parameter) => {
    expect(faultOf(untyped(query))).toEqual({ code: 'MALFORMED_PARAMETER', parameter })
  })

  it('refuses a Map as a filter', () => {
    expect(faultOf(untyped({ filter: new Map([['type_eq', 'x']]) })).code).toBe('INVALID_VALUE')
    expect(faultOf(untyped({ filter: { g: [new Set(['x'])] } })).code).toBe('INVALID_VALUE')
  })

  it('treats keys named __proto__ like any other', () => {
    const given = JSON.parse('{"filter":{"__proto___eq":"x"}}') as object
    expect(parseQuery(given)).toEqual(all(cond('__proto__', 'eq', 'x')))
    const key = JSON.parse('{"filter":{"__proto__":{"a_eq":"x"}}}') as object
    expect(faultOf(key)).toEqual({ code: 'UNKNOWN_PREDICATE', parameter: 'filter[__proto__]' })
    const grouping = JSON.parse('{"filter":{"g":{"__proto__":{"a_eq":"x"}}}}') as object
    expect(parseQuery(grouping).where).toEqual(and([], [and([cond('a', 'eq', 'x')])]))
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  it('refuses a cyclic object', () => {
    const filter: Record<string, unknown> = {}
    filter['g'] = [filter]
    expect(faultOf({ filter }).code).toBe('QUERY_TOO_LARGE')
  })

  it('refuses null', () => {
    expect(() => parseQuery(untyped(null))).toThrow(AuditLogError)
  })
})

describe('with declared attributes', () => {
  const attributes = {
    name: 'string',
    this_or_that: 'string',
    that: 'string',
    size: 'number',
    done: 'boolean',
    at: 'timestamp',
  } as const
  const parse = (query: Query): EventQuery => parseQuery(query, { attributes })

  it('accepts the declared attributes and id', () => {
    expect(parse('filter[id_eq]=1&filter[size_gt]=7&filter[sorts]=name').where).toEqual(
      and([cond('id', 'eq', '1'), cond('size', 'gt', '7')]),
    )
  })

  it.each([
    ['filter[nmae_eq]=x', 'filter[nmae_eq]', 'name'],
    ['filter[nmae_eq]=', 'filter[nmae_eq]', 'name'],
    ['filter[username_null]=1', 'filter[username_null]', undefined],
    ['filter[name_or_siz_eq]=x', 'filter[name_or_siz_eq]', 'size'],
    ['filter[sorts]=dome+desc', 'filter[sorts]', 'done'],
    ['filter[sorts][]=done&filter[sorts][]=zzzzzz', 'filter[sorts][1]', undefined],
    ['filter[g][0][type_eq]=x', 'filter[g][0][type_eq]', undefined],
    ['filter[c][0][a][]=tha&filter[c][0][p]=eq&filter[c][0][v]=x', 'filter[c][0][a]', 'that'],
  ])('knows no other: %s', (query, parameter, suggestion) => {
    expect(faultOf(query, { attributes })).toEqual({
      code: 'UNKNOWN_ATTRIBUTE',
      parameter,
      ...(suggestion !== undefined && { suggestion }),
    })
    expect(refusal(query, { attributes }).message).toContain('id, name, this_or_that')
  })

  it.each(
    words(`
      size_eq=seven size_lt=7a size_in[]=7&size_in[]=x done_eq=yes at_gt=yesterday
      at_not_eq_any[]=2026-02-29
    `),
  )('refuses a value of another type: %s', (query) => {
    expect(faultOf(filters(query), { attributes }).code).toBe('INVALID_VALUE')
  })

  it.each(['filter[size_cont]=x', 'filter[at_start]=2026', 'filter[done_true]=yes'])(
    'accepts any value for a predicate on text or presence: %s',
    (query) => {
      expect(parse(query).where?.conditions).toHaveLength(1)
    },
  )

  it('resolves a joined name by the declaration, for all items', () => {
    expect(parse('filter[this_or_that_eq]=x').where).toEqual(and([cond('this_or_that', 'eq', 'x')]))
    const { joinedName: _, ...apart } = joined('or', ['name', 'that'], 'eq', 'x')
    expect(parse('filter[name_or_that_eq]=x').where).toEqual(and([apart]))
  })

  it('parses a formatted query', () => {
    const query = parse(
      'filter[this_or_that_eq]=x&filter[name_or_that_cont]=y&filter[at_gt]=2026-01-01',
    )
    expect(parse(formatQuery(query))).toEqual(query)
  })

  it('applies the limits of the list', () => {
    const limitOf = (query: string, maxLimit: number): number =>
      parseQuery(query, { maxLimit }).limit
    expect(limitOf('', 5000)).toBe(5000)
    expect(limitOf('limit=2000', 5000)).toBe(2000)
    expect(limitOf('limit=9999', 5000)).toBe(5000)
    expect(limitOf('', Infinity)).toBe(Infinity)
    expect(limitOf('limit=9999', Infinity)).toBe(9999)
    expect(faultOf('limit=0', { maxLimit: Infinity }).code).toBe('INVALID_VALUE')
  })

  it('knows four types', () => {
    const wrong = { attributes: { a: 'text' } } as unknown as ParseOptions
    expect(faultOf('', wrong).code).toBe('INVALID_OPTION')
  })
})

describe('limits', () => {
  const nested = (levels: number): string => `filter${'[g][0]'.repeat(levels)}[a_eq]=1`
  const tree = (levels: number): Grouping =>
    levels === 0 ? and([cond('a', 'eq', '1')]) : and([], [tree(levels - 1)])

  it('bound the number of sorts, in every form', () => {
    const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `n${i} desc`)
    expect(parseQuery({ filter: { sorts: names(16) } }).sorts).toHaveLength(16)
    const fault = { code: 'QUERY_TOO_LARGE', parameter: 'filter[sorts]' }
    expect(faultOf({ filter: { sorts: names(17) } })).toEqual(fault)
    expect(faultOf({ filter: { sorts: names(16), s: 'type' } })).toEqual(fault)
    expect(faultOf('filter[sorts][]=n&'.repeat(17))).toEqual(fault)
    expect(faultOf('filter[s][]=n&filter[sorts][]=n&'.repeat(9))).toEqual(fault)
    const sorts = names(17).map((attribute) => ({ attribute, direction: 'asc' as const }))
    expect(() => toQuery({ where: undefined, sorts, limit: 1 })).toThrow(
      'a query has at most 16 sorts; this one has 17',
    )
  })

  it('accepts 10 nested groupings, not 11', () => {
    expect(parseQuery(nested(10)).where).toEqual(tree(10))
    expect(faultOf(nested(11))).toEqual({
      code: 'QUERY_TOO_LARGE',
      parameter: `filter${'[g][0]'.repeat(11)}`,
    })
    expect(faultOf(nested(1000)).code).toBe('QUERY_TOO_LARGE')
    expect(faultOf(`filter[a_eq]${'[x]'.repeat(5000)}=1`).code).toBe('QUERY_TOO_LARGE')
  })

  const conditions = (count: number): string =>
    Array.from({ length: count }, (_, i) => `filter[a${i}_eq]=1`).join('&')

  it('accepts 1,000 conditions, not 1,001', () => {
    expect(parseQuery(conditions(1000)).where?.conditions).toHaveLength(1000)
    expect(faultOf(conditions(1001))).toEqual({
      code: 'QUERY_TOO_LARGE',
      parameter: 'filter[a1000_eq]',
    })
    const g = (count: number) => Array.from({ length: count }, () => ({ a_eq: 1 }))
    expect(parseQuery({ filter: { g: g(1000) } }).where?.groupings).toHaveLength(1000)
    expect(faultOf({ filter: { g: g(1001) } }).code).toBe('QUERY_TOO_LARGE')
  })

  it('accepts 10,000 values in all lists, not 10,001', () => {
    const values = (count: number): number[] => Array.from({ length: count }, () => 1)
    const { where } = parseQuery({ filter: { a_in: values(10_000) } })
    expect(where?.conditions[0]?.values).toHaveLength(10_000)
    expect(faultOf({ filter: { a_in: values(10_001) } }).code).toBe('QUERY_TOO_LARGE')
    expect(faultOf({ filter: { a_in: values(5000), b_in: values(5001) } }).code).toBe(
      'QUERY_TOO_LARGE',
    )
  })

  it('accepts a query string of 64 KiB and no more', () => {
    const query = (length: number): string => `filter[a_eq]=${'x'.repeat(length - 13)}`
    expect(parseQuery(query(65_536)).where?.conditions[0]?.values[0]).toHaveLength(65_523)
    expect(faultOf(query(65_537))).toEqual({ code: 'QUERY_TOO_LARGE' })
    expect(faultOf(`filter[a_eq]=${'é'.repeat(32_763)}`)).toEqual({ code: 'QUERY_TOO_LARGE' })
  })

  it('accepts the same size in an object', () => {
    expect(faultOf({ filter: { a_eq: 'x'.repeat(65_536) } }).code).toBe('QUERY_TOO_LARGE')
    expect(parseQuery({ filter: { a_eq: 'x'.repeat(65_000) } }).where?.conditions).toHaveLength(1)
  })
})
