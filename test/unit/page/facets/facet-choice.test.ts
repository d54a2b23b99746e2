import { describe, expect, test } from 'vitest'
import {
  choiceOf,
  excludeValue,
  includesValue,
  onlyValue,
  stateOf,
  toggleValue,
} from '../../../../adapters/page/facets/facet-choice.js'
import {
  formatPageQuery,
  type PageQuery,
  parsePageQuery,
} from '../../../../adapters/page/data/query.js'

const read = (filter: string): PageQuery => parsePageQuery(`range=1h&${filter}`)

/** The query string without the range. */
const written = (query: PageQuery): string =>
  decodeURIComponent(formatPageQuery(query)).replace(/^range=1h&?/, '')

const NOTHING = read('')

const ANN_OR_MISSING =
  'filter[m]=or&filter[username_in][]=ann&filter[username_in][]=bob&filter[username_null]=1'

describe('reading the choice', () => {
  test.each([
    ['', true, []],
    ['filter[username_eq]=ann', false, ['ann']],
    ['filter[username_in][]=ann&filter[username_in][]=bob', false, ['ann', 'bob']],
    ['filter[username_eq_any][]=ann&filter[username_eq_any][]=bob', false, ['ann', 'bob']],
    ['filter[username_null]=1', false, [null]],
    ['filter[username_not_null]=1', true, [null]],
    ['filter[username_null]=0', true, [null]],
    ['filter[username_not_eq]=ann', true, ['ann', null]],
    ['filter[username_not_in][]=ann&filter[username_not_in][]=bob', true, ['ann', 'bob', null]],
    ['filter[username_not_eq_all][]=ann', true, ['ann', null]],
    [ANN_OR_MISSING, false, ['ann', 'bob', null]],
    ['filter[m]=or&filter[username_null]=1&filter[username_eq]=ann', false, ['ann', null]],
    ['filter[m]=or&filter[username_not_eq]=ann&filter[username_null]=1', true, ['ann']],
    ['filter[username_not_eq]=ann&filter[username_not_in][]=bob', true, ['ann', null, 'bob']],
    [
      'filter[username_in][]=ann&filter[username_in][]=bob&filter[username_not_eq]=bob',
      false,
      ['ann'],
    ],
    ['filter[username_cont]=an', true, []],
    ['filter[username_or_name_eq]=ann', true, []],
    ['filter[m]=or&filter[username_eq]=ann&filter[name_null]=1', true, []],
    ['filter[m]=or&filter[username_eq]=ann&filter[username_cont]=b', true, []],
    ['filter[m]=or&filter[username_eq]=ann&filter[username_not_null]=1', true, []],
    ['filter[type_eq]=ann', true, []],
  ])('%s', (filter, not, values) => {
    expect(choiceOf(read(filter), 'username')).toEqual({ not, values })
  })

  test.each([
    ['filter[type_start_any][]=error:', false, ['error']],
    ['filter[type_start]=error:', false, ['error']],
    ['filter[type_not_start]=api:', true, ['api']],
    ['filter[type_start_any][]=warn:&filter[type_start_any][]=warning:', false, ['warn']],
    ['filter[type_not_start_all][]=info:&filter[type_not_start_all][]=api:', true, ['info', 'api']],
    ['filter[type_start]=warn:', true, []],
    ['filter[type_eq]=error:', true, []],
  ])('levels: %s', (filter, not, values) => {
    expect(choiceOf(read(filter), 'level')).toEqual({ not, values })
  })

  test('a level is not a choice of type', () => {
    expect(choiceOf(read('filter[type_start_any][]=error:'), 'type')).toEqual({
      not: true,
      values: [],
    })
  })

  test('a checkbox is checked, clear or mixed', () => {
    const chosen = choiceOf(read('filter[username_eq]=ann'), 'username')
    expect(stateOf(chosen, 'ann')).toBe('true')
    expect(stateOf(chosen, 'bob')).toBe('false')
    const shutOut = choiceOf(read('filter[username_not_eq]=ann'), 'username')
    expect(stateOf(shutOut, 'ann')).toBe('mixed')
    expect(stateOf(shutOut, null)).toBe('mixed')
    expect(stateOf(shutOut, 'bob')).toBe('false')
  })

  test('a choice includes its values, or excludes them', () => {
    const shutOut = choiceOf(read('filter[username_not_eq]=ann'), 'username')
    expect([
      includesValue(shutOut, 'ann'),
      includesValue(shutOut, 'bob'),
      includesValue(shutOut, null),
    ]).toEqual([false, true, false])
    expect(includesValue(choiceOf(NOTHING, 'level'), 'error')).toBe(true)
  })
})

