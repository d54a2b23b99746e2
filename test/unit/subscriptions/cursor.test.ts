import { DeliveryError } from 'daybook'
import { describe, expect, it } from 'vitest'
import {
  afterAcceptedProbe,
  afterDelivery,
  afterFailure,
  type AfterFailure,
  afterParking,
  afterRefusedProbe,
  type FailedBatch,
  untilNextAttempt,
} from '../../../src/subscriptions/cursor.js'
import type { CursorState } from '../../../src/subscriptions/states.js'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const START = 1_700_000_000 * SECOND
const START_TEXT = '2023-11-14T22:13:20.000000Z'

const cursor: CursorState = { generation: 0, position: 't0', delivered: 5 }
const outage = new DeliveryError('network', 'connection refused')
const refusal = new DeliveryError('status', 'unprocessable', { status: 422 })

const fail = (state: CursorState, batch: Partial<FailedBatch> = {}): AfterFailure =>
  afterFailure(state, {
    times: ['t1'],
    error: outage,
    whenStuck: 'park',
    now: START,
    random: 0.5,
    ...batch,
  })

/** The cursor after this number of failures of one event, each at the time of its retry. */
function failTimes(count: number, batch: Partial<FailedBatch> = {}): AfterFailure {
  let after = fail(cursor, batch)
  for (let n = 1; n < count; n++)
    after = fail(after.cursor, { ...batch, now: after.cursor.failure!.nextAttempt })
  return after
}

describe('a cursor', () => {
  it('after a delivery is at the last event, and counts the events', () => {
    const failed = fail(cursor).cursor
    expect(afterDelivery(failed, 't3', 3)).toEqual({
      generation: 0,
      position: 't3',
      delivered: 8,
      lastError: { at: START_TEXT, kind: 'network' },
    })
  })

  it('after a failure keeps its cursor and the batch', () => {
    expect(fail(cursor, { times: ['t1', 't2'] })).toEqual({
      action: 'retry',
      cursor: {
        ...cursor,
        failure: { boundary: 't2', attempts: 1, since: START, nextAttempt: START + SECOND },
        lastError: { at: START_TEXT, kind: 'network' },
      },
    })
  })

  it('waits twice as long after each failure, at most 15 minutes', () => {
    const waits: number[] = []
    let state = cursor
    for (let n = 0; n < 12; n++) {
      state = fail(state).cursor
      waits.push((state.failure!.nextAttempt - START) / SECOND)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
  })

  it('is due at once if the next attempt is further away than any delay, because the clock was set back', () => {
    const { failure } = fail(cursor).cursor
    expect(untilNextAttempt(failure!, START - 10 * MINUTE)).toBe(10 * MINUTE + SECOND)
    expect(untilNextAttempt(failure!, START - 400 * 24 * 60 * MINUTE)).toBe(0)
  })

  it.each([
    [0, 0.5],
    [1, 1.5],
  ])('waits between half and one and a half times as long, by chance: %d', (random, seconds) => {
    expect(fail(cursor, { random }).cursor.failure!.nextAttempt - START).toBe(seconds * SECOND)
  })

  it.each([
    [30_000, 30 * SECOND],
    [10, SECOND],
    [1e12, 24 * 60 * MINUTE],
  ])(
    'waits at least as long as the receiver requires, up to a day: %d ms',
    (retryAfterMs, wait) => {
      const error = new DeliveryError('status', 'busy', { status: 429, retryAfterMs })
      expect(fail(cursor, { error }).cursor.failure!.nextAttempt - START).toBe(wait)
    },
  )

  it.each([400, 413, 415, 422])('halves a batch that is refused with %d, at once', (status) => {
    const error = new DeliveryError('status', 'no', { status })
    const { action, cursor: next } = fail(cursor, { error, times: ['t1', 't2', 't3'] })
    expect(action).toBe('halve')
    expect(next.failure).toEqual({ boundary: 't2', attempts: 0, since: START, nextAttempt: START })
  })

  it.each([401, 403, 404, 408, 425, 429, 500, 503])('does not halve a batch after %d', (status) => {
    const error = new DeliveryError('status', 'no', { status })
    expect(fail(cursor, { error, times: ['t1', 't2'] }).action).toBe('retry')
  })

  it('parks a single event that is refused for the third time', () => {
    const actions = [1, 2, 3].map((count) => failTimes(count, { error: refusal }).action)
    expect(actions).toEqual(['retry', 'retry', 'park'])
  })

  it('holds a refused event without end if it must not park', () => {
    const given = { error: refusal, whenStuck: 'hold' } as const
    expect(failTimes(50, given)).toMatchObject({
      action: 'retry',
      cursor: { failure: { attempts: 50 } },
    })
    expect(failTimes(50, { whenStuck: 'hold' }).action).toBe('retry')
  })

  it('probes after ten attempts in at least ten minutes', () => {
    expect(failTimes(9).action).toBe('retry')
    expect(failTimes(10, { random: 0.5 })).toMatchObject({ action: 'retry' })
    const after = failTimes(11)
    expect(after.cursor.failure!.attempts).toBe(11)
    expect(after.action).toBe('probe')
  })

  it('parks a single event if the next one is accepted', () => {
    const { cursor: failed } = failTimes(11)
    expect(afterAcceptedProbe(failed, ['t1'])).toEqual({ action: 'park', cursor: failed })
    expect(afterParking(failed, 't1')).toEqual({
      generation: 0,
      position: 't1',
      delivered: 5,
      lastError: failed.lastError,
    })
  })

  it('searches a batch for the event at fault if the next one is accepted', () => {
    const { cursor: failed } = failTimes(11, { times: ['t1', 't2', 't3', 't4'] })
    const halved = afterAcceptedProbe(failed, ['t1', 't2', 't3', 't4'])
    expect(halved).toMatchObject({
      action: 'halve',
      cursor: { suspectUntil: 't4', failure: { boundary: 't2', attempts: 0, nextAttempt: 0 } },
    })
    // The first half is accepted, so the search continues behind it.
    const later = afterDelivery(halved.cursor, 't2', 2)
    expect(later).toMatchObject({ position: 't2', suspectUntil: 't4' })
    expect(fail(later, { times: ['t3', 't4', 't5'] })).toMatchObject({ action: 'halve' })
    expect(afterDelivery(later, 't4', 2)).not.toHaveProperty('suspectUntil')
  })

  it('searches no more once the next event is refused too', () => {
    const { cursor: failed } = failTimes(11, { times: ['t1', 't2'] })
    const { cursor: suspect } = afterAcceptedProbe(failed, ['t1', 't2'])
    expect(afterRefusedProbe(suspect)).not.toHaveProperty('suspectUntil')
  })
})
