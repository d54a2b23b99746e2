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
import { filters } from '../../filter/queries.js'

const read = (filter: string): PageQuery => parsePageQuery(`range=1h&${filters(filter)}`)

/** The query string without the range. */
const written = (query: PageQuery): string =>
  decodeURIComponent(formatPageQuery(query)).replace(/^range=1h&?/, '')

const NOTHING = read('')

const ANN_OR_MISSING = 'm=or&username_in[]=ann&username_in[]=bob&username_null=1'

describe('reading the choice', () => {
  test.each([
    ['', true, []],
    ['username_eq=ann', false, ['ann']],
    ['username_in[]=ann&username_in[]=bob', false, ['ann', 'bob']],
    ['username_eq_any[]=ann&username_eq_any[]=bob', false, ['ann', 'bob']],
    ['username_null=1', false, [null]],
    ['username_not_null=1', true, [null]],
    ['username_null=0', true, [null]],
    ['username_not_eq=ann', true, ['ann', null]],
    ['username_not_in[]=ann&username_not_in[]=bob', true, ['ann', 'bob', null]],
    ['username_not_eq_all[]=ann', true, ['ann', null]],
    [ANN_OR_MISSING, false, ['ann', 'bob', null]],
    ['m=or&username_null=1&username_eq=ann', false, ['ann', null]],
    ['m=or&username_not_eq=ann&username_null=1', true, ['ann']],
    ['username_not_eq=ann&username_not_in[]=bob', true, ['ann', null, 'bob']],
    ['username_in[]=ann&username_in[]=bob&username_not_eq=bob', false, ['ann']],
    ['username_cont=an', true, []],
    ['username_or_name_eq=ann', true, []],
    ['m=or&username_eq=ann&name_null=1', true, []],
    ['m=or&username_eq=ann&username_cont=b', true, []],
    ['m=or&username_eq=ann&username_not_null=1', true, []],
    ['type_eq=ann', true, []],
  ])('%s', (filter, not, values) => {
    expect(choiceOf(read(filter), 'username')).toEqual({ not, values })
  })

  test.each([
    ['type_start_any[]=error:', false, ['error']],
    ['type_start=error:', false, ['error']],
    ['type_not_start=api:', true, ['api']],
    ['type_start_any[]=warn:&type_start_any[]=warning:', false, ['warn']],
    ['type_not_start_all[]=info:&type_not_start_all[]=api:', true, ['info', 'api']],
    ['type_start=warn:', true, []],
    ['type_eq=error:', true, []],
  ])('levels: %s', (filter, not, values) => {
    expect(choiceOf(read(filter), 'level')).toEqual({ not, values })
  })

  test('a level is not a choice of type', () => {
    expect(choiceOf(read('type_start_any[]=error:'), 'type')).toEqual({
      not: true,
      values: [],
    })
  })

  test('a checkbox is checked, clear or mixed', () => {
    const chosen = choiceOf(read('username_eq=ann'), 'username')
    expect(stateOf(chosen, 'ann')).toBe('true')
    expect(stateOf(chosen, 'bob')).toBe('false')
    const shutOut = choiceOf(read('username_not_eq=ann'), 'username')
    expect(stateOf(shutOut, 'ann')).toBe('mixed')
    expect(stateOf(shutOut, null)).toBe('mixed')
    expect(stateOf(shutOut, 'bob')).toBe('false')
  })

  test('a choice includes its values, or excludes them', () => {
    const shutOut = choiceOf(read('username_not_eq=ann'), 'username')
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
    ['', 'ann', 'username_eq=ann'],
    ['', null, 'username_null=1'],
    ['username_eq=bob', 'ann', 'username_in[]=bob&username_in[]=ann'],
    ['username_eq=ann', 'ann', ''],
    ['username_in[]=ann&username_in[]=bob', 'ann', 'username_eq=bob'],
    ['username_in[]=ann&username_in[]=bob', null, ANN_OR_MISSING],
    [ANN_OR_MISSING, null, 'username_in[]=ann&username_in[]=bob'],
    ['username_null=1', null, ''],
    ['m=or&username_eq=ann&username_null=1', 'ann', 'username_null=1'],
    // Including the excluded value also includes events without a user.
    ['username_not_eq=ann', 'ann', ''],
    ['username_not_eq=ann', null, 'm=or&username_not_eq=ann&username_null=1'],
    ['username_not_null=1', null, ''],
    ['username_not_in[]=ann&username_not_in[]=bob', 'ann', 'username_not_eq=bob'],
    ['username_not_eq=ann', 'bob', 'username_eq=bob'],
  ])('%s, %s', (before, value, after) => {
    expect(written(toggleValue(read(before), 'username', value))).toBe(filters(after))
  })
})

