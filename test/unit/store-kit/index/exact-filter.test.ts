import { expect, it } from 'vitest'
import { testingEveryValue } from '../../../../src/filter/ast.js'
import { readConcealed } from '../../../../src/filter/conceal.js'
import { parseQuery } from '../../../../src/filter/parse.js'
import type { Visible } from '../../../../src/filter/visible-filter.js'
import { exactFilter } from '../../../../src/store-kit/index/exact-filter.js'

it('has no filter for events without concealed attributes', () => {
  const concealed = readConcealed(['secret'], [])!
  const { where } = parseQuery({ q: 'word', filter: { type_eq: 'x' } })
  expect(exactFilter(where)).toBeDefined()
  expect(exactFilter(concealed.where(where))).toBeUndefined()
  const other = parseQuery({ filter: { a_eq: 'x' } }).where
  expect(exactFilter(concealed.where(other))).toEqual(exactFilter(other))
})

it('needs one value where every value is tested, but not of own fields', () => {
  const filterOf = (filter: Exclude<Visible, 'all'>): unknown =>
    exactFilter(testingEveryValue(parseQuery({ filter }).where!))
  expect(filterOf({ a_eq: 'x' })).toMatchObject({ oneValueOf: 'a' })
  expect(filterOf({ a_not_eq: 'x' })).toMatchObject({ name: 'a' })
  expect(filterOf({ a_present: '1' })).toMatchObject({ name: 'a' })
  expect(filterOf({ username_eq: 'x' })).toMatchObject({ name: 'username' })
})
