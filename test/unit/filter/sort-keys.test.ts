import type { AuditEvent } from 'daybook'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { topEvents } from '../../../src/filter/order.js'
import { parseQuery } from '../../../src/filter/parse.js'
import { finishSteps } from '../../../src/filter/steps.js'
import { events } from '../../property/arbitraries.js'

const MANY = 60_000
/** A number of elements. Finding a value among them takes more than the budget of work at once. */
const wide = Array.from({ length: MANY }, () => ({}))

/** A name that may lead into the elements in many ways. */
const LONG = 'wide_a_b_c_d_e_f_g'

const withWide = (event: AuditEvent): AuditEvent => ({
  ...event,
  attributes: { ...event.attributes, wide: wide.slice(0, 10_000) },
})

const sortedBy = (text: string) => parseQuery(text).sorts

/** The events in order, and for each event the number of pauses while it was added. */
function sort(some: readonly AuditEvent[], sorts: ReturnType<typeof sortedBy>) {
  const top = topEvents(sorts, some.length)
  const pauses = some.map((event) => {
    const decision = top.add(event)
    if (typeof decision === 'boolean') return 0
    for (let count = 1; ; count++) if (decision.next().done) return count
  })
  return { ids: finishSteps(top.inOrder()).map(({ id }) => id), pauses }
}

it('the keys of an event with many values are found in steps', () => {
  const [event] = fc.sample(events, { numRuns: 1, seed: 1 })[0]!
  const names = Array.from({ length: 16 }, (_, i) => `filter[sorts][]=wide_a${i}`).join('&')
  const { pauses } = sort([{ ...event!, attributes: { wide } }], sortedBy(names))
  expect(pauses[0]).toBeGreaterThanOrEqual((16 * MANY) / 1000)
  expect(sort([event!], sortedBy(names)).pauses).toEqual([0])
})

it('a walk with many ways to split its name is not made at once', () => {
  const [event] = fc.sample(events, { numRuns: 1, seed: 1 })[0]!
  const some = [withWide(event!)]
  expect(sort(some, sortedBy('filter[sorts]=wide_a')).pauses).toEqual([0])
  expect(sort(some, sortedBy(`filter[sorts]=${LONG}`)).pauses[0]).toBeGreaterThan(1)
})

it('keys that are found in steps give the same order as keys that are found at once', () => {
  const sorts = fc.constantFrom(
    ...[
      'type',
      'username desc',
      'source',
      'id desc',
      'created_at',
      'a',
      'b desc',
      'a_b',
      'tags desc',
    ],
  )
  fc.assert(
    fc.property(events, fc.array(sorts, { minLength: 1, maxLength: 4 }), (some, keys) => {
      const atOnce = sortedBy(keys.map((key) => `filter[sorts][]=${key}`).join('&'))
      const inSteps = [...sortedBy(`filter[sorts]=${LONG}`), ...atOnce]
      const { ids, pauses } = sort(some.map(withWide), inSteps)
      expect(Math.min(...pauses)).toBeGreaterThan(1)
      expect(ids).toEqual(sort(some, atOnce).ids)
    }),
    { numRuns: 20 },
  )
})
