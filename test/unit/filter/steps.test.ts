import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseQuery } from '../../../src/filter/parse.js'
import { compileFilter, compileFilterInSteps } from '../../../src/filter/evaluate.js'
import type { Decision } from '../../../src/filter/steps.js'
import { events, filter } from '../../property/arbitraries.js'
import { plainEvent } from '../../support/plain-events.js'

/** The result, and the number of possible pauses; 0 if the work was done at once. */
function finish(decision: Decision): { readonly result: boolean; readonly pauses: number } {
  if (typeof decision === 'boolean') return { result: decision, pauses: 0 }
  for (let pauses = 1; ; pauses++) {
    const next = decision.next()
    if (next.done) return { result: next.value, pauses }
  }
}

const many = (count: number, text: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => text(i))

const long = plainEvent({ attributes: { text: 'a'.repeat(1 << 20), list: many(50_000, String) } })

it.each([
  ['many patterns on a long text', { text_matches_any: many(250, (i) => `%${i}x_y%z`) }, 250],
  ['a long pattern on a long text', { text_matches: `%${'a_'.repeat(7500)}%z%a` }, 1],
  ['one that passes', { text_matches: `%${'a_'.repeat(7500)}%` }, 100],
  ['many conditions', { g: many(200, (i) => ({ text_cont: `x${i}` }) as never) }, 1],
  ['many alternatives', { m: 'or', g: many(200, (i) => ({ text_cont: `x${i}` }) as never) }, 200],
  ['many values', { list_cont_all: ['9', '99', '999', '9999', '49999', 'x'] }, 100_000],
  ['a negated test', { list_not_cont_all: ['x', 'y', 'z', 'X', 'Y'] }, 100_000],
] as const)('the work can pause: %s', (_title, filter, pauses) => {
  const { where } = parseQuery({ filter: filter as never })
  const found = finish(compileFilterInSteps(where)(long))
  expect(found.result).toBe(compileFilter(where)(long))
  expect(found.pauses).toBeGreaterThanOrEqual(pauses)
})

it('little work is done at once', () => {
  const small = plainEvent({ attributes: { text: 'a'.repeat(1000), list: many(100, String) } })
  for (const filter of [
    { text_matches_any: many(20, (i) => `%${i}x_y%z`) },
    { list_cont_all: many(5, String), text_not_eq: 'b' },
    { text_blank: true, m: 'or', list_null: true },
  ])
    expect(compileFilterInSteps(parseQuery({ filter }).where)(small)).toBeTypeOf('boolean')
})

it('work in steps decides as a test at once does', () => {
  const decided = { true: 0, false: 0 }
  // A text so long that the first condition spends the budget of a test at once.
  const padding = 'a'.repeat(250_000)
  const isPadded = parseQuery({ filter: { padding_not_cont: '-' } }).where!
  fc.assert(
    fc.property(events, filter, (some, members) => {
      const { where } = parseQuery({ filter: members })
      const both = {
        ...isPadded,
        conditions: [],
        groupings: where ? [isPadded, where] : [isPadded],
      }
      const [matches, decide] = [compileFilter(both), compileFilterInSteps(both)]
      for (const event of some) {
        const padded = { ...event, attributes: { ...event.attributes, padding } }
        const { result, pauses } = finish(decide(padded))
        expect(pauses).toBeGreaterThan(0)
        expect(result).toBe(matches(padded))
        decided[`${result}`] += 1
      }
    }),
    { numRuns: 40 },
  )
  expect(Math.min(decided.true, decided.false)).toBeGreaterThan(0)
})
