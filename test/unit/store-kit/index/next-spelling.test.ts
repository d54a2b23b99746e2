import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareText, fold } from '../../../../src/filter/values.js'
import { nextSpelling } from '../../../../src/store-kit/index/next-spelling.js'

const text = fc.string({
  unit: fc.constantFrom('a', 'A', 'b', 'B', 'k', 'K', '\u212A', 'ß', '1', '😀', 'ς', 'Σ'),
  maxLength: 4,
})

const begins = (value: string, start: string): boolean => fold(value).startsWith(fold(start))

/** Finds the values with the start, and counts the jumps between ranges of values. */
function findWithStart(
  values: readonly string[],
  start: string,
): { found: string[]; jumps: number } {
  const next = nextSpelling(start)
  const found: string[] = []
  let jumps = 0
  for (let from = next(); from !== undefined;) {
    jumps += 1
    let at = values.findIndex((value) => compareText(value, from!) >= 0)
    if (at < 0) break
    while (at < values.length && begins(values[at]!, start)) found.push(values[at++]!)
    from = at < values.length ? next(values[at]) : undefined
  }
  return { found, jumps }
}

describe('nextSpelling', () => {
  it('leads to all texts with a start in any case', () => {
    fc.assert(
      fc.property(fc.uniqueArray(text, { maxLength: 40 }), text, (some, start) => {
        const values = some.toSorted(compareText)
        expect(findWithStart(values, start).found).toEqual(
          values.filter((value) => begins(value, start)),
        )
      }),
      { numRuns: 2000 },
    )
  })

  it('skips values between the spellings that occur', () => {
    const values = Array.from({ length: 10_000 }, (_, i) => `deploy-${i}`)
    values.push('DEPLOY-77', 'Deploy-77')
    const { found, jumps } = findWithStart(values.toSorted(compareText), 'dePLoy-77')
    expect(found).toHaveLength(113)
    expect(jumps).toBeLessThan(8)
  })
})
