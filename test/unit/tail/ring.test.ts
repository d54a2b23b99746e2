import type { AuditEvent, JsonObject } from 'daybook'
import { describe, expect, it } from 'vitest'
import { createRing, type Ring, rewound } from '../../../src/tail/ring.js'
import { plainEvent } from '../../support/plain-events.js'

/** Events are identified by short times. */
const at = (time: number, attributes: JsonObject = {}): AuditEvent =>
  plainEvent({ id: String(time), created_at: String(time), attributes })

const timesOf = (ring: Ring, after: number): number[] | undefined =>
  ring.after(String(after))?.entries.map(({ event }) => Number(event.created_at))

const addEvents = (ring: Ring, events: readonly AuditEvent[]): void =>
  ring.add(events.map((event) => ({ event, revision: undefined })))

const add = (ring: Ring, ...times: readonly number[]): void =>
  addEvents(
    ring,
    times.map((time) => at(time)),
  )

describe('a ring', () => {
  it('returns the first batch with an event after a time', () => {
    const ring = createRing('10')
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

  it('drops old batches beyond maxEvents and raises its floor', () => {
    const ring = createRing('10', { maxEvents: 3 })
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
    const ring = createRing('10', { maxBytes: 10_000 })
    const long = { list: [{ text: 'x'.repeat(4000) }] }
    addEvents(ring, [at(11, long)])
    addEvents(ring, [at(12, long)])
    expect(ring.floor).toBe('10')
    addEvents(ring, [at(13, long)])
    expect(ring.floor).toBe('11')
  })

  it('splits events into batches of batchBytes', () => {
    const ring = createRing('10', { batchBytes: 3000 })
    const textOf = (time: number): string => 'x'.repeat(time === 13 ? 5000 : 1000)
    addEvents(
      ring,
      [11, 12, 13, 14, 15, 16].map((time) => at(time, { text: textOf(time) })),
    )
    const batches = [10, 12, 13, 15].map((time) => timesOf(ring, time))
    expect(batches).toEqual([[11, 12], [13], [14, 15], [16]])
  })

  it('removes the events after a rewind, and readers find the rewinds that came later', () => {
    const ring = createRing('10')
    add(ring, 11, 12)
    add(ring, 13, 14, 15)
    add(ring, 16)
    const first = ring.latest
    ring.rewind({ from: '16', to: '13' })
    expect(timesOf(ring, 12)).toEqual([13])
    expect(timesOf(ring, 13)).toBeUndefined()
    expect(ring.batches()).toHaveLength(2)
    ring.rewind({ from: '13', to: '10' })
    expect(timesOf(ring, 10)).toBeUndefined()
    add(ring, 14)
    expect(timesOf(ring, 10)).toEqual([14])
    expect(first.next).toEqual({ from: '16', to: '13', next: ring.latest })
    const cursors = ['12', '13', '15', '16', '17'].map((one) => rewound(one, first.next!))
    expect(cursors).toEqual(['12', '13', '13', '13', '17'])
  })

  it('freezes events with all their attributes', () => {
    const ring = createRing('10')
    const event = at(11, { list: [{ a: 1 }], other: null })
    addEvents(ring, [event])
    const { list } = event.attributes as { list: object[] }
    for (const value of [event, event.attributes, list, list[0]])
      expect(Object.isFrozen(value)).toBe(true)
  })
})
