import { describe, expect, it } from 'vitest'
import { finishSteps } from '../../../src/filter/steps.js'
import { createNumberSamples } from '../../../src/grouping/number-samples.js'

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

describe('a number sample', () => {
  it('has the smallest number that at least the share of the numbers does not exceed', () => {
    const sample = createNumberSamples().create()
    for (const number of range(200).toReversed()) sample.add(number)
    const exact = (value: number): object => ({ value, low: value, high: value })
    expect(finishSteps(sample.summary(undefined))).toEqual({
      exact: true,
      read: 200,
      p50: exact(100),
      p95: exact(190),
      p99: exact(198),
    })
  })

  it('has no summary without numbers', () => {
    expect(finishSteps(createNumberSamples().create().summary(undefined))).toBeUndefined()
  })

  it('gives intervals by the number of independent parts, open at unknown ends', () => {
    const sample = createNumberSamples().create()
    for (const number of range(1000)) sample.add(number)
    const { exact, p50, p99 } = finishSteps(sample.summary(100))!
    expect(exact).toBe(false)
    // 1.96 standard errors of 0.05 on each side.
    expect(p50).toEqual({ value: 500, low: 402, high: 598 })
    expect(p99).toEqual({ value: 990, low: 971, high: null })
  })

  it('keeps every second number beyond the limit of all samples, and is not exact then', () => {
    const samples = createNumberSamples(100)
    const [one, other] = [samples.create(), samples.create()]
    for (const number of range(90)) one.add(number)
    for (const number of range(90)) other.add(number)
    const ofOne = finishSteps(one.summary(undefined))!
    const ofOther = finishSteps(other.summary(undefined))!
    expect([ofOne.exact, ofOther.exact]).toEqual([false, false])
    expect(ofOne.read + ofOther.read).toBeLessThanOrEqual(101)
    expect(ofOne.p50.low!).toBeLessThanOrEqual(45)
    expect(ofOne.p50.high!).toBeGreaterThanOrEqual(45)
    expect(ofOther.p50.value).toBeGreaterThan(35)
  })
})
