import { AuditLog, type AuditEvent, type EventGroups, formatTimestamp } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventId } from '../../../src/event/event-id.js'
import { randomOf } from '../../support/random.js'
import { plainEvent } from '../../support/plain-events.js'

/* A log so large that a call with `within: 0` reads only a part of it. */

const START = 1_767_225_600_000_000
const COUNT = 60_000
const ROUTES = ['/a', '/b', '/c', '/d', '/e', '/f', '/g', '/h']

function eventsOfDay(): AuditEvent[] {
  const random = randomOf(7)
  let time = START
  return Array.from({ length: COUNT }, (_, n) => {
    // Traffic comes in waves, and the share of the routes changes over time.
    time += 1 + Math.floor(random() * (n % 20_000 < 2000 ? 10_000 : 1_000_000))
    const route = ROUTES[Math.floor(random() ** (1 + n / COUNT) * ROUTES.length)]!
    return plainEvent({
      id: eventId(time, '8000000000000000'),
      created_at: formatTimestamp(time),
      username: random() < 0.3 ? 'ann' : 'bob',
      attributes: { route, ms: Math.floor(random() ** 4 * 10_000) },
    })
  })
}

const events = eventsOfDay()
const audit: AuditLog = new AuditLog({ store: memoryStore(), types: {} })
beforeAll(async () => {
  for (let i = 0; i < COUNT; i += 1000) await audit.importEvents(events.slice(i, i + 1000))
})
afterAll(() => audit.close())

const keyOf = (event: AuditEvent): string =>
  JSON.stringify([event.attributes['route'], event.username])

const truth = new Map<string, AuditEvent[]>()
for (const event of events) {
  const known = truth.get(keyOf(event))
  if (known) known.push(event)
  else truth.set(keyOf(event), [event])
}

const percentile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.ceil(share * numbers.length) - 1]!

describe('groups of a sample', () => {
  const by = ['route', 'username']
  const sampled = { by, numbers: ['ms'], buckets: { count: 10 }, within: 0 }
  let groups: EventGroups
  beforeAll(async () => {
    groups = await audit.groups('', sampled)
  })

  it('are marked', () => {
    expect(groups.read).toBeGreaterThan(1000)
    expect(groups.read).toBeLessThan(COUNT)
    expect(groups.exact.groups).toBe(false)
    expect(groups.groups.every(({ exact }) => !exact)).toBe(true)
  })

  it('are found, all 16', () => {
    expect(groups.groups.map(({ values }) => JSON.stringify(values)).toSorted()).toEqual(
      [...truth.keys()].toSorted(),
    )
  })

  it('have the true count within their error, for at least nine of ten', () => {
    const within = groups.groups.filter(
      ({ values, count, error }) =>
        Math.abs(count - truth.get(JSON.stringify(values))!.length) <= error,
    )
    expect(within.length).toBeGreaterThanOrEqual(0.9 * groups.groups.length)
    for (const { count, error } of groups.groups) expect(error).toBeLessThan(count)
  })

  it('have true percentiles within their intervals, for at least nine of ten', () => {
    const checks = groups.groups.flatMap(({ values, numbers }) => {
      const all = truth.get(JSON.stringify(values))!.map(({ attributes }) => attributes['ms'])
      const { ms } = numbers
      return ([50, 95, 99] as const).map((share) => {
        const { low, high } = ms![`p${share}`]
        const value = percentile(all as number[], share / 100)
        return (low ?? -Infinity) <= value && value <= (high ?? Infinity)
      })
    })
    expect(checks.filter(Boolean).length).toBeGreaterThanOrEqual(0.9 * checks.length)
  })

  it('have buckets that add up to about the count', () => {
    for (const { count, buckets } of groups.groups) {
      const sum = buckets!.reduce((total, one) => total + one, 0)
      expect(Math.abs(sum - count)).toBeLessThanOrEqual(buckets!.length)
    }
  })

  it('are the same in another call without time', async () => {
    const again = await audit.groups('', sampled)
    expect({ ...again, took_ms: 0 }).toEqual({ ...groups, took_ms: 0 })
  })

  it('are exact with time', async () => {
    const exact = await audit.groups('', { by, within: 60_000 })
    expect(exact.exact).toEqual({ total: true, groups: true })
    expect(exact.groups.map(({ values, count }) => [JSON.stringify(values), count])).toEqual(
      exact.groups.map(({ values }) => [
        JSON.stringify(values),
        truth.get(JSON.stringify(values))!.length,
      ]),
    )
    expect(exact.total).toBe(COUNT)
  })
})
