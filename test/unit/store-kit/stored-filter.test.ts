import type { JsonObject } from 'daybook'
import { parseQuery } from 'daybook'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LazyEvent } from '../../../src/event/lazy-event.js'
import { compileFilter } from '../../../src/filter/evaluate.js'
import { finishSteps } from '../../../src/filter/steps.js'
import { compileStoredFilter, MIN_SEARCHED } from '../../../src/store-kit/stored-filter.js'
import { eventsOf, query, searches } from '../../property/arbitraries.js'
import { plainEvent } from '../../support/plain-events.js'

const { attributes: _, ...own } = plainEvent({ username: 'ann', type: 'deploy:note' })

const PADDING = 'x'.repeat(MIN_SEARCHED)

const stored = (attributes: JsonObject): LazyEvent =>
  new LazyEvent(own, JSON.stringify({ ...attributes, padding: PADDING }))

/** The result of the filter for the event, and true if the event was parsed for it. */
function decide(text: string, event: LazyEvent): { matches: boolean; parsed: boolean } {
  const decision = compileStoredFilter(parseQuery(text).where)(event)
  const matches = typeof decision === 'boolean' ? decision : finishSteps(decision)
  return { matches, parsed: event.searchable === undefined }
}

it.each<[string, JsonObject]>([
  ['filter[user_id_eq]=bob', { user_id: ['ann', 'eve'] }],
  ['filter[user_id_in][]=bob&filter[user_id_in][]=tim', { user: { id: 'ann' } }],
  ['filter[user_id_eq]=bob', { other: 'bob' }],
  ['filter[count_lt]=5', { other: 1 }],
  ['filter[count_not_eq]=5', { other: 1 }],
  ['filter[count_not_null]=true', { other: 1 }],
  ['filter[note_cont]=needle', { note: 'hay' }],
  ['filter[source_start]=/a', { other: '/a' }],
  ['q=needle', { note: 'hay' }],
])('%s rules out %j without parsing it', (text, attributes) => {
  expect(decide(text, stored(attributes))).toEqual({ matches: false, parsed: false })
})

it.each<[string, JsonObject]>([
  ['filter[user_id_eq]=bob', { user_id: ['ann', 'bob'] }],
  ['filter[user_id_eq]=bob', { user: [{ id: 'bob' }] }],
  ['filter[user_id_eq]=1000', { user_id: 1e3 }],
  ['filter[on_eq]=t', { on: true }],
  ['filter[quote"d_eq]=a"b', { 'quote"d': 'a"b' }],
  ['filter[note_cont]=NEEDLE', { note: 'a needle' }],
  ['filter[missing_null]=true', { note: 'a' }],
  ['filter[source_eq]=/a', { source: '/a' }],
  ['q=NOTE', { other: 1 }],
])('%s matches %j', (text, attributes) => {
  expect(decide(text, stored(attributes)).matches).toBe(true)
})

it('an event is parsed if that takes fewer passes over its text than a search', () => {
  const conditions = (count: number): string =>
    Array.from({ length: count }, (_, i) => `filter[note_cont_all][]=a${i}`).join('&')
  expect(decide(conditions(8), stored({ note: 'hay' })).parsed).toBe(false)
  expect(decide(conditions(9), stored({ note: 'hay' })).parsed).toBe(true)
  const many = Array.from({ length: 100 }, (_, i) => `filter[note_in][]=a${i}`).join('&')
  expect(decide(many, stored({ other: 'a1' })).parsed).toBe(false)
})

it('a text that JSON.stringify has not written is parsed', () => {
  const json = `{"user\\u005fid" : "b\\u006fb","padding":"${PADDING}"}`
  const event = new LazyEvent(own, json, false)
  expect(decide('filter[user_id_eq]=bob', event)).toEqual({ matches: true, parsed: true })
})

it('decides about each event as the filter does', () => {
  const any = fc.oneof({ weight: 3, arbitrary: query }, { weight: 1, arbitrary: searches })
  const queries = fc.array(any, { minLength: 20, maxLength: 20 })
  let ruledOut = 0
  fc.assert(
    fc.property(eventsOf(20, 30), queries, (events, some) => {
      for (const one of some) {
        const { where } = parseQuery(one)
        const matches = compileFilter(where)
        const decideStored = compileStoredFilter(where, 0)
        for (const event of events) {
          const lazy = new LazyEvent(event, JSON.stringify(event.attributes))
          const decision = decideStored(lazy)
          const isMatch = typeof decision === 'boolean' ? decision : finishSteps(decision)
          expect(isMatch, JSON.stringify([one, event])).toBe(matches(event))
          if (where && lazy.searchable !== undefined) ruledOut += 1
        }
      }
    }),
    { numRuns: 60 },
  )
  expect(ruledOut).toBeGreaterThan(1000)
})
