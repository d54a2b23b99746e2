import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTurns, type Turns } from '../../../src/tail/turns.js'
import { turns as loopTurns } from '../fake-store.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const pass = async (ms: number): Promise<void> => {
  await loopTurns()
  await vi.advanceTimersByTimeAsync(ms)
  await loopTurns()
}

/** Work of this many milliseconds. Notes its start, and whether other readers wait. */
function worker(turns: Turns): {
  readonly begun: string[]
  work(name: string, ms: number, signal?: AbortSignal): Promise<string>
} {
  const begun: string[] = []
  const start = performance.now()
  return {
    begun,
    work: (name, ms, signal) =>
      turns.take(async (isContended) => {
        begun.push(`${name} at ${performance.now() - start}${isContended ? ', contended' : ''}`)
        await new Promise((resolve) => setTimeout(resolve, ms))
        return name
      }, signal),
  }
}

describe('turns', () => {
  it('follow each other at once if nobody waits', async () => {
    const { begun, work } = worker(createTurns())
    for (const name of ['a', 'b']) {
      const done = work(name, 10)
      await pass(10)
      expect(await done).toBe(name)
    }
    expect(begun).toEqual(['a at 0', 'b at 10'])
  })

  it('come in the order of the calls, with pauses of twice their time while others wait', async () => {
    const { begun, work } = worker(createTurns())
    const done = Promise.all([work('a', 10), work('b', 20), work('c', 5)])
    await pass(200)
    expect(await done).toEqual(['a', 'b', 'c'])
    expect(begun).toEqual(['a at 0, contended', 'b at 30, contended', 'c at 90'])
  })

  it('are skipped for calls whose signal aborts', async () => {
    const { begun, work } = worker(createTurns())
    const stop = new AbortController()
    const first = work('a', 10)
    const left = work('b', 10, stop.signal)
    const last = work('c', 10)
    await pass(5)
    stop.abort()
    await expect(left).rejects.toMatchObject({ code: 'ABORTED' })
    await pass(100)
    expect(await Promise.all([first, last])).toEqual(['a', 'c'])
    expect(begun).toEqual(['a at 0, contended', 'c at 30'])
    const aborted = work('d', 10, stop.signal)
    await pass(100)
    // The turn is free, so the work starts. The signal does not interrupt it.
    expect(await aborted).toBe('d')
  })

  it('go on after work that fails', async () => {
    const turns = createTurns()
    const { work } = worker(turns)
    const failing = turns.take(async () => {
      throw new Error('no')
    }, undefined)
    const next = work('a', 10)
    await expect(failing).rejects.toThrow('no')
    await pass(20)
    expect(await next).toBe('a')
  })

  it('pass to the next after a second, if the work takes longer', async () => {
    const { begun, work } = worker(createTurns())
    const slow = work('slow', 30_000)
    const other = work('other', 10)
    await pass(2010)
    expect(await other).toBe('other')
    expect(begun).toEqual(['slow at 0, contended', 'other at 2000'])
    await pass(30_000)
    expect(await slow).toBe('slow')
    const last = work('last', 10)
    await pass(10)
    expect(await last).toBe('last')
  })
})
