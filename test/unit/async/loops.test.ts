import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { backoffMs, randomBackoffMs } from '../../../src/async/backoff.js'
import { createIntervalLoop, createPausingLoop } from '../../../src/async/loops.js'
import { createSerial } from '../../../src/async/serial.js'

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: [
        'setInterval',
        'clearInterval',
        'setTimeout',
        'clearTimeout',
        'setImmediate',
        'clearImmediate',
      ],
    }),
)
afterEach(() => void vi.useRealTimers())

/** Work that ends when the test ends it. */
function controlled<Result>() {
  const ends: ((result: Result) => void)[] = []
  return {
    run: vi.fn(() => new Promise<Result>((resolve) => ends.push(resolve))),
    async end(result: Result) {
      ends.shift()!(result)
      await vi.advanceTimersByTimeAsync(0)
    },
  }
}

describe('a loop at intervals', () => {
  it('starts no run while one is under way, and continues after a failure', async () => {
    const { run, end } = controlled<Promise<void> | undefined>()
    const loop = createIntervalLoop(run, 100)
    loop.start()
    loop.start()
    await vi.advanceTimersByTimeAsync(350)
    expect(run).toHaveBeenCalledTimes(1)
    await end(Promise.reject(new Error('down')))
    await vi.advanceTimersByTimeAsync(50)
    expect(run).toHaveBeenCalledTimes(2)
    expect(vi.getTimerCount()).toBe(1)
    loop.pause()
    expect([vi.getTimerCount(), loop.isOn()]).toEqual([0, false])
  })

  it('once stopped, waits for the run under way and starts no other', async () => {
    const { run, end } = controlled<undefined>()
    const loop = createIntervalLoop(run, 100)
    loop.now()
    let isStopped = false
    const stopping = loop.stop().then(() => (isStopped = true))
    await vi.advanceTimersByTimeAsync(200)
    expect(isStopped).toBe(false)
    await end(undefined)
    await stopping
    loop.start()
    expect([run.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0])
  })
})

describe('a loop with pauses', () => {
  it('runs in the next turn of the event loop, then after the pauses that the runs resolve to', async () => {
    const { run, end } = controlled<number>()
    const loop = createPausingLoop(run)
    expect(run).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(0)
    expect(run).toHaveBeenCalledTimes(1)
    await end(300)
    await vi.advanceTimersByTimeAsync(299)
    expect(run).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(run).toHaveBeenCalledTimes(2)
    const stopping = loop.stop()
    await end(0)
    await stopping
    expect(vi.getTimerCount()).toBe(0)
  })

  it('runs once more if a run is requested during another', async () => {
    const { run, end } = controlled<number>()
    const loop = createPausingLoop(run, { firstMs: 100 })
    loop.now()
    loop.now()
    loop.now()
    await end(5000)
    await vi.advanceTimersByTimeAsync(1)
    expect(run).toHaveBeenCalledTimes(2)
    await end(5000)
    await vi.advanceTimersByTimeAsync(4999)
    expect(run).toHaveBeenCalledTimes(2)
    await loop.stop()
    loop.now()
    expect([run.mock.calls.length, vi.getTimerCount()]).toEqual([2, 0])
  })
})

it('pauses double up to the longest, and random pauses take at least half of this', () => {
  const backoff = { firstMs: 100, maxMs: 1000 }
  expect([0, 1, 2, 3, 4, 5000].map((failures) => backoffMs(failures, backoff))).toEqual([
    100, 200, 400, 800, 1000, 1000,
  ])
  for (const [random, expected] of [
    [0, 200],
    [1, 400],
  ] as const) {
    vi.spyOn(Math, 'random').mockReturnValueOnce(random)
    expect(randomBackoffMs(2, backoff)).toBe(expected)
  }
})

it('runs work in order, also after failed work', async () => {
  const inOrder = createSerial()
  const { run, end } = controlled<Promise<number>>()
  const works = [inOrder(run), inOrder(run)]
  const first = expect(works[0]).rejects.toThrow('down')
  await vi.advanceTimersByTimeAsync(0)
  expect(run).toHaveBeenCalledTimes(1)
  await end(Promise.reject(new Error('down')))
  await first
  expect(run).toHaveBeenCalledTimes(2)
  await end(Promise.resolve(2))
  expect(await works[1]).toBe(2)
})
