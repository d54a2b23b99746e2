import {
  type AuditLogError,
  type Condition,
  formatQuery,
  parseQuery,
  type QueryObject,
} from 'daybook'
import { describe, expect, it } from 'vitest'
import { refusalOf } from '../errors.js'

const found = (text: string): Condition => ({
  attributes: ['*'],
  combinator: 'and',
  predicate: 'cont',
  values: [text],
})
const excluded = (text: string): Condition => ({ ...found(text), predicate: 'not_cont' })

const whereOf = (query: string | QueryObject) => parseQuery(query).where
const conditionsOf = (q: string) => whereOf({ q })?.conditions

const refusal = (query: string | QueryObject): AuditLogError => refusalOf(() => parseQuery(query))

describe('free text', () => {
  const read: readonly (readonly [q: string, conditions: readonly Condition[]])[] = [
    ['deploy', [found('deploy')]],
    ['  a\tb\u00A0c ', [found('a'), found('b'), found('c')]],
    ['"two words"', [found('two words')]],
    ['" spaces "', [found(' spaces ')]],
    ['-bob -"two words"', [excluded('bob'), excluded('two words')]],
    ['"-bob"', [found('-bob')]],
    ['--force', [excluded('-force')]],
    ['a-b', [found('a-b')]],
    ['"say ""hi"""', [found('say "hi"')]],
    ['5"', [found('5"')]],
    ['a"b c"d', [found('a"b'), found('c"d')]],
    ['"a"b', [found('a'), found('b')]],
    ['"a""b"', [found('a"b')]],
    ['"c:\\temp\\"', [found('c:\\temp\\')]],
    ['*', [found('*')]],
  ]
  it.each(read)('%j is read as words and phrases', (q, conditions) => {
    expect(conditionsOf(q)).toEqual(conditions)
  })

  it('is left out if it is blank', () => {
    for (const q of ['', '  ', '\t\u0085', []]) expect(whereOf({ q })).toBeUndefined()
    expect(whereOf('q=&q=+')).toBeUndefined()
  })

  it('may be repeated', () => {
    const both = { combinator: 'and', conditions: [found('a'), found('b c')], groupings: [] }
    expect(whereOf('q=a&q=%22b+c%22')).toEqual(both)
    expect(whereOf('q[]=a&q[]="b c"')).toEqual(both)
    expect(whereOf({ q: ['a', '"b c"'] })).toEqual(both)
  })

  it('must match in addition to the filter', () => {
    expect(whereOf('filter[n_eq]=1&q=a')).toMatchObject({
      combinator: 'and',
      conditions: [{ attributes: ['n'] }, found('a')],
    })
    expect(whereOf('q=a&filter[m]=or&filter[n_eq]=1&filter[t_eq]=2')).toEqual({
      combinator: 'and',
      conditions: [found('a')],
      groupings: [whereOf('filter[m]=or&filter[n_eq]=1&filter[t_eq]=2')],
    })
  })

  it('is the same as a filter on *', () => {
    expect(whereOf('q=a -b')).toEqual(whereOf('filter[*_cont]=a&filter[*_not_cont]=b'))
  })

  const refused: readonly (readonly [q: QueryObject['q'], code: string, message: RegExp])[] = [
    ['"open', 'MALFORMED_PARAMETER', /^q: the quotation mark at position 1 is not closed$/],
    ['a -"open', 'MALFORMED_PARAMETER', /^q: the quotation mark at position 4 is not closed$/],
    ['"a" "b', 'MALFORMED_PARAMETER', /^q: the quotation mark at position 5 is not closed$/],
    ['a - b', 'MALFORMED_PARAMETER', /^q: a minus stands directly before what it excludes/],
    ['""', 'INVALID_VALUE', /^q: a phrase must not be blank$/],
    ['-" "', 'INVALID_VALUE', /^q: a phrase must not be blank$/],
    ['a '.repeat(21), 'QUERY_TOO_LARGE', /^q has more than 20 words and phrases$/],
    [['a '.repeat(20), 'b'], 'QUERY_TOO_LARGE', /^q has more than 20 words and phrases$/],
    ['x'.repeat(1001), 'QUERY_TOO_LARGE', /^q has more than 1000 characters$/],
    [['x'.repeat(600), 'x'.repeat(401)], 'QUERY_TOO_LARGE', /^q has more than 1000 characters$/],
  ]
  it.each(refused)('%j is refused', (q, code, message) => {
    expect(refusal({ q })).toMatchObject({
      code,
      parameter: 'q',
      message: expect.stringMatching(message),
    })
  })

  it('takes 20 words and 1000 characters', () => {
    expect(conditionsOf('a '.repeat(20))).toHaveLength(20)
    expect(conditionsOf('x'.repeat(1000))).toHaveLength(1)
  })

  it('is a text or a list of texts', () => {
    expect(refusal('q[a][b]=x').parameter).toBe('q[a]')
    expect(refusal({ q: { a: { b: 'x' } } as unknown as string }).parameter).toBe('q[a]')
  })

  it('is not a parameter of other lists', () => {
    const options = { attributes: { name: 'string' } } as const
    expect(() => parseQuery('q=a', options)).toThrow(
      /^q is not a parameter of this list, which has filter, limit$/,
    )
  })
})

describe('a filter on *', () => {
  it('takes cont and not_cont only', () => {
    for (const predicate of ['cont', 'not_cont', 'i_cont', 'not_i_cont_any', 'cont_all'])
      expect(whereOf(`filter[*_${predicate}]=x`)).toBeDefined()
    for (const name of ['*_eq', '*_start', '*_null', '*_or_type_eq'])
      expect(refusal(`filter[${name}]=x`)).toMatchObject({
        code: 'INVALID_VALUE',
        parameter: `filter[${name}]`,
        message: expect.stringContaining('* stands for all texts'),
      })
  })
})

describe('formatted free text', () => {
  const written: readonly (readonly [query: string, text: string])[] = [
    ['q=a -b "c d"', 'q=a%20-b%20%22c%20d%22&limit=10'],
    ['filter[type_eq]=x&q=a&q=b', 'q=a%20b&filter[type_eq]=x&limit=10'],
    ['filter[*_not_cont]=-b', 'q=-%22-b%22&limit=10'],
    ['filter[*_cont]="', 'q=%22%22%22%22&limit=10'],
    [
      'filter[m]=or&filter[*_cont]=a&filter[n_eq]=1',
      'filter[m]=or&filter[*_cont]=a&filter[n_eq]=1&limit=10',
    ],
    ['filter[*_i_cont]=a', 'filter[*_i_cont]=a&limit=10'],
    ['filter[*_or_n_cont]=a', 'filter[*_or_n_cont]=a&limit=10'],
    ['filter[g][0][*_cont]=a', 'filter[g][0][*_cont]=a&limit=10'],
  ]
  it.each(written)('of %s', (query, text) => {
    expect(formatQuery(parseQuery(query))).toBe(text)
  })
})
