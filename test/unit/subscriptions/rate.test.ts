import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRate } from '../../../src/subscriptions/rate.js'
import { advance, fakeTime } from './world.js'

beforeEach(fakeTime)
afterEach(() => vi.useRealTimers())

const neverAborted = new AbortController().signal

describe('the rate of a channel', () => {
  it('is not used up by deliveries that are aborted while they wait', async () => {
    const waitForRate = createRate({ count: 1, per: { seconds: 10 } })
    await waitForRate(neverAborted)
    const stop = new AbortController()
    const aborted = Promise.allSettled([1, 2, 3].map(() => waitForRate(stop.signal)))
    let begunAt: number | undefined
    const before = performance.now()
    void waitForRate(neverAborted).then(() => (begunAt = performance.now()))
    await advance(1000)
    stop.abort()
    for (const { status } of await aborted) expect(status).toBe('rejected')
    expect(begunAt).toBeUndefined()
    await advance(60_000)
    expect(begunAt! - before).toBeLessThanOrEqual(10_000)
    expect(begunAt! - before).toBeGreaterThanOrEqual(10_000)
  })

  it('lets waiting deliveries begin in the order of the calls', async () => {
    const waitForRate = createRate({ count: 2, per: { seconds: 10 } })
    const begun: [n: number, at: number][] = []
    const before = performance.now()
    for (const n of [1, 2, 3, 4, 5])
      void waitForRate(neverAborted).then(() => begun.push([n, performance.now() - before]))
    await advance(60_000)
    expect(begun.map(([n, at]) => [n, Math.floor(at / 10_000)])).toEqual([
      [1, 0],
      [2, 0],
      [3, 1],
      [4, 1],
      [5, 2],
    ])
  })
})
