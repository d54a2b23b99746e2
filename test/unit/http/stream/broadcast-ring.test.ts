import type { AuditEvent } from 'daybook'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createCoalescedNotifier } from '../../../../src/async/coalesced-notifier.js'
import { createRing, type Ring } from '../../../../src/http/stream/ring.js'

/** Events are identified by short times. */
const at = (time: number): AuditEvent => ({ created_at: String(time) }) as AuditEvent

const timesOf = (ring: Ring, after: number): number[] | undefined =>
  ring.after(String(after))?.entries.map(({ event }) => Number(event.created_at))

describe('a ring', () => {
  const add = (ring: Ring, ...times: readonly number[]): void => {
    for (const time of times) ring.add(at(time))
    ring.publish()
  }

  it('returns the first batch with an event after a time', () => {
    const ring = createRing('10', () => 'x')
    add(ring, 11, 12)
    add(ring, 13)
    add(ring)
    add(ring, 15, 16)
    expect(timesOf(ring, 10)).toEqual([11, 12])
    expect(timesOf(ring, 11)).toEqual([11, 12])
    expect(timesOf(ring, 12)).toEqual([13])
    expect(timesOf(ring, 13)).toEqual([15, 16])
    expect(timesOf(ring, 14)).toEqual([15, 16])
    expect(timesOf(ring, 16)).toBeUndefined()
    expect(timesOf(ring, 99)).toBeUndefined()
    expect(ring.floor).toBe('10')
  })

  it('hides events that are not published', () => {
    const ring = createRing('10', () => 'x')
    ring.add(at(11))
    expect(timesOf(ring, 10)).toBeUndefined()
    ring.publish()
    expect(timesOf(ring, 10)).toEqual([11])
  })

  it('drops old batches beyond maxEvents and raises its floor', () => {
    const ring = createRing('10', () => 'x', { maxEvents: 3 })
    add(ring, 11)
    add(ring, 12, 13)
    expect(ring.floor).toBe('10')
    add(ring, 14)
    expect(ring.floor).toBe('11')
    expect(timesOf(ring, 11)).toEqual([12, 13])
    // The newest batch stays, whatever its size.
    add(ring, 15, 16, 17, 18)
    expect(ring.floor).toBe('14')
    expect(timesOf(ring, 14)).toEqual([15, 16, 17, 18])
  })

  it('drops old batches beyond maxBytes', () => {
    const ring = createRing('10', () => 'x'.repeat(40), { maxBytes: 100 })
    add(ring, 11)
    add(ring, 12)
    expect(ring.floor).toBe('10')
    add(ring, 13)
    expect(ring.floor).toBe('11')
  })

  it('splits events into batches of batchBytes', () => {
    const ring = createRing('10', (event) => 'x'.repeat(event.created_at === '13' ? 200 : 40), {
      batchBytes: 100,
    })
    add(ring, 11, 12, 13, 14, 15, 16)
    const batches = [10, 12, 13, 15].map((time) => timesOf(ring, time))
    expect(batches).toEqual([[11, 12], [13], [14, 15], [16]])
  })
})

describe('a coalesced notifier', () => {
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
    })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const rig = (): { notifier: ReturnType<typeof createCoalescedNotifier>; calls: () => number } => {
    let calls = 0
    const notifier = createCoalescedNotifier(
      () => calls++,
      () => 25,
    )
    return { notifier, calls: () => calls }
  }

  it('notifies at once after an idle period', () => {
    const { notifier, calls } = rig()
    notifier.notify()
    notifier.notify()
    expect(calls()).toBe(0)
    vi.advanceTimersByTime(0)
    expect(calls()).toBe(1)
    vi.advanceTimersByTime(1000)
    expect(calls()).toBe(1)
    notifier.notify()
    vi.advanceTimersByTime(0)
    expect(calls()).toBe(2)
  })

  it('notifies at most once per gap', () => {
    const { notifier, calls } = rig()
    for (let ms = 0; ms < 90; ms++) {
      notifier.notify()
      vi.advanceTimersByTime(1)
    }
    expect(calls()).toBe(4)
    // The last notification is not lost.
    vi.advanceTimersByTime(25)
    expect(calls()).toBe(5)
  })

  it('does not notify after stop', () => {
    const { notifier, calls } = rig()
    notifier.notify()
    notifier.stop()
    vi.advanceTimersByTime(1000)
    expect(calls()).toBe(0)
  })
})
