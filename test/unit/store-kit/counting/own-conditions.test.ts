import { parseQuery } from 'daybook'
import { describe, expect, it } from 'vitest'
import { groupFields } from '../../../../src/store-kit/counting/group-fields.js'
import { filterParts } from '../../../../src/store-kit/counting/own-conditions.js'
import { formatQuery } from '../../../../src/filter/format.js'
import type { Grouping } from '../../../../src/filter/ast.js'
import { filters } from '../../filter/queries.js'

const FACETS = ['level', 'type', 'username', 'name']

const text = (where: Grouping | undefined): string =>
  decodeURIComponent(formatQuery({ where, sorts: [], limit: 10 }).replace(/&?limit=10$/, ''))

/** The parts of a filter as query strings, with the query's own filter last. */
function partsOf(query: string, facets: readonly string[] = FACETS): Record<string, string> {
  const { shared, own } = filterParts({
    where: parseQuery(query).where,
    visible: undefined,
    facets,
  })
  const parts: Record<string, string> = {}
  if (shared) parts['shared'] = text(shared)
  for (const [facet, where] of own) parts[facet] = text(where)
  return parts
}

describe('the own conditions of a facet', () => {
  it('are the conditions on its attribute alone', () => {
    expect(partsOf('filter[username_eq]=ann&filter[name_cont]=x&filter[other_eq]=1')).toEqual({
      shared: 'filter[other_eq]=1',
      username: 'filter[username_eq]=ann',
      name: 'filter[name_cont]=x',
    })
    expect(partsOf('filter[username_eq]=ann', ['name'])).toEqual({
      shared: 'filter[username_eq]=ann',
    })
  })

  it('of the type exclude conditions on levels', () => {
    expect(
      partsOf(
        'filter[type_start_any][]=Warn:&filter[type_start_any][]=warning:&filter[type_cont]=disk',
      ),
    ).toEqual({
      level: 'filter[type_start_any][]=Warn:&filter[type_start_any][]=warning:',
      type: 'filter[type_cont]=disk',
    })
    expect(partsOf('filter[type_start_any][]=error:&filter[type_start_any][]=deploy:')).toEqual({
      type: 'filter[type_start_any][]=error:&filter[type_start_any][]=deploy:',
    })
    for (const query of [
      'filter[type_start]=error:',
      'filter[type_not_start]=api:',
      'filter[type_not_start_all][]=api:&filter[type_not_start_all][]=INFO:',
    ]) {
      expect(partsOf(query)).toEqual({ level: query })
      expect(partsOf(query, ['type'])).toEqual({ shared: query })
    }
    for (const query of [
      'filter[type_start]=error',
      'filter[type_eq]=error:',
      'filter[type_cont]=error:',
    ])
      expect(partsOf(query)).toEqual({ type: query })
  })

  it.each([
    ['g[0][m]=or&g[0][username_eq]=ann&g[0][username_null]=1', 'username'],
    ['g[0][m]=or&g[0][type_start]=api:&g[0][type_not_start]=info:', 'level'],
    ['g[0][m]=or&g[0][type_start]=api:&g[0][type_eq]=x', 'type'],
    ['g[0][m]=or&g[0][username_eq]=ann&g[0][name_eq]=x', 'shared'],
    // Alternatives count as a whole or not at all.
    ['m=or&username_eq=ann&username_null=1', 'username'],
    ['m=or&username_eq=ann&name_eq=x', 'shared'],
    ['m=or&username_eq=ann', 'username'],
    // Joined names, and an attribute named level.
    ['name_or_username_eq=x', 'shared'],
    ['type_or_type_start=api:', 'shared'],
    ['level_eq=1', 'shared'],
  ])('%s is a condition of one part: %s', (query, part) => {
    expect(Object.keys(partsOf(filters(query)))).toEqual([part])
  })

  it('never include the `visible` filter', () => {
    const { where: visible } = parseQuery('filter[username_eq]=ann')
    const { where } = parseQuery('filter[username_eq]=bob')
    const { shared, own } = filterParts({ where, visible, facets: ['username'] })
    expect(shared).toEqual({ combinator: 'and', conditions: [], groupings: [visible] })
    expect([...own.keys()]).toEqual(['username'])
    expect(filterParts({ where: undefined, visible: undefined, facets: [] })).toEqual({
      shared: undefined,
      own: new Map(),
    })
  })
})

describe('fields to group by', () => {
  const fieldsOf = (query: string, facets: readonly string[] = [], attributes = false) =>
    groupFields({ where: parseQuery(query).where, visible: undefined, facets, attributes })

  it('are the names that filters and facets use', () => {
    expect(fieldsOf('')).toEqual(['type'])
    expect(fieldsOf('', ['level'])).toEqual(['type'])
    expect(fieldsOf('', ['username', 'system'])).toEqual(['type', 'username', 'system'])
    expect(fieldsOf('filter[username_cont]=a')).toEqual(['type', 'username'])
    expect(fieldsOf('filter[created_at_gt]=2026-01-01&filter[created_at_lteq]=2026-02-01')).toEqual(
      ['type'],
    )
    expect(fieldsOf('filter[g][0][created_at_gt]=2026-01-01&filter[g][0][system_true]=1')).toEqual([
      'type',
      'system',
    ])
  })

  it('are undefined if other data is needed', () => {
    expect(fieldsOf('filter[name_eq]=x')).toBeUndefined()
    expect(fieldsOf('filter[id_eq]=x')).toBeUndefined()
    expect(fieldsOf('', ['name'])).toBeUndefined()
    // This filters an attribute named level; the facet level is derived from types.
    expect(fieldsOf('filter[level_eq]=1')).toBeUndefined()
    expect(fieldsOf('filter[level_eq]=1', ['level'])).toBeUndefined()
    expect(fieldsOf('', [], true)).toBeUndefined()
    expect(fieldsOf('filter[type_or_username_eq]=x')).toBeUndefined()
    expect(fieldsOf('filter[created_at_cont]=:00')).toBeUndefined()
    expect(fieldsOf('filter[created_at_not_eq]=2026-01-01')).toBeUndefined()
    expect(
      fieldsOf('filter[m]=or&filter[created_at_gt]=2026-01-01&filter[type_eq]=x'),
    ).toBeUndefined()
  })
})
