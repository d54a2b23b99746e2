import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareText, fold } from '../../../../src/filter/values.js'
import { nextSpelling } from '../../../../src/store-kit/index/spelled.js'

const text = fc.string({
  unit: fc.constantFrom('a', 'A', 'b', 'B', 'k', 'K', '\u212A', 'ß', '1', '😀', 'ς', 'Σ'),
  maxLength: 4,
})

const begins = (value: string, start: string): boolean => fold(value).startsWith(fold(start))

/** The values that begin so, by leaps over the others. */
function leap(values: readonly string[], start: string): { found: string[]; leaps: number } {
  const next = nextSpelling(start)
  const found: string[] = []
  let leaps = 0
  for (let from = next(); from !== undefined;) {
    leaps += 1
    let at = values.findIndex((value) => compareText(value, from!) >= 0)
    if (at < 0) break
    while (at < values.length && begins(values[at]!, start)) found.push(values[at++]!)
    from = at < values.length ? next(values[at]) : undefined
  }
  return { found, leaps }
}

describe('nextSpelling', () => {
  it('leads to all texts that begin as another without regard to case', () => {
    fc.assert(
      fc.property(fc.uniqueArray(text, { maxLength: 40 }), text, (some, start) => {
        const values = some.toSorted(compareText)
        expect(leap(values, start).found).toEqual(values.filter((value) => begins(value, start)))
      }),
      { numRuns: 2000 },
    )
  })

  it('leaps over what lies between the spellings that there are', () => {
    const values = Array.from({ length: 10_000 }, (_, i) => `deploy-${i}`)
    values.push('DEPLOY-77', 'Deploy-77')
    const { found, leaps } = leap(values.toSorted(compareText), 'dePLoy-77')
    expect(found).toHaveLength(113)
    expect(leaps).toBeLessThan(8)
  })
})
