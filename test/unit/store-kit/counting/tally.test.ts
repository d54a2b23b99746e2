import { type AuditEvent, type CountsQuery, type EventCounts, parseQuery } from 'daybook'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { durationOf } from '../../../../src/store-kit/counting/slices.js'
import { finishSteps } from '../../../../src/filter/steps.js'
import { createTally, type Tally } from '../../../../src/store-kit/counting/tally.js'
import { plainEvent } from '../../../support/plain-events.js'

const asked = (overrides: Partial<CountsQuery> = {}): CountsQuery => ({
  where: undefined,
  visible: undefined,
  buckets: undefined,
  facets: [],
  top: 5,
  attributes: false,
  within: 0,
  ...overrides,
})

const event = (members: Partial<AuditEvent> = {}): AuditEvent =>
  plainEvent({ type: 'api:a:b', ...members })

/** 64 cells of 1,048,576 microseconds, one event for each 1024. */
const SPAN = { first: 0, last: 2 ** 26 - 1, now: 2 ** 26 - 1 }

/** Runs the first rounds like a store. Each slice has one event per 1024 microseconds. */
function see(tally: Tally, rounds: number, one: AuditEvent = event()): void {
  for (const slice of tally.rounds.slice(0, rounds).flat()) {
    tally.add(slice.cell, one, durationOf(slice) / 1024)
    tally.seen(slice)
  }
}

/** Adds an event. Returns the number of points at which this could pause. */
function addTo(tally: Tally, ...added: Parameters<Tally['add']>): number {
  const decision = tally.add(...added)
  if (typeof decision === 'boolean') return 0
  let pauses = 0
  const counted = (function* () {
    for (let next = decision.next(); !next.done; next = decision.next()) {
      pauses += 1
      yield
    }
  })()
  finishSteps(counted)
  return pauses
}

const countsOf = (tally: Tally): EventCounts => finishSteps(tally.counts())