describe('toggling', () => {
  test.each([
    ['', 'ann', 'filter[username_eq]=ann'],
    ['', null, 'filter[username_null]=1'],
    ['filter[username_eq]=bob', 'ann', 'filter[username_in][]=bob&filter[username_in][]=ann'],
    ['filter[username_eq]=ann', 'ann', ''],
    ['filter[username_in][]=ann&filter[username_in][]=bob', 'ann', 'filter[username_eq]=bob'],
    ['filter[username_in][]=ann&filter[username_in][]=bob', null, ANN_OR_MISSING],
    [ANN_OR_MISSING, null, 'filter[username_in][]=ann&filter[username_in][]=bob'],
    ['filter[username_null]=1', null, ''],
    [
      'filter[m]=or&filter[username_eq]=ann&filter[username_null]=1',
      'ann',
      'filter[username_null]=1',
    ],
    // Including the excluded value also includes events without a user again.
    ['filter[username_not_eq]=ann', 'ann', ''],
    [
      'filter[username_not_eq]=ann',
      null,
      'filter[m]=or&filter[username_not_eq]=ann&filter[username_null]=1',
    ],
    ['filter[username_not_null]=1', null, ''],
    [
      'filter[username_not_in][]=ann&filter[username_not_in][]=bob',
      'ann',
      'filter[username_not_eq]=bob',
    ],
    ['filter[username_not_eq]=ann', 'bob', 'filter[username_eq]=bob'],
  ])('%s, %s', (before, value, after) => {
    expect(written(toggleValue(read(before), 'username', value))).toBe(after)
  })
})

describe('only', () => {
  test.each([
    ['', 'ann', 'filter[username_eq]=ann'],
    [ANN_OR_MISSING, 'bob', 'filter[username_eq]=bob'],
    ['filter[username_not_eq]=ann', 'ann', 'filter[username_eq]=ann'],
    ['filter[username_eq]=ann', null, 'filter[username_null]=1'],
  ])('%s, %s', (before, value, after) => {
    expect(written(onlyValue(read(before), 'username', value))).toBe(after)
  })
})

describe('excluding', () => {
  test.each([
    ['', 'ann', 'filter[username_not_eq]=ann'],
    ['', null, 'filter[username_not_null]=1'],
    ['filter[username_eq]=bob', 'ann', 'filter[username_not_eq]=ann'],
    [
      'filter[username_not_eq]=ann',
      'bob',
      'filter[username_not_in][]=ann&filter[username_not_in][]=bob',
    ],
    ['filter[username_not_eq]=ann', 'ann', ''],
    [
      'filter[m]=or&filter[username_not_eq]=ann&filter[username_null]=1',
      'bob',
      'filter[m]=or&filter[username_not_in][]=ann&filter[username_not_in][]=bob&filter[username_null]=1',
    ],
    [
      'filter[m]=or&filter[username_not_eq]=ann&filter[username_null]=1',
      null,
      'filter[username_not_eq]=ann',
    ],
  ])('%s, %s', (before, value, after) => {
    expect(written(excludeValue(read(before), 'username', value))).toBe(after)
  })
})

describe('beside other filters', () => {
  const OTHERS = 'filter[name_eq]=nightly&filter[username_cont]=n'

  test('other filters stay, even on the same attribute', () => {
    const query = toggleValue(read(OTHERS), 'username', 'ann')
    expect(written(query)).toBe(`${OTHERS}&filter[username_eq]=ann`)
    expect(written(toggleValue(query, 'username', 'ann'))).toBe(OTHERS)
  })

  test('the choice keeps its position, and several choices become one', () => {
    const query = read(
      'filter[username_not_eq]=ann&filter[name_eq]=nightly&filter[username_not_in][]=bob',
    )
    expect(written(toggleValue(query, 'username', null))).toBe(
      'filter[name_eq]=nightly&filter[g][0][m]=or&filter[g][0][username_not_in][]=ann&filter[g][0][username_not_in][]=bob&filter[g][0][username_null]=1',
    )
    expect(written(onlyValue(query, 'username', 'eve'))).toBe(
      'filter[username_eq]=eve&filter[name_eq]=nightly',
    )
  })
})

describe('levels', () => {
  test('warn stands for both of its prefixes', () => {
    expect(written(toggleValue(NOTHING, 'level', 'warn'))).toBe(
      'filter[type_start_any][]=warn:&filter[type_start_any][]=warning:',
    )
  })

  test('are selected one after the other, and deselected', () => {
    const one = toggleValue(NOTHING, 'level', 'info')
    const two = toggleValue(one, 'level', 'error')
    expect(written(two)).toBe('filter[type_start_any][]=error:&filter[type_start_any][]=info:')
    expect(toggleValue(two, 'level', 'error')).toEqual(one)
    expect(toggleValue(one, 'level', 'info')).toEqual(NOTHING)
  })

  test('are excluded and included again', () => {
    const query = excludeValue(NOTHING, 'level', 'api')
    expect(written(query)).toBe('filter[type_not_start_all][]=api:')
    expect(excludeValue(query, 'level', 'api')).toEqual(NOTHING)
  })

  test('a type is selected beside a level', () => {
    const query = toggleValue(read('filter[type_start_any][]=error:'), 'type', 'error:x')
    expect(written(query)).toBe('filter[type_start_any][]=error:&filter[type_eq]=error:x')
  })

  test('custom with other levels is read back', () => {
    const query = toggleValue(toggleValue(NOTHING, 'level', 'custom'), 'level', 'error')
    expect(choiceOf(parsePageQuery(formatPageQuery(query)), 'level')).toEqual({
      not: false,
      values: ['error', 'custom'],
    })
  })
})

test('a written choice is read back as the same choice', () => {
  const values = ['ann', 'bob', null]
  for (const first of values)
    for (const second of values)
      for (const change of [toggleValue, excludeValue, onlyValue])
        for (const next of [toggleValue, excludeValue]) {
          const query = next(change(NOTHING, 'username', first), 'username', second)
          const again = parsePageQuery(formatPageQuery(query))
          expect(choiceOf(again, 'username')).toEqual(choiceOf(query, 'username'))
        }
})
