import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  queryParts,
  repairedQuery,
  withoutPart,
} from '../../../../adapters/page/data/invalid-query.js'
import { faultOf, queryTokens, readableQuery } from '../../../../adapters/page/data/query-tokens.js'
import { formatPageQuery, parsePageQuery } from '../../../../adapters/page/data/query.js'
import { pageQuery } from './queries.js'

const faultIn = (search: string): Error => {
  try {
    parsePageQuery(search)
  } catch (error) {
    return error as Error
  }
  throw new Error(`${search} can be read`)
}

describe('the text of a query', () => {
  it('keeps its meaning with only the necessary encoding', () => {
    fc.assert(
      fc.property(pageQuery, (query) => {
        const text = readableQuery(formatPageQuery(query))
        expect(parsePageQuery(text)).toEqual(query)
        expect(readableQuery(text)).toBe(text)
        expect(
          queryTokens(text)
            .map((token) => token.text)
            .join(''),
        ).toBe(text)
      }),
      { numRuns: 100 },
    )
  })

  it('shows letters, and encodes characters that break links or are invisible', () => {
    expect(readableQuery('filter[a_eq]=api%3A%E6%97%A5%2F%20x%26%E2%80%AE%23%25')).toBe(
      'filter[a_eq]=api:日/%20x%26%E2%80%AE%23%25',
    )
  })

  it('keeps invalid percent-encoding', () => {
    expect(readableQuery('filter[a_eq]=100%')).toBe('filter[a_eq]=100%25')
  })

  it('separates attribute, predicate and value', () => {
    expect(queryTokens('filter[g][0][url_params_id_not_in][]=x&range=24h')).toEqual([
      { kind: 'plain', text: 'filter[g][0][' },
      { kind: 'attribute', text: 'url_params_id', isBad: false },
      { kind: 'predicate', text: '_not_in', isBad: false },
      { kind: 'plain', text: '][]' },
      { kind: 'plain', text: '=' },
      { kind: 'value', text: 'x', isBad: false },
      { kind: 'plain', text: '&' },
      { kind: 'plain', text: 'range', isBad: false },
      { kind: 'plain', text: '=' },
      { kind: 'value', text: '24h', isBad: false },
    ])
  })

  it.each([
    ['range=1h&filter[type_begins]=api:', '_begins'],
    ['range=1h&filter[g][0][type_begins]=api:', '_begins'],
    ['range=1h&filter[qqqq]=api:', 'qqqq'],
    ['range=1h&filter[created_at_gt]=yesterday', 'yesterday'],
    ['range=1h&filter[m]=xor', 'xor'],
    ['range=soon&filter[a_eq]=1', 'soon'],
    ['range=1h&sort=a', 'sort'],
    ['range=1h&filter[c][0][p]=begins&filter[c][0][a]=b', 'p'],
  ])('marks the invalid part of %s', (search, bad) => {
    const tokens = queryTokens(search, faultOf(faultIn(search)))
    expect(tokens.filter(({ isBad }) => isBad).map(({ text }) => text)).toEqual([bad])
  })
})

describe('an invalid query', () => {
  const search =
    'range=24h&filter[type_begins]=a&filter[a_in][]=x&filter[a_in][]=y&filter[g][0][m]=or&filter[g][0][b_eq]=1'

  it('splits into independent parts', () => {
    const parts = queryParts(search)
    expect(
      parts.map(({ text, fault, conjuncts }) => [text, fault?.part, conjuncts.length]),
    ).toEqual([
      ['range=24h', undefined, 0],
      ['filter[type_begins]=a', 'predicate', 0],
      ['filter[a_in][]=x&filter[a_in][]=y', undefined, 1],
      ['filter[g][0][m]=or&filter[g][0][b_eq]=1', undefined, 1],
    ])
    expect(withoutPart(parts, parts[1]!)).toBe(search.replace('filter[type_begins]=a&', ''))
  })

  it('is repaired with the nearest name', () => {
    expect(repairedQuery(search, faultIn(search))).toBe(search.replace('begins', 'start'))
    const quoted = 'range=1h&filter[a_eq]=type_begins&filter[type_begins]=a'
    expect(repairedQuery(quoted, faultIn(quoted))).toBe(
      quoted.replace('[type_begins]', '[type_start]'),
    )
    const nested = 'range=1h&filter[g][0][type_begins]=a'
    expect(repairedQuery(nested, faultIn(nested))).toBe(nested.replace('begins', 'start'))
    const other = 'range=1h&filter[created_at_gt]=soon'
    expect(repairedQuery(other, faultIn(other))).toBeUndefined()
  })
})