describe('only', () => {
  test.each([
    ['', 'ann', 'username_eq=ann'],
    [ANN_OR_MISSING, 'bob', 'username_eq=bob'],
    ['username_not_eq=ann', 'ann', 'username_eq=ann'],
    ['username_eq=ann', null, 'username_null=1'],
  ])('%s, %s', (before, value, after) => {
    expect(written(onlyValue(read(before), 'username', value))).toBe(filters(after))
  })
})

describe('excluding', () => {
  test.each([
    ['', 'ann', 'username_not_eq=ann'],
    ['', null, 'username_not_null=1'],
    ['username_eq=bob', 'ann', 'username_not_eq=ann'],
    ['username_not_eq=ann', 'bob', 'username_not_in[]=ann&username_not_in[]=bob'],
    ['username_not_eq=ann', 'ann', ''],
    [
      'm=or&username_not_eq=ann&username_null=1',
      'bob',
      'm=or&username_not_in[]=ann&username_not_in[]=bob&username_null=1',
    ],
    ['m=or&username_not_eq=ann&username_null=1', null, 'username_not_eq=ann'],
  ])('%s, %s', (before, value, after) => {
    expect(written(excludeValue(read(before), 'username', value))).toBe(filters(after))
  })
})

describe('beside other filters', () => {
  const OTHERS = 'name_eq=nightly&username_cont=n'

  test('other filters stay, even on the same attribute', () => {
    const query = toggleValue(read(OTHERS), 'username', 'ann')
    expect(written(query)).toBe(filters(`${OTHERS}&username_eq=ann`))
    expect(written(toggleValue(query, 'username', 'ann'))).toBe(filters(OTHERS))
  })

  test('the choice keeps its position, and several choices become one', () => {
    const query = read('username_not_eq=ann&name_eq=nightly&username_not_in[]=bob')
    expect(written(toggleValue(query, 'username', null))).toBe(
      filters(
        'name_eq=nightly&g[0][m]=or&g[0][username_not_in][]=ann&g[0][username_not_in][]=bob&g[0][username_null]=1',
      ),
    )
    expect(written(onlyValue(query, 'username', 'eve'))).toBe(
      filters('username_eq=eve&name_eq=nightly'),
    )
  })
})

describe('levels', () => {
  test('warn means both of its prefixes', () => {
    expect(written(toggleValue(NOTHING, 'level', 'warn'))).toBe(
      filters('type_start_any[]=warn:&type_start_any[]=warning:'),
    )
  })

  test('are selected and deselected', () => {
    const one = toggleValue(NOTHING, 'level', 'info')
    const two = toggleValue(one, 'level', 'error')
    expect(written(two)).toBe(filters('type_start_any[]=error:&type_start_any[]=info:'))
    expect(toggleValue(two, 'level', 'error')).toEqual(one)
    expect(toggleValue(one, 'level', 'info')).toEqual(NOTHING)
  })

  test('are excluded and included again', () => {
    const query = excludeValue(NOTHING, 'level', 'api')
    expect(written(query)).toBe(filters('type_not_start_all[]=api:'))
    expect(excludeValue(query, 'level', 'api')).toEqual(NOTHING)
  })

  test('a type is selected beside a level', () => {
    const query = toggleValue(read('type_start_any[]=error:'), 'type', 'error:x')
    expect(written(query)).toBe(filters('type_start_any[]=error:&type_eq=error:x'))
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
