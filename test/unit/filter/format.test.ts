import { type EventQuery, formatQuery, parseQuery } from 'daybook'
import { describe, expect, it } from 'vitest'

const LIMIT = 'limit=10'

describe('formatQuery', () => {
  const written: readonly (readonly [title: string, query: EventQuery, text: string])[] = [
    ['nothing but the limit', { where: undefined, sorts: [], limit: 25 }, 'limit=25'],
    [
      'conditions, brackets unencoded',
      {
        where: {
          combinator: 'and',
          conditions: [
            { attributes: ['type'], combinator: 'and', predicate: 'eq', values: ['a:b:c'] },
            { attributes: ['n'], combinator: 'and', predicate: 'lt', values: ['5'] },
          ],
          groupings: [],
        },
        sorts: [],
        limit: 10,
      },
      `filter[type_eq]=a%3Ab%3Ac&filter[n_lt]=5&${LIMIT}`,
    ],
    [
      'lists',
      {
        where: {
          combinator: 'and',
          conditions: [
            { attributes: ['type'], combinator: 'and', predicate: 'in', values: ['a', 'b c'] },
            { attributes: ['n'], combinator: 'and', predicate: 'cont_any', values: ['x'] },
          ],
          groupings: [],
        },
        sorts: [],
        limit: 10,
      },
      `filter[type_in][]=a&filter[type_in][]=b%20c&filter[n_cont_any][]=x&${LIMIT}`,
    ],
    [
      'flags',
      {
        where: {
          combinator: 'and',
          conditions: [
            { attributes: ['system'], combinator: 'and', predicate: 'not_true', values: [] },
            { attributes: ['a'], combinator: 'and', predicate: 'null', values: [] },
          ],
          groupings: [],
        },
        sorts: [],
        limit: 10,
      },
      `filter[system_not_true]=1&filter[a_null]=1&${LIMIT}`,
    ],
    [
      'values with every mark of a URL',
      {
        where: {
          combinator: 'and',
          conditions: [
            { attributes: ['a'], combinator: 'and', predicate: 'eq', values: ['&=+%#[]?/é😀'] },
          ],
          groupings: [],
        },
        sorts: [],
        limit: 10,
      },
      `filter[a_eq]=%26%3D%2B%25%23%5B%5D%3F%2F%C3%A9%F0%9F%98%80&${LIMIT}`,
    ],
    [
      'names with marks of a URL',
      {
        where: {
          combinator: 'and',
          conditions: [
            { attributes: ['a&b=ü'], combinator: 'and', predicate: 'eq', values: ['x'] },
          ],
          groupings: [],
        },
        sorts: [],
        limit: 10,
      },
      `filter[a%26b%3D%C3%BC_eq]=x&${LIMIT}`,
    ],
    [
      'several attributes of one name',
      {
        where: {
          combinator: 'and',
          conditions: [
            {
              attributes: ['a', 'b'],
              combinator: 'or',
              joinedName: 'a_or_b',
              predicate: 'cont',
              values: ['x'],
            },
          ],
          groupings: [],
        },
        sorts: [],
        limit: 10,
      },
      `filter[a_or_b_cont]=x&${LIMIT}`,
    ],
    [
      'several attributes without a name of their own',
      {
        where: {
          combinator: 'and',
          conditions: [
            { attributes: ['a', 'b'], combinator: 'or', predicate: 'in', values: ['x', 'y'] },
            { attributes: ['a', 'b'], combinator: 'and', predicate: 'null', values: [] },
          ],
          groupings: [],
        },
        sorts: [],
        limit: 10,
      },
      'filter[c][0][a][]=a&filter[c][0][a][]=b&filter[c][0][m]=or&filter[c][0][p]=in' +
        '&filter[c][0][v][]=x&filter[c][0][v][]=y' +
        `&filter[c][1][a][]=a&filter[c][1][a][]=b&filter[c][1][p]=null&filter[c][1][v][]=1&${LIMIT}`,
    ],
    [
      'an attribute that would read as another name and predicate',
      {
        where: {
          combinator: 'and',
          conditions: [
            { attributes: ['a_not'], combinator: 'and', predicate: 'eq', values: ['x'] },
            { attributes: ['b_or_c'], combinator: 'and', predicate: 'eq', values: ['x'] },
            { attributes: ['d[0]'], combinator: 'and', predicate: 'eq', values: ['x'] },
          ],
          groupings: [],
        },
        sorts: [],
        limit: 10,
      },
      'filter[c][0][a][]=a_not&filter[c][0][p]=eq&filter[c][0][v][]=x' +
        '&filter[c][1][a][]=b_or_c&filter[c][1][p]=eq&filter[c][1][v][]=x' +
        `&filter[c][2][a][]=d%5B0%5D&filter[c][2][p]=eq&filter[c][2][v][]=x&${LIMIT}`,
    ],
    [
      'a value whose spaces would be trimmed',
      {
        where: {
          combinator: 'and',
          conditions: [{ attributes: ['a'], combinator: 'and', predicate: 'eq', values: [' x '] }],
          groupings: [
            {
              combinator: 'and',
              conditions: [
                { attributes: ['a'], combinator: 'and', predicate: 'eq', values: [' x '] },
              ],
              groupings: [],
            },
          ],
        },
        sorts: [],
        limit: 10,
      },
      'filter[c][0][a][]=a&filter[c][0][p]=eq&filter[c][0][v][]=%20x%20' +
        `&filter[g][0][a_eq]=%20x%20&${LIMIT}`,
    ],
    [
      'the same key twice',
      {
        where: {
          combinator: 'or',
          conditions: [
            { attributes: ['a'], combinator: 'and', predicate: 'eq', values: ['1'] },
            { attributes: ['a'], combinator: 'and', predicate: 'eq', values: ['2'] },
          ],
          groupings: [],
        },
        sorts: [],
        limit: 10,
      },
      'filter[m]=or&filter[a_eq]=1' +
        `&filter[c][0][a][]=a&filter[c][0][p]=eq&filter[c][0][v][]=2&${LIMIT}`,
    ],
    [
      'groupings in groupings',
      {
        where: {
          combinator: 'and',
          conditions: [],
          groupings: [
            {
              combinator: 'or',
              conditions: [
                { attributes: ['a'], combinator: 'and', predicate: 'eq', values: ['1'] },
              ],
              groupings: [
                {
                  combinator: 'and',
                  conditions: [
                    { attributes: ['b'], combinator: 'and', predicate: 'eq', values: ['2'] },
                  ],
                  groupings: [],
                },
              ],
            },
            {
              combinator: 'and',
              conditions: [
                { attributes: ['c'], combinator: 'and', predicate: 'eq', values: ['3'] },
              ],
              groupings: [],
            },
          ],
        },
        sorts: [],
        limit: 10,
      },
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
  ])('gives back %s', (text) => {
    expect(formatQuery(parseQuery(text))).toBe(text)
  })

  it.each([
    // One attribute, though joined by or.
    'filter[c][0][a]=x&filter[c][0][m]=or&filter[c][0][p]=eq&filter[c][0][v]=1',
    // Of three conditions in parts the middle one could be a key.
    'filter[c][0][a]=x_or_y&filter[c][0][p]=eq&filter[c][0][v]=1' +
      '&filter[c][1][a]=x&filter[c][1][p]=eq&filter[c][1][v]=2' +
      '&filter[c][2][a]=x_or_y&filter[c][2][p]=eq&filter[c][2][v]=3',
    'filter[b_in]=x&filter[g][][a_eq]=1&filter[s]=type&filter[a_lt]=2&filter[s]=n+desc&limit=5000',
    'filter[a_or_b_eq]=x&filter[g][0][a_or_b_eq]=+x',
    'filter[c][0][a]=a%5B_or_b&filter[c][0][p]=eq&filter[c][0][v]=1',
  ])('writes what reads as the same as %s', (text) => {
    const query = parseQuery(text)
    expect(parseQuery(formatQuery(query))).toEqual(query)
  })
})
