import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addAfter,
  addGroup,
  changeRow,
  moveMember,
  removeMember,
  rowsOf,
  toggleGroup,
} from '../../../../adapters/page/builder/edits.js'
import {
  emptyRow,
  type Group,
  groupOf,
  isFinished,
  isGroup,
  predicateFor,
  readGroup,
  type Row,
  ROW_PREDICATES,
  writeGroup,
} from '../../../../adapters/page/builder/model.js'
import { optionsFor } from '../../../../adapters/page/builder/options.js'
import {
  ALL_TIME,
  apiQuery,
  conditionOn,
  type Conjunct,
  parsePageQuery,
} from '../../../../adapters/page/data/query.js'
import { fullEvent, holds, where } from '../data/queries.js'

const row = (attribute: string, change: Partial<Row> = {}): Row => ({
  ...emptyRow(),
  attribute,
  values: ['1'],
  ...change,
})

/** `a (b c) d` */
const shape = (group: Group): string =>
  group.members
    .map((member) => (isGroup(member) ? `(${shape(member)})` : member.attribute))
    .join(' ')

const filterOf = (root: Group): string =>
  apiQuery({ where: writeGroup(root), sorts: [], range: ALL_TIME })

describe('rows that were not changed', () => {
  it('match the same events, also in nested groups', () => {
    fc.assert(
      fc.property(where, fullEvent, (where, event) => {
        const written = writeGroup(readGroup(where))
        const all = (parts: readonly Conjunct[]): boolean => parts.every((one) => holds(one, event))
        expect(all(written)).toBe(all(where))
        if (where.every((part) => !('groupings' in part))) expect(written).toEqual(where)
      }),
      { numRuns: 150 },
    )
  })

  it('keep groups of any and of all', () => {
    const search =
      'filter[a_eq]=x&filter[g][0][m]=or&filter[g][0][b_eq]=1&filter[g][0][g][0][c_eq]=2&filter[g][0][g][0][d_eq]=3'
    expect(filterOf(readGroup(parsePageQuery(search).where))).toBe(search)
    const any = 'filter[m]=or&filter[b_eq]=1&filter[c_eq]=2'
    const root = readGroup(parsePageQuery(any).where)
    expect(root.combinator).toBe('or')
    expect(filterOf(root)).toBe(any)
  })

  it('show levels as levels', () => {
    const search = 'filter[type_start_any][]=warn:&filter[type_start_any][]=warning:'
    const [level] = rowsOf(readGroup(parsePageQuery(search).where))
    expect(level).toMatchObject({ isLevel: true, predicate: 'eq', values: ['warn'] })
  })
})

describe('rows', () => {
  it.each([
    [{ predicate: 'eq', values: ['x'] }, 'eq'],
    [{ predicate: 'eq', values: ['x', 'y'] }, 'in'],
    [{ predicate: 'eq', values: ['x', 'y'], join: 'all' }, 'eq_all'],
    [{ predicate: 'not_eq', values: ['x', 'y'] }, 'not_in'],
    [{ predicate: 'cont', values: ['x', 'y'] }, 'cont_any'],
    [{ predicate: 'not_cont', values: ['x', 'y'] }, 'not_cont_all'],
    [{ predicate: 'not_cont', values: ['x', 'y'], join: 'all' }, 'not_cont_any'],
  ] as const)('%o are written with the predicate %s', (change, predicate) => {
    expect(predicateFor(row('a', change))).toBe(predicate)
  })

  it('offer each predicate once, and lists by several values', () => {
    expect(ROW_PREDICATES).toEqual([
      ...['eq', 'not_eq', 'lt', 'lteq', 'gt', 'gteq', 'matches', 'does_not_match'],
      ...['cont', 'not_cont', 'start', 'not_start', 'end', 'not_end'],
      ...['true', 'not_true', 'false', 'not_false', 'null', 'not_null', 'blank', 'present'],
    ])
  })

  it('are left out while they are incomplete', () => {
    const root = groupOf('and', [
      row('a'),
      row('b', { values: [] }),
      row(' '),
      row('c', { values: [], predicate: 'null' }),
      groupOf('or', [row('', { values: [] })]),
    ])
    expect(rowsOf(root).map(isFinished)).toEqual([true, false, false, true, false])
    expect(writeGroup(root)).toEqual([conditionOn('a', 'eq', ['1']), conditionOn('c', 'null')])
  })

  it('that were changed are written from their fields', () => {
    const root = readGroup(parsePageQuery('filter[a_eq_any][]=x&filter[a_eq_any][]=y').where)
    const [first] = rowsOf(root)
    expect(filterOf(root)).toContain('eq_any')
    expect(filterOf(changeRow(root, first!.id, { values: ['x', 'z'] }))).toBe(
      'filter[a_in][]=x&filter[a_in][]=z',
    )
  })
})

