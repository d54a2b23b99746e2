import { describe, expect, it } from 'vitest'
import { createProbe } from '../../../../src/store-kit/index/probe.js'

/** How many are gone through one by one where each so-many-th matches, at most 10,000. */
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
    ['is over at its end where few match', 64, 100, 64],
    ['goes on as long as one in eight matches', 64, 8, 10_000],
    ['is over before it begins where it has no length', 0, 1, 0],
  ])('%s', (_, first, every, expected) => {
    expect(length(first, every)).toBe(expected)
  })

  it('goes on where the first match, and is over where the others do not', () => {
    const probe = createProbe(16)
    probe.matched()
    probe.matched()
    probe.passed(16)
    expect(probe.left()).toBe(64)
    probe.passed(64)
    expect(probe.left()).toBe(0)
  })
})
