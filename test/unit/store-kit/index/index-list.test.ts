import { parseQuery } from 'daybook'
import { expect, it } from 'vitest'
import type { AuditEvent } from '../../../../src/event/event.js'
import { takeSortedOf } from '../../../../src/store-kit/index/index-list.js'
import type { IndexPart } from '../../../../src/store-kit/index/part.js'
import { EMPTY, rangePostings } from '../../../../src/store-kit/index/postings.js'

const TIMES = [10, 20, 30, 40]

/** A part that lists nothing of its events. */
const part: IndexPart = {
  id: 'part',
  size: TIMES.length,
  first: TIMES[0]!,
  last: TIMES.at(-1)!,
  timeOf: (ordinal) => TIMES[ordinal]!,
  countBefore: (time) => TIMES.filter((one) => one < time).length,
  values: () => [],
  find: () => EMPTY,
  valued: () => EMPTY,
  containers: () => EMPTY,
  partial: () => rangePostings(0, TIMES.length),
  texts: () => [],
  sources: () => [],
  partialTexts: () => rangePostings(0, TIMES.length),
}

it('a sorted query takes no partial event outside the bounds', () => {
  const taken: number[] = []
  const view = { eventAt: (time: number) => ({ id: String(time), attributes: {} }) as AuditEvent }
  const candidates = {
    sets: [{ part, postings: rangePostings(0, TIMES.length) }],
    count: TIMES.length,
    searched: TIMES.length,
  }
  const query = parseQuery('filter[sorts]=name&limit=1')
  const add = ({ id }: AuditEvent): boolean => taken.push(Number(id)) < 0
  const bounds = { from: 15, to: 35 }
  Array.from(
    takeSortedOf(view, candidates, { filter: undefined, query, bounds, matches: () => true, add }),
  )
  expect(taken.toSorted((a, b) => a - b)).toEqual([20, 30])
})
