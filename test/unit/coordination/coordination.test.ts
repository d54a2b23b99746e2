import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createAbandonedCheck,
  createOwnHeartbeats,
  createSilences,
} from '../../../src/coordination/heartbeats.js'
import { TIMES } from '../../../src/coordination/times.js'
import { isCurrent } from '../../../src/coordination/lease.js'

describe('a lease', () => {
  it.each([
    ['has not ended', 101, true],
    ['has just ended', 100, false],
    ['lasts for its full duration', 130, true],
    ['was taken before the clock was set back a little', 131, true],
    ['was taken before the clock was set back', 161, false],
  ])('that %s', (_, until, expected) => {
    expect(isCurrent(until, 100, 30)).toBe(expected)
  })
})

describe('the silence of another process', () => {
  let time = 0
  beforeEach(() => void (time = 0))

  /** Passes these heartbeats to the check, at intervals of `everyMs`. */
  const silencesOver = (counts: readonly (number | undefined)[], everyMs: number) => {
    const silences = createSilences(() => time)
    return counts.map((heartbeats) => {
      const found = silences(heartbeats === undefined ? [] : [{ id: 'p', heartbeats }])
      time += everyMs
      return found.get('p')
    })
  }

  it.each([
    ['begins with the first look', [7, 7, 7], 5000, [0, 5000, 10_000]],
    ['ends with the next heartbeat', [1, 1, 2, 2], 5000, [0, 5000, 0, 5000]],
    ['ends with a heartbeat of any number', [1, 1, -2, -2], 5000, [0, 5000, 0, 5000]],
    ['begins anew after an absence', [1, undefined, 1], 5000, [0, undefined, 0]],
    ['may have looks of up to 10 s between them', [1, 1], 10_000, [0, 10_000]],
    ['begins anew after a gap without looks', [1, 1, 1], 10_001, [0, 0, 0]],
  ])('%s', (_, counts, everyMs, expected) => {
    expect(silencesOver(counts, everyMs)).toEqual(expected)
  })

  it('is too long after 20 s, for each sender', () => {
    const find = createAbandonedCheck(() => time)
    const found: string[][] = []
    for (let look = 0; look <= 5; look++) {
      const senders = [
        { id: 'dead', heartbeats: 1 },
        { id: 'alive', heartbeats: look },
      ]
      found.push(find(senders).map(({ id }) => id))
      time += TIMES.work.everyMs
    }
    expect(found).toEqual([[], [], [], [], ['dead'], ['dead']])
  })
})

describe('the heartbeats of this process', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())
  const pass = (ms: number): unknown => vi.advanceTimersByTime(ms)

  it('are valid from before the call of the store until other processes may take over', async () => {
    const own = createOwnHeartbeats(TIMES.delivery)
    expect([own.haveBegun(), own.areValidFor(), own.areDue()]).toEqual([false, false, true])
    const sent: number[] = []
    await own.send(async (heartbeats) => {
      sent.push(heartbeats)
      pass(2000)
    })
    expect([own.haveBegun(), own.areValidFor(), own.areDue()]).toEqual([true, true, false])
    expect([own.areValidFor(3999), own.areValidFor(4000)]).toEqual([true, false])
    pass(1)
    expect(own.areDue()).toBe(true)
    pass(3999)
    expect(own.areValidFor()).toBe(false)
    await own.send(async (heartbeats) => void sent.push(heartbeats))
    expect(sent).toEqual([1, 2])
    expect(own.areValidFor()).toBe(true)
  })

  it('that the store has refused do not count, and their number is not used again', async () => {
    const own = createOwnHeartbeats(TIMES.delivery)
    await expect(own.send(() => Promise.reject(new Error('down')))).rejects.toThrow('down')
    expect([own.haveBegun(), own.areValidFor()]).toEqual([false, false])
    await own.send(async (heartbeats) => expect(heartbeats).toBe(2))
  })
})
