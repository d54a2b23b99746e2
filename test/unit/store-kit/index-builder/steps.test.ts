import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createSteps,
  LEASE_LOST,
  type LeasedSteps,
  type StepTimes,
} from '../../../../src/store-kit/index-builder/steps.js'

const LEASE_MS = 1000

describe('steps', () => {
  let isFree: boolean
  let takenAt: number[]
  let rests: StepTimes[]
  let released: number
  let steps: LeasedSteps

  beforeEach(() => {
    vi.useFakeTimers()
    isFree = true
    takenAt = []
    rests = []
    released = 0
    const start = performance.now()
    steps = createSteps({
      leaseMs: LEASE_MS,
      signal: new AbortController().signal,
      lease: {
        async take() {
          takenAt.push(performance.now() - start)
          return isFree
        },
        async release() {
          released += 1
          throw new Error('the server is gone')
        },
      },
      pacer: { rest: async (times) => void rests.push(times) },
      afterRest: async () => {},
    })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const runFor = (ms: number) => steps.run(async () => void vi.advanceTimersByTime(ms))

  it('renew the lease after a quarter of its period', async () => {
    for (let n = 0; n < 6; n++) await runFor(100)
    expect(takenAt).toEqual([0, 300])
    vi.advanceTimersByTime(100)
    await steps.pause()
    expect(takenAt).toEqual([0, 300, 700])
  })

  it('do not run without the lease', async () => {
    await runFor(LEASE_MS)
    isFree = false
    let hasRun = false
    const step = steps.run(async () => {
      hasRun = true
    })
    await expect(step).rejects.toBe(LEASE_LOST)
    await expect(steps.start(async () => void (hasRun = true))).rejects.toBe(LEASE_LOST)
    await expect(steps.pause()).rejects.toBe(LEASE_LOST)
    expect(hasRun).toBe(false)
  })

  it('rest as long as the pacer decides by the time they took', async () => {
    vi.advanceTimersByTime(3)
    await runFor(20)
    steps.setRestFactor(0.5)
    vi.advanceTimersByTime(5)
    await steps.pause()
    expect(rests).toEqual([
      { computeMs: 3, transactionMs: 20, restFactor: 1 },
      { computeMs: 5, transactionMs: 0, restFactor: 0.5 },
    ])
  })

  it('rest for a transaction that was started once it has ended', async () => {
    let end = (): void => {}
    let begin = (): void => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const started = steps.start(() => {
      begin()
      return new Promise<void>((resolve) => (end = resolve))
    })
    await begun
    vi.advanceTimersByTime(3)
    await steps.pause()
    vi.advanceTimersByTime(2)
    end()
    await started
    await steps.pause()
    await steps.pause()
    expect(rests.map(({ computeMs, transactionMs }) => [computeMs, transactionMs])).toEqual([
      [3, 0],
      [2, 5],
      [0, 0],
    ])
  })

  it('have time slices of a few milliseconds', async () => {
    expect(steps.isSliceOver()).toBe(false)
    vi.advanceTimersByTime(4)
    expect(steps.isSliceOver()).toBe(true)
    await steps.pause()
    expect(steps.isSliceOver()).toBe(false)
  })

  it('release only a lease that they took, and ignore errors', async () => {
    await steps.releaseLease()
    expect(released).toBe(0)
    await runFor(1)
    await steps.releaseLease()
    expect(released).toBe(1)
  })
})
