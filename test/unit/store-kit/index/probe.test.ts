import { describe, expect, it } from 'vitest'
import { createProbe, MAX_PROBE_SIZE } from '../../../../src/store-kit/index/probe.js'

/** Number of checked events if every `every`th event matches, at most 10,000. */
function length(first: number, every: number): number {
  const probe = createProbe(first)
  let seen = 0
  while (probe.left() > 0 && seen < 10_000) {
    if (++seen % every === 0) probe.matched()
    probe.passed(1)
  }
  return seen
}

describe('a probe', () => {
  it.each([
    ['ends after its first events if few match', 64, 100, 64],
    ['continues while one in eight matches', 64, 8, 10_000],
    ['checks no event if its length is 0', 0, 1, 0],
  ])('%s', (_, first, every, expected) => {
    expect(length(first, every)).toBe(expected)
  })

  it('continues after first matches, and ends if the next events do not match', () => {
    const probe = createProbe(16)
    probe.matched()
    probe.matched()
    probe.passed(16)
    expect(probe.left()).toBe(64)
    probe.passed(64)
    expect(probe.left()).toBe(0)
  })

  it('ends after large events without matches, independent of the number of matches', () => {
    const probe = createProbe(64)
    probe.matched(10)
    probe.missed(MAX_PROBE_SIZE)
    probe.passed(20)
    expect(probe.left()).toBe(44)
    probe.missed(1)
    expect(probe.left()).toBe(0)
    probe.passed(44)
    expect(probe.left()).toBe(0)
  })

  it('lets SQL exclude events while few match, or always', () => {
    const [some, always] = [createProbe(16), createProbe(16, false)]
    expect([some.isDense(), always.isDense()]).toEqual([true, false])
    for (const probe of [some, always]) {
      for (let i = 0; i < 16; i++) probe.matched()
      probe.passed(16)
    }
    expect([some.isDense(), always.isDense()]).toEqual([true, false])
    some.passed(64)
    expect(some.isDense()).toBe(false)
  })
})
