import { expect, it } from 'vitest'
import { readSpan } from '../../../adapters/postgres/read/count-span.js'

it.each([
  ['with an open event that is older than all others', ['50', '90', '20', '40'], 20, 90],
  ['with an open event that is newer than all others', ['50', '90', '60', '95'], 50, 95],
  ['without open events', ['50', '90', null, null], 50, 90],
  ['with open events only', [null, null, '20', '40'], 20, 40],
  ['without events', [null, null, null, null], undefined, 0],
])('the span of a log %s', (_, ends, first, last) => {
  expect(readSpan([[...ends, '100']])).toEqual({ first, last, now: 100 })
})
