import { expect, it } from 'vitest'
import {
  type Costs,
  fitLine,
  limitsOf,
  MONTH,
  planFor,
  simulate,
} from '../../../benchmarks/harness/capacity-model.js'

const NONE = { perCommit: 0, perEvent: 0 }

const costs: Costs = {
  time: { perCommit: 2, perEvent: 0.1 },
  client: { perCommit: 1, perEvent: 0.05 },
  server: { perCommit: 0.5, perEvent: 0.2 },
  wal: { perCommit: 100, perEvent: 1000 },
}

it('splits a cost into the part of a commit and that of an event', () => {
  const sample = (commits: number, events: number) => ({
    commits,
    events,
    quantity: 3 * commits + 0.5 * events,
  })
  const { perCommit, perEvent } = fitLine(sample(1000, 1000), sample(100, 20_000))
  expect(perCommit).toBeCloseTo(3)
  expect(perEvent).toBeCloseTo(0.5)
})

it('finds no negative part of a cost', () => {
  const small = { commits: 1000, events: 1000, quantity: 5000 }
  expect(fitLine(small, { commits: 100, events: 20_000, quantity: 100 })).toEqual({
    perCommit: 5,
    perEvent: 0,
  })
  expect(fitLine(small, { commits: 100, events: 2000, quantity: 30_000 })).toEqual({
    perCommit: 0,
    perEvent: 15,
  })
})

it('commits all events of a tick at once while the log keeps up', () => {
  // 5 events every 10 ms: a commit of 2 ms and 5 times 0.1 ms.
  const predicted = simulate(costs, { perSecond: 500, seconds: 2, tickMs: 10 })
  expect(predicted.commitsPerSecond).toBe(100)
  expect(predicted.serverCores).toBeCloseTo((100 * 0.5 + 500 * 0.2) / 1000)
  expect(predicted.clientCores).toBeCloseTo((100 * 1 + 500 * 0.05) / 1000)
  expect(predicted.walPerSecond).toBeCloseTo(100 * 100 + 500 * 1000)
  // An event is due 2 to 10 ms before its tick.
  expect(predicted.p50).toBeCloseTo(8.5)
  expect(predicted.p99).toBeCloseTo(12.5)
})

it('makes larger batches at higher rates', () => {
  const predicted = simulate(costs, { perSecond: 8000, seconds: 5, tickMs: 1 })
  // Each second 800 ms are spent on events. The rest is enough for 100 commits.
  expect(predicted.commitsPerSecond).toBeGreaterThan(95)
  expect(predicted.commitsPerSecond).toBeLessThan(105)
})

it('names the lowest limit, and how many logs and servers are needed', () => {
  const measured = { costs: { ...costs, wal: NONE }, bytesPerEvent: 1000, indexedPerSecond: 2000 }
  const assumed = { peak: 4, use: 0.5, cores: 10, diskBytes: 1e12, months: 1 }
  const limits = limitsOf(measured, assumed)
  expect(limits.map(({ name }) => name)).toEqual([
    'disk',
    'building of the index',
    'order of commits',
    'processor of the server',
  ])
  expect(limits[0]!.eventsPerMonth).toBe(5e8)
  expect(limits[1]!.eventsPerMonth).toBe(250 * MONTH)
  expect(planFor(1e6, limits)).toMatchObject({ logs: 1, servers: 1, share: 0.002 })
  expect(planFor(1e9, limits)).toMatchObject({ logs: 2, servers: 2, first: { name: 'disk' } })
})
