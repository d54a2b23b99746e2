import { expect, it } from 'vitest'
import { toQuery } from '../../../../src/filter/query-input.js'
import { indexFilter, requiresAttribute } from '../../../../src/store-kit/index/index-filter.js'

// The values of an attribute lead to all matches only if each match has the attribute.
it.each([
  ['size_eq=1', true],
  ['size_gt=1', true],
  ['size_start=a', true],
  ['size_not_null=true', true],
  ['size_present=true', true],
  ['size_null=true', false],
  ['size_blank=true', false],
  ['other_eq=1', false],
  ['size_eq=1&filter[other_null]=true', true],
])('filter[%s]: each match has the attribute size: %s', (filter, isRequired) => {
  const { where } = toQuery(`filter[${filter.replace('=', ']=')}`)
  expect(requiresAttribute(indexFilter(where), 'size')).toBe(isRequired)
})
