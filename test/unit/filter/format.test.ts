import { type EventQuery, formatQuery, parseQuery } from 'daybook'
import { describe, expect, it } from 'vitest'
import { all, and, cond, everything, joined, or, where } from './queries.js'

const LIMIT = 'limit=10'

describe('formatQuery', () => {
  const written: readonly (readonly [title: string, query: EventQuery, text: string])[] = [
    ['nothing but the limit', { ...everything, limit: 25 }, 'limit=25'],
    [
      'conditions, brackets unencoded',
      all(cond('type', 'eq', 'a:b:c'), cond('n', 'lt', '5')),
      `filter[type_eq]=a%3Ab%3Ac&filter[n_lt]=5&${LIMIT}`,
    ],
    [
      'lists',
      all(cond('type', 'in', 'a', 'b c'), cond('n', 'cont_any', 'x')),
      `filter[type_in][]=a&filter[type_in][]=b%20c&filter[n_cont_any][]=x&${LIMIT}`,
    ],
    [
      'flags',
      all(cond('system', 'not_true'), cond('a', 'null')),
      `filter[system_not_true]=1&filter[a_null]=1&${LIMIT}`,
    ],
    [
      'values with every mark of a URL',
      all(cond('a', 'eq', '&=+%#[]?/é😀')),
      `filter[a_eq]=%26%3D%2B%25%23%5B%5D%3F%2F%C3%A9%F0%9F%98%80&${LIMIT}`,
    ],
    [
      'names with marks of a URL',
      all(cond('a&b=ü', 'eq', 'x')),
      `filter[a%26b%3D%C3%BC_eq]=x&${LIMIT}`,
    ],
    [
      'sorts, also by a name with spaces and commas',
      {
        ...everything,
        sorts: [
          { attribute: 'User Name, old', direction: 'desc' },
          { attribute: 'type', direction: 'asc' },
        ],
      },
      'filter[sorts][0][name]=User%20Name%2C%20old&filter[sorts][0][dir]=desc' +
        `&filter[sorts][1][name]=type&filter[sorts][1][dir]=asc&${LIMIT}`,
    ],
    [
      'several attributes of one name',
      all(joined('or', ['a', 'b'], 'cont', 'x')),
      `filter[a_or_b_cont]=x&${LIMIT}`,
    ],
    [
      'several attributes without a common name',
      all(
        { attributes: ['a', 'b'], combinator: 'or', predicate: 'in', values: ['x', 'y'] },
        { attributes: ['a', 'b'], combinator: 'and', predicate: 'null', values: [] },
      ),
      'filter[c][0][a][]=a&filter[c][0][a][]=b&filter[c][0][m]=or&filter[c][0][p]=in' +
        '&filter[c][0][v][]=x&filter[c][0][v][]=y' +
        `&filter[c][1][a][]=a&filter[c][1][a][]=b&filter[c][1][p]=null&filter[c][1][v][]=1&${LIMIT}`,
    ],
    [
      'an attribute whose name could be parsed as another name with a predicate',
      all(cond('a_not', 'eq', 'x'), cond('b_or_c', 'eq', 'x'), cond('d[0]', 'eq', 'x')),
      'filter[c][0][a][]=a_not&filter[c][0][p]=eq&filter[c][0][v][]=x' +
        '&filter[c][1][a][]=b_or_c&filter[c][1][p]=eq&filter[c][1][v][]=x' +
        `&filter[c][2][a][]=d%5B0%5D&filter[c][2][p]=eq&filter[c][2][v][]=x&${LIMIT}`,
    ],
    [
      'a value whose spaces would be trimmed',
      where(and([cond('a', 'eq', ' x ')], [and([cond('a', 'eq', ' x ')])])),
      'filter[c][0][a][]=a&filter[c][0][p]=eq&filter[c][0][v][]=%20x%20' +
        `&filter[g][0][a_eq]=%20x%20&${LIMIT}`,
    ],
    [
      'two conditions that would have the same key',
      where(or([cond('a', 'eq', '1'), cond('a', 'eq', '2')])),
      'filter[m]=or&filter[a_eq]=1' +
        `&filter[c][0][a][]=a&filter[c][0][p]=eq&filter[c][0][v][]=2&${LIMIT}`,
    ],
    [
      'groupings in groupings',
      where(
        and(
          [],
          [or([cond('a', 'eq', '1')], [and([cond('b', 'eq', '2')])]), and([cond('c', 'eq', '3')])],
        ),
      ),
      'filter[g][0][m]=or&filter[g][0][a_eq]=1&filter[g][0][g][0][b_eq]=2' +
        `&filter[g][1][c_eq]=3&${LIMIT}`,
    ],
    [
      'sorts',
      {
        where: undefined,
        sorts: [
          { attribute: 'type', direction: 'asc' },
          { attribute: 'created_at', direction: 'desc' },
        ],
        limit: 1000,
      },
      'filter[sorts][]=type%20asc&filter[sorts][]=created_at%20desc&limit=1000',
    ],
  ]
  it.each(written)('%s', (_, query, text) => {
    expect(formatQuery(query)).toBe(text)
    expect(parseQuery(text)).toEqual(query)
  })

  it.each([
    'limit=10',
    'filter[m]=or&filter[a_eq]=x&filter[b_in][]=1&filter[b_in][]=2&limit=10',
    'filter[a_or_b_eq]=x&filter[a_or_b_not_eq]=x&limit=10',
    'filter[a_or_b_in][]=%20x&limit=10',
    'filter[g][0][a_or_b_eq]=x&limit=10',
    'filter[sorts][]=type%20asc&limit=10',
  ])('returns %s unchanged', (text) => {
    expect(formatQuery(parseQuery(text))).toBe(text)
  })

  it.each([
    // The combinator `or` has no effect on a single attribute.
    'filter[c][0][a]=x&filter[c][0][m]=or&filter[c][0][p]=eq&filter[c][0][v]=1',
    // Only the second of the three conditions has a short form.
    'filter[c][0][a]=x_or_y&filter[c][0][p]=eq&filter[c][0][v]=1' +
      '&filter[c][1][a]=x&filter[c][1][p]=eq&filter[c][1][v]=2' +
      '&filter[c][2][a]=x_or_y&filter[c][2][p]=eq&filter[c][2][v]=3',
    'filter[b_in]=x&filter[g][][a_eq]=1&filter[s]=type&filter[a_lt]=2&filter[s]=n+desc&limit=5000',
    'filter[a_or_b_eq]=x&filter[g][0][a_or_b_eq]=+x',
    'filter[c][0][a]=a%5B_or_b&filter[c][0][p]=eq&filter[c][0][v]=1',
  ])('writes a text that is parsed to the same query as %s', (text) => {
    const query = parseQuery(text)
    expect(parseQuery(formatQuery(query))).toEqual(query)
  })
})