describe('edits', () => {
  const [a, b, c, d] = [row('a'), row('b'), row('c'), row('d')]
  const inner = groupOf('or', [b, c])
  const root = groupOf('and', [a, inner, d])

  it('move a row past others, into groups and out of them', () => {
    const steps: string[] = []
    let at = root
    for (let step = 0; step < 6; step++) {
      at = moveMember(at, a.id, 1)
      steps.push(shape(at))
    }
    expect(steps).toEqual([
      '(a b c) d',
      '(b a c) d',
      '(b c a) d',
      '(b c) a d',
      '(b c) d a',
      '(b c) d a',
    ])
    const back = Array.from({ length: 5 }, () => shape((at = moveMember(at, a.id, -1))))
    expect(back).toEqual(['(b c) a d', '(b c a) d', '(b a c) d', '(a b c) d', 'a (b c) d'])
    expect(shape(moveMember(at, a.id, -1))).toBe('a (b c) d')
  })

  it('remove empty groups', () => {
    const only = groupOf('and', [a, groupOf('or', [b])])
    expect(shape(moveMember(only, b.id, 1))).toBe('a b')
    expect(shape(removeMember(only, b.id))).toBe('a')
    expect(shape(removeMember(groupOf('and', [a]), a.id))).toBe('')
  })

  it('add rows after others, and groups with the opposite combinator', () => {
    expect(shape(addAfter(root, b.id, row('x')))).toBe('a (b x c) d')
    const grown = addGroup(root, inner, row('x'))
    expect(shape(grown)).toBe('a (b c (x)) d')
    expect(filterOf(toggleGroup(root, inner.id))).toBe(
      'filter[a_eq]=1&filter[b_eq]=1&filter[c_eq]=1&filter[d_eq]=1',
    )
    expect(filterOf(toggleGroup(root, root.id))).toContain('filter[m]=or')
  })
})

describe('an option', () => {
  const words = {
    attributes: { username: 'user' },
    level: 'level',
    predicates: { eq: 'is', not_eq: 'is not', cont: 'contains', null: 'is missing' },
    timePredicates: {},
    or: 'or',
    and: 'and',
  }
  const attributes = [
    { name: 'username', from: 'own' as const, types: ['string'], count: undefined, values: [] },
    { name: 'level', from: 'seen' as const, types: ['string'], count: 2, values: [] },
    {
      name: 'name',
      from: 'seen' as const,
      types: ['string'],
      count: 3,
      values: [{ value: 'nightly', count: 2 }, { value: 'daily' }],
    },
  ]
  const values = (part: 'attribute' | 'predicate' | 'value', row: Row, typed: string): string[] =>
    optionsFor(part, row, typed, { attributes, words }).map(({ value }) => value)

  it('is an attribute by either name, or the typed name', () => {
    expect(values('attribute', emptyRow(), '')).toEqual(['username', 'level', '*', 'level', 'name'])
    expect(values('attribute', emptyRow(), 'user')).toEqual(['username', 'user'])
    const [level, seen] = optionsFor('attribute', emptyRow(), 'level', { attributes, words })
    expect([level?.isLevel, seen?.isLevel]).toEqual([true, undefined])
  })

  it('is a predicate by its words or its API name', () => {
    expect(values('predicate', row('a'), 'is m')).toEqual(['null'])
    expect(values('predicate', row('a'), 'cont')).toContain('cont')
    expect(values('predicate', row('', { isLevel: true }), '')).toEqual(['eq', 'not_eq'])
    expect(values('predicate', row('*'), '')).toEqual(['cont', 'not_cont'])
  })

  it('is an existing value, or the typed one', () => {
    const empty = { values: [] }
    expect(values('value', row('name', empty), 'ly')).toEqual(['nightly', 'daily', 'ly'])
    expect(values('value', row('name', { ...empty, predicate: 'cont' }), 'ly')[0]).toBe('ly')
    expect(values('value', row('name', { values: ['daily'] }), '')).toEqual(['nightly'])
    expect(values('value', row('', { ...empty, isLevel: true }), 'w')).toEqual(['warn'])
  })
})
