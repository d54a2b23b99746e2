import { type AuditEvent, type Grouping, parseQuery, parseTimestamp } from 'daybook'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { timeBounds } from '../../../../src/filter/bounds.js'
import { compileFilter } from '../../../../src/filter/evaluate.js'
import { finishSteps } from '../../../../src/filter/steps.js'
import { extractedSource } from '../../../../src/store-kit/index/block-source.js'
import { exactFilter } from '../../../../src/store-kit/index/exact-filter.js'
import { exactMatches } from '../../../../src/store-kit/index/exact-matches.js'
import { createGrowingIndex } from '../../../../src/store-kit/index/growing-index.js'
import type { IndexPart } from '../../../../src/store-kit/index/part.js'
import { eventsOf, filter } from '../../../property/arbitraries.js'
import { words } from '../../../support/words.js'
import { filters } from '../../filter/queries.js'

/** One part with all events. */
function partOf(events: readonly AuditEvent[]): IndexPart {
  const index = createGrowingIndex(events.length, extractedSource)
  for (const event of events) index.add(parseTimestamp(event.created_at)!, event)
  return index.parts(() => false)![0]!
}

function found(part: IndexPart, where: Grouping | undefined): readonly number[] | undefined {
  const exact = exactFilter(where)
  const set = exact && finishSteps(exactMatches(part, exact))
  const { from, to } = timeBounds(where)
  return (
    set &&
    Array.from({ length: part.size }, (_, at) => at).filter((at) => {
      const isIn = (set[at >>> 5]! & (1 << (at & 31))) !== 0
      return isIn && part.timeOf(at) >= from && part.timeOf(at) <= to
    })
  )
}

it('an index returns exactly the matching events, or no answer', () => {
  let known = 0
  let runs = 0
  fc.assert(
    fc.property(
      eventsOf(33, 70),
      fc.array(filter, { minLength: 40, maxLength: 40, size: 'max' }),
      (events, filters) => {
        // Events without values that an index cuts.
        const short = events.filter((event) => JSON.stringify(event).length < 500)
        const part = partOf(short)
        for (const filter of filters) {
          const { where } = parseQuery({ filter })
          runs++
          const ordinals = found(part, where)
          if (!ordinals) continue
          known++
          const matches = compileFilter(where)
          const expected = short.flatMap((event, at) => (matches(event) ? [at] : []))
          expect(ordinals, JSON.stringify(filter)).toEqual(expected)
        }
      },
    ),
    { numRuns: 15 },
  )
  expect(known / runs, `${known} of ${runs}`).toBeGreaterThan(1 / 2)
})

it.each(
  words(`
    id_eq=x source_eq=x a_or_source_eq=x created_at_cont=2026 a_cont=%00
    m=or&a_eq=1&created_at_gt=2026-01-01 g[0][m]=or&g[0][id_eq]=x&g[0][a_eq]=1
  `),
)('no index answers %s exactly', (query) => {
  expect(exactFilter(parseQuery(filters(query)).where)).toBeUndefined()
})

it.each([
  ['a test for a text that is cut', `filter[a_eq]=${'x'.repeat(512)}`],
  ['a test of a text that is cut', 'filter[a_cont]=y'],
])('%s is left to the events', (_, query) => {
  const [one] = fc.sample(eventsOf(1, 1), 1)[0]!
  const part = partOf([{ ...one!, attributes: { a: 'x'.repeat(600) } }])
  const exact = exactFilter(parseQuery(query).where)!
  expect(finishSteps(exactMatches(part, exact))).toBeUndefined()
})
