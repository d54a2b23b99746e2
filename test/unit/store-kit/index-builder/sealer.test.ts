import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RoundEnd } from '../../../../src/store-kit/index-builder/round.js'
import {
  createSealer,
  type Due,
  type Sealer,
} from '../../../../src/store-kit/index-builder/sealer.js'

const CHECK_MS = 100
const MAX_PAUSE_MS = 8000

describe('the sealer', () => {
  let sealer: Sealer
  let due: Due
  let end: RoundEnd | Error
  let checks: number[]
  let rounds: number[]
  let start: number

  beforeEach(() => {
    vi.useFakeTimers()
    due = 'due'
    end = 'done'
    checks = []
    rounds = []
    start = performance.now()
    sealer = createSealer(
      {
        store: 'fake',
        findDue() {
          checks.push(performance.now() - start)
          return due
        },
        async run() {
          rounds.push(performance.now() - start)
          if (end instanceof Error) throw end
          return end
        },
        close: async () => {},
      },
      { checkMs: CHECK_MS, maxPauseMs: MAX_PAUSE_MS },
    )
  })
  afterEach(async () => {
    await sealer.close()
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  it('checks once for several calls, and then not again before its time', async () => {
    due = 'nothing'
    for (let n = 0; n < 5; n++) sealer.checkSoon()
    await vi.advanceTimersByTimeAsync(10)
    sealer.checkSoon()
    await vi.advanceTimersByTimeAsync(5000)
    expect(checks).toEqual([0, CHECK_MS])
    expect(rounds).toEqual([])
  })

  it('checks less and less often for events of other processes without work, but soon for events of this process', async () => {
    due = 'nothing'
    const eventually = setInterval(sealer.checkEventually, 10)
    await vi.advanceTimersByTimeAsync(40_000)
    expect(checks.map((at) => Math.round(at / CHECK_MS))).toEqual([
      ...[0, 2, 5, 10, 19, 36, 69, 134, 235, 336],
    ])
    sealer.checkSoon()
    await vi.advanceTimersByTimeAsync(1)
    expect(checks.at(-1)).toBe(40_000)
    due = 'due'
    await vi.advanceTimersByTimeAsync(11_000)
    clearInterval(eventually)
    expect(rounds).not.toEqual([])
  })

  it('checks again after a round with work', async () => {
    sealer.checkSoon()
    await vi.advanceTimersByTimeAsync(1)
    due = 'nothing'
    await vi.advanceTimersByTimeAsync(5000)
    expect([checks, rounds]).toEqual([[0, CHECK_MS], [0]])
  })

  it.each(['nothing', 'leased'] as const)(
    'waits for a second after a round that ends with %s',
    async (last) => {
      end = last
      sealer.checkSoon()
      await vi.advanceTimersByTimeAsync(1)
      sealer.checkSoon()
      await vi.advanceTimersByTimeAsync(1500)
      expect(rounds).toEqual([0, 1000])
    },
  )

  it('tries again after ever longer pauses while rounds fail, and warns once', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    end = new Error('disk full')
    sealer.checkSoon()
    await vi.advanceTimersByTimeAsync(14_000)
    expect(rounds).toEqual([0, 1000, 3000, 7000])
    expect(warn).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(rounds).toEqual([0, 1000, 3000, 7000, 15_000, 23_000, 31_000])
    expect(warn.mock.calls).toEqual([
      ['the fake store keeps trying to build its index, which fails: disk full'],
    ])
  })

  it('is settled once a round finds nothing and no process has the lease', async () => {
    end = 'nothing'
    due = 'leased'
    let isSettled = false
    const settled = sealer.settled().then(() => (isSettled = true))
    await vi.advanceTimersByTimeAsync(1000)
    expect(isSettled).toBe(false)
    due = 'nothing'
    await vi.advanceTimersByTimeAsync(100)
    await settled
  })

  it('runs nothing after it was closed', async () => {
    sealer.checkSoon()
    await sealer.close()
    sealer.checkSoon()
    await vi.advanceTimersByTimeAsync(5000)
    expect(checks).toEqual([])
  })
})
