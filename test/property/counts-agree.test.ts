import {
  type AuditEvent,
  type CountOptions,
  type EventCounts,
  type Facet,
  parseQuery,
} from 'daybook'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { openSealedStores } from '../support/sealed-stores.js'
import { randomRuns } from '../support/soak.js'
import { events, filter, filterWithOwnFields } from './arbitraries.js'
import { words } from '../support/words.js'

const withStores = openSealedStores('counts_')

const FACETS = words('level type username system a a_b a_b_c t n a_or_t zz')

const NAMED = fc.constantFrom(
  undefined,
  undefined,
  ...['filter[username_not_null]=1', 'filter[a_null]=0', 'filter[type_start]=api:'].map(
    (text) => parseQuery(text).where,
  ),
)
const visible = fc.oneof(
  { weight: 2, arbitrary: NAMED },
  { weight: 1, arbitrary: filter.map((any) => parseQuery({ filter: any }).where) },
)

const options: fc.Arbitrary<CountOptions> = fc.record({
  buckets: fc.option(
    fc.record({
      count: fc.integer({ min: 1, max: 50 }),
      zone: fc.constantFrom('UTC', 'Asia/Kathmandu'),
    }),
    { nil: undefined },
  ),
  facets: fc.uniqueArray(fc.constantFrom(...FACETS), { maxLength: 4 }),
  top: fc.constantFrom(1, 3, 1000),
  attributes: fc.boolean(),
  visible,
  within: fc.constantFrom(60_000, 60_000, 60_000, 0),
})

const withoutDuration = (counts: EventCounts): EventCounts => ({ ...counts, took_ms: 0 })

/** The number of events with each value. */
const countsOf = ({ values }: Facet): ReadonlyMap<string, number> =>
  new Map(values.map(({ value, count }) => [JSON.stringify(value), count]))

/**
 * Stores may stop at different places if they have no time. An exact figure must be the truth, and no figure may be
 * more.
 */
function expectWithin(counts: EventCounts, truth: EventCounts, asked: string): void {
  const { exact, total, levels, buckets, facets } = counts
  if (exact.total) expect(total, asked).toBe(truth.total)
  if (exact.levels) expect(levels, asked).toEqual(truth.levels)
  if (exact.buckets) expect(buckets, asked).toEqual(truth.buckets)
  expect(total, asked).toBeLessThanOrEqual(truth.total)
  for (const [level, count] of Object.entries(levels))
    expect(count, asked).toBeLessThanOrEqual(truth.levels[level as keyof typeof levels] ?? 0)
  for (const [name, facet] of Object.entries(facets)) {
    const known = truth.facets[name]!
    if (facet.exact)
      expect([facet.distinct, facet.missing], asked).toEqual([known.distinct, known.missing])
    for (const [value, count] of countsOf(facet)) {
      const all = countsOf(known).get(value) ?? 0
      if (facet.exact) expect(count, asked).toBe(all)
      else expect(count, asked).toBeLessThanOrEqual(all)
    }
  }
}

describe('the stores return the same counts for any query', () => {
  let incomplete = 0

  it.each([1, 2])('(part %i)', () =>
    fc.assert(
      fc.asyncProperty(
        events,
        fc.array(fc.tuple(filterWithOwnFields, options), {
          minLength: 30,
          maxLength: 30,
          size: 'max',
        }),
        (events, queries) =>
          withStores(events, async ([memory, ...others]) => {
            for (const [filter, options] of queries) {
              const counts = await memory!.count({ filter }, options)
              const all = { ...options, top: 1000, within: 60_000 }
              const truth = options.within === 0 && (await memory!.count({ filter }, all))
              for (const other of others) {
                const answer = await other.count({ filter }, options)
                const asked = JSON.stringify([filter, options])
                if (truth) expectWithin(answer, truth, asked)
                else expect(withoutDuration(answer), asked).toEqual(withoutDuration(counts))
              }
              if (!counts.exact.total) incomplete++
            }
          }),
      ),
      { numRuns: randomRuns(1, 8), endOnFailure: true },
    ),
  )

  afterAll(() => expect(incomplete, 'counts without enough time').toBeGreaterThan(0))
})

describe('the stores', () => {
  it('count the events of the list, and facets without their own conditions', async () => {
    let widerFacets = 0
    await fc.assert(
      fc.asyncProperty(
        events,
        fc.array(fc.tuple(filter, fc.constantFrom('ann', 'bob')), { minLength: 20, maxLength: 20 }),
        (events, queries) =>
          withStores(events, async (all) => {
            for (const [filter, username] of queries) {
              const list = async (
                filter: Record<string, unknown>,
              ): Promise<readonly AuditEvent[]> =>
                (await all[0]!.list({ filter: { g: [filter] }, limit: 1000 })).events
              const matching = await list(filter)
              const ofUser = matching.filter((event) => event.username === username)
              const values = new Map<string, number>()
              for (const event of matching)
                if (event.username !== null)
                  values.set(event.username, (values.get(event.username) ?? 0) + 1)
              for (const audit of all) {
                const counts = await audit.count(
                  { filter: { g: [filter], username_eq: username } },
                  { facets: ['username'], within: 60_000 },
                )
                expect(counts.total).toBe(ofUser.length)
                const hasUsernameFilter = JSON.stringify(filter).includes('username')
                if (hasUsernameFilter) continue
                const { missing, values: facetValues } = counts.facets['username']!
                expect(missing).toBe(matching.filter((event) => event.username === null).length)
                expect(new Map(facetValues.map(({ value, count }) => [value, count]))).toEqual(
                  values,
                )
                if (ofUser.length < matching.length) widerFacets++
              }
            }
          }),
      ),
      { numRuns: randomRuns(2, 16), endOnFailure: true },
    )
    expect(widerFacets).toBeGreaterThan(10)
  })
})