const withoutTime = (tally: Tally): object => ({ ...countsOf(tally), took_ms: 0 })

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a tally', () => {
  it('is exact after it has seen all events', () => {
    const tally = createTally(asked({ facets: ['type', 'username'] }), SPAN)
    see(tally, Infinity)
    expect(withoutTime(tally)).toEqual({
      total: 65_536,
      levels: { api: 65_536 },
      buckets: undefined,
      facets: {
        type: {
          values: [{ value: 'api:a:b', count: 65_536 }],
          distinct: 1,
          missing: 0,
          exact: true,
        },
        username: { values: [], distinct: 0, missing: 65_536, exact: true },
      },
      attributes: undefined,
      exact: { total: true, levels: true, buckets: true, attributes: true },
      took_ms: 0,
    })
  })

  it('has the counted events of each bucket, and how much of its time was counted', () => {
    const buckets = { count: 2, zone: 'UTC' }
    const query = asked({ facets: ['level', 'n'], attributes: true, buckets })
    const tally = createTally(query, SPAN)
    see(tally, 1, event({ attributes: { n: 7 } }))
    // One cell more than before.
    const [further] = tally.rounds[1]!
    tally.add(further!.cell, event({ type: 'error:a:b' }), durationOf(further!) / 1024)
    tally.seen(further!)
    const counts = countsOf(tally)
    const total = (SPAN.last + 1) / 1024 / 1024 + durationOf(further!) / 1024
    expect(counts.total).toBeCloseTo(total, 0)
    expect(counts.exact).toEqual({ total: false, levels: false, buckets: false, attributes: false })
    const shares = counts.buckets!.buckets.map(({ share }) => share!)
    expect(Math.min(...shares)).toBeCloseTo(1 / 1024, 5)
    expect(Math.max(...shares)).toBeGreaterThan(1 / 1024 + 1e-6)
    expect(counts.facets['n']).toMatchObject({ distinct: 1, exact: false })
    expect(counts.facets['level']).toMatchObject({ distinct: 2, exact: false })
    expect(counts.attributes).toMatchObject([{ name: 'n', types: ['number'] }])
  })

  it('gives up values that it cannot count in time, and continues with the total', () => {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const facets = ['level', 'n']
    const tally = createTally(asked({ facets, attributes: true, within: 100 }), SPAN)
    const slices = tally.rounds.flat()
    const enough = tally.rounds.slice(0, 2).flat().length
    for (const [i, slice] of slices.entries()) {
      tally.add(slice.cell, event({ attributes: { n: 7 } }))
      tally.seen(slice)
      if (i < enough) expect(tally.addsValues()).toBe(true)
      // A quarter of the time has passed, and much less is counted.
      if (i >= enough) now = 26
      expect(tally.isOver()).toBe(false)
    }
    const { total, exact, facets: found } = countsOf(tally)
    expect([total, exact.total, exact.attributes]).toEqual([slices.length, true, false])
    expect(found['level']!.exact).toBe(true)
    expect(found['n']).toEqual({
      values: [{ value: 7, count: enough + 1 }],
      distinct: 1,
      missing: 0,
      exact: false,
    })
  })

  it('never stops before the first round, then stops when the time is up', () => {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const tally = createTally(asked({ within: 100 }), SPAN)
    now = 1000
    const [first = []] = tally.rounds
    for (const slice of first) {
      expect(tally.isOver()).toBe(false)
      tally.seen(slice)
    }
    expect(tally.isOver()).toBe(true)
    now = 99
    expect(tally.isOver()).toBe(false)
    expect(countsOf(tally).took_ms).toBe(99)
  })

  it('accepts part of a slice', () => {
    const tally = createTally(asked(), SPAN)
    see(tally, 10)
    const last = tally.rounds.at(-1)!
    for (const slice of last) {
      const half = { ...slice, to: slice.from + Math.floor(durationOf(slice) / 2) - 1 }
      tally.add(slice.cell, event(), durationOf(half) / 1024)
      tally.seen(half)
    }
    const { total, exact } = countsOf(tally)
    expect(exact.total).toBe(false)
    expect(total).toBeCloseTo(49_152, 0)
  })

  it('can pause while it tests the own conditions of a facet on a long text', () => {
    const patterns = Array.from({ length: 250 }, (_, i) => `%${i}x_y%z`)
    const { where } = parseQuery({ filter: { text_matches_any: patterns, n_gt: 1 } })
    const tally = createTally(asked({ where, facets: ['text', 'n'] }), SPAN)
    const text = `${'a'.repeat(250_000)}_b`
    expect(addTo(tally, 0, event({ attributes: { n: 2, text } }))).toBeGreaterThan(250)
    expect(addTo(tally, 0, event({ attributes: { n: 2, text: 'a' } }))).toBe(0)
  })

  it('can pause while it adds an event of many values, and counts it once', () => {
    const wide = { n: 7, list: Array.from({ length: 60_000 }, (_, n) => ({ n: n % 9 })) }
    const facets = ['n', 'list_n', 'list_a_b_c_d_e_f']
    const tally = createTally(asked({ facets, attributes: true }), SPAN)
    expect(addTo(tally, 0, event({ attributes: wide }), 3)).toBeGreaterThan(60_000)
    expect(addTo(tally, 0, event({ attributes: { n: 7, list: [{ n: 8 }] } }))).toBe(0)
    for (const slice of tally.rounds.flat()) tally.seen(slice)
    const { facets: found, attributes = [] } = countsOf(tally)
    expect(found['n']).toEqual({
      values: [{ value: 7, count: 4 }],
      distinct: 1,
      missing: 0,
      exact: true,
    })
    expect(found['list_n']).toMatchObject({ distinct: 9, missing: 0 })
    expect(found['list_n']!.values[0]).toEqual({ value: 8, count: 4 })
    expect(found['list_a_b_c_d_e_f']).toEqual({
      values: [],
      distinct: 0,
      missing: 4,
      exact: true,
    })
    expect(attributes.map(({ name, count }) => [name, count])).toEqual([
      ['list_n', 4],
      ['n', 4],
    ])
  })

  it('can pause while it finds the most frequent values', () => {
    const tally = createTally(asked({ facets: ['a', 'b', 'level'], attributes: true }), SPAN)
    addTo(tally, 0, event({ attributes: { a: 1, b: [2, 3] } }))
    const steps = tally.counts()
    let pauses = 0
    while (!steps.next().done) pauses += 1
    expect(pauses).toBe(5)
  })

  it('counts an event for a facet if it fails only the own conditions of that facet', () => {
    const { where } = parseQuery('filter[username_eq]=ann&filter[type_start]=api:&filter[n_gt]=1')
    const tally = createTally(asked({ where, facets: ['username', 'level', 'n', 'type'] }), SPAN)
    expect(tally.shared).toBeUndefined()
    const attributes = { n: 2 }
    addTo(tally, 0, event({ username: 'ann', attributes }))
    addTo(tally, 0, event({ username: 'bob', attributes }), 3)
    addTo(tally, 0, event({ username: 'ann', type: 'error:a:b', attributes }), 5)
    addTo(tally, 0, event({ username: 'ann', attributes: { n: 1 } }), 7)
    addTo(tally, 0, event({ username: 'bob', type: 'error:a:b', attributes }), 11)
    for (const slice of tally.rounds.flat()) tally.seen(slice)
    const { total, facets } = countsOf(tally)
    expect(total).toBe(1)
    const counts = Object.entries(facets).map(([name, { values }]) => [
      name,
      ...values.map(({ value, count }) => `${value as string} ${count}`),
    ])
    expect(counts).toEqual([
      ['username', 'bob 3', 'ann 1'],
      ['level', 'error 5', 'api 1'],
      ['n', '1 7', '2 1'],
      ['type', 'api:a:b 1'],
    ])
  })

  it('keeps a limited number of short values of a facet', () => {
    const tally = createTally(asked({ facets: ['n'] }), SPAN)
    for (let n = 0; n < 100_010; n++) tally.add(0, event({ attributes: { n } }))
    tally.add(0, event({ attributes: { n: 7 } }))
    tally.add(0, event({ attributes: { n: 'x'.repeat(1001) } }))
    for (const slice of tally.rounds.flat()) tally.seen(slice)
    const { total, facets } = countsOf(tally)
    expect(total).toBe(100_012)
    expect(facets['n']).toMatchObject({ distinct: 100_000, missing: 0, exact: false })
    expect(facets['n']!.values[0]).toEqual({ value: 7, count: 2 })
  })

  it('keeps a limited number of attribute names and returns the most frequent', () => {
    const tally = createTally(asked({ attributes: true }), SPAN)
    const often = { often: { id: 1, type: 'x' }, id: 'own', created: { at: 'own' }, '': 1 }
    for (let n = 0; n < 11_000; n++)
      tally.add(0, event({ attributes: { ...often, [`key ${n}`]: n } }))
    tally.add(0, event({ attributes: { ['k'.repeat(256)]: 1 } }))
    for (const slice of tally.rounds.flat()) tally.seen(slice)
    const { attributes = [] } = countsOf(tally)
    expect(attributes).toHaveLength(1000)
    expect(attributes.slice(0, 3).map(({ name, count }) => [name, count])).toEqual([
      ['often_id', 11_000],
      ['often_type', 11_000],
      ['key 0', 1],
    ])
  })

  it('has no rounds if nothing can match', () => {
    const { where } = parseQuery('filter[created_at_gt]=2026-01-01')
    const tally = createTally(asked({ where, buckets: { count: 4, zone: 'UTC' } }), SPAN)
    expect(tally.rounds).toEqual([])
    expect(tally.isOver()).toBe(true)
    expect(countsOf(tally)).toMatchObject({ total: 0, exact: { total: true } })
  })
})
