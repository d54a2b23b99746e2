/*
 * A model of recording into one log on Postgres: what a rate of events costs, and which limit it meets first. Events that
 * arrive during a commit share the next one, so a higher rate has larger batches, not more commits.
 */

/** A quantity that a commit takes, and each event in it. */
export interface Linear {
  readonly perCommit: number
  readonly perEvent: number
}

export interface Costs {
  /** Milliseconds from the start of a commit until the next one can start. */
  readonly time: Linear
  /** Milliseconds of processor time of the process that records, its part of the index included. */
  readonly client: Linear
  /** Milliseconds of processor time of the server, its part of the index included. */
  readonly server: Linear
  /** Bytes of WAL. */
  readonly wal: Linear
}

/** What a trial has measured: commits, and in all of them events and a quantity. */
export interface Sample {
  readonly commits: number
  readonly events: number
  readonly quantity: number
}

/** The line through two samples with batches of different sizes. No part of a cost is negative. */
export function fitLine(small: Sample, large: Sample): Linear {
  const determinant = small.commits * large.events - large.commits * small.events
  const perEvent = (small.commits * large.quantity - large.commits * small.quantity) / determinant
  const perCommit = (small.quantity * large.events - large.quantity * small.events) / determinant
  if (perEvent < 0) return { perCommit: small.quantity / small.commits, perEvent: 0 }
  if (perCommit < 0) return { perCommit: 0, perEvent: large.quantity / large.events }
  return { perCommit, perEvent }
}

export const costOf = ({ perCommit, perEvent }: Linear, commits: number, events: number): number =>
  perCommit * commits + perEvent * events

export interface Prediction {
  readonly commitsPerSecond: number
  /** Milliseconds from the moment at which an event was due to the end of its commit. */
  readonly p50: number
  readonly p99: number
  /** Cores that are busy. */
  readonly clientCores: number
  readonly serverCores: number
  /** Bytes of WAL per second. */
  readonly walPerSecond: number
}

export interface Load {
  readonly perSecond: number
  readonly seconds: number
  /** Milliseconds between the moments at which all events that are due are recorded. */
  readonly tickMs: number
}

/** The due times of the events, in milliseconds, and when each is recorded. */
function* arrivals({ perSecond, seconds, tickMs }: Load): Generator<[due: number, at: number]> {
  for (let i = 0; i < perSecond * seconds; i++) {
    const due = (i / perSecond) * 1000
    yield [due, Math.floor(due / tickMs + 1) * tickMs]
  }
}

const atShare = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

/** Simulates commits one after the other. Each takes all events that wait when it starts. */
export function simulate(costs: Costs, load: Load): Prediction {
  const events = [...arrivals(load)]
  const latencies: number[] = []
  let commits = 0
  let free = 0
  for (let first = 0; first < events.length;) {
    const start = Math.max(free, events[first]![1])
    let after = first
    while (after < events.length && events[after]![1] <= start) after++
    free = start + costOf(costs.time, 1, after - first)
    for (const [due] of events.slice(first, after)) latencies.push(free - due)
    commits++
    first = after
  }
  const sorted = latencies.toSorted((a, b) => a - b)
  const perSecond = (of: Linear): number => costOf(of, commits, events.length) / load.seconds
  return {
    commitsPerSecond: commits / load.seconds,
    p50: atShare(sorted, 0.5),
    p99: atShare(sorted, 0.99),
    clientCores: perSecond(costs.client) / 1000,
    serverCores: perSecond(costs.server) / 1000,
    walPerSecond: perSecond(costs.wal),
  }
}

/** Seconds of a month of 30 days. */
export const MONTH = 30 * 24 * 3600

/** What is assumed about the load and about the machines. */
export interface Assumptions {
  /** The busiest second, compared with the mean. */
  readonly peak: number
  /** Share of a limit that is planned for. */
  readonly use: number
  readonly cores: number
  /** Bytes for events on the disk of a server, and months that they are kept. */
  readonly diskBytes: number
  readonly months: number
}

export interface Limit {
  readonly name: string
  /** What reaches the limit: a log, or a server with any number of logs. */
  readonly of: 'log' | 'server'
  /** Events a month up to which one is enough. */
  readonly eventsPerMonth: number
}

export interface Measured {
  readonly costs: Costs
  /** Bytes that an event takes on the disk of the server, the index included. */
  readonly bytesPerEvent: number
  /** Events per second of one log that the index keeps up with. */
  readonly indexedPerSecond: number
}

/** The limits, the lowest first. */
export function limitsOf(measured: Measured, assumed: Assumptions): Limit[] {
  const { costs, bytesPerEvent, indexedPerSecond } = measured
  const { peak, use, cores, diskBytes, months } = assumed
  const atPeak = (perSecond: number): number => ((perSecond * use) / peak) * MONTH
  // At the limit batches are large, and what a commit itself costs is small.
  const limits: Limit[] = [
    { name: 'order of commits', of: 'log', eventsPerMonth: atPeak(1000 / costs.time.perEvent) },
    { name: 'building of the index', of: 'log', eventsPerMonth: atPeak(indexedPerSecond) },
    {
      name: 'processor of the server',
      of: 'server',
      eventsPerMonth: atPeak((cores * 1000) / costs.server.perEvent),
    },
    { name: 'disk', of: 'server', eventsPerMonth: (diskBytes * use) / bytesPerEvent / months },
  ]
  return limits.toSorted((a, b) => a.eventsPerMonth - b.eventsPerMonth)
}

export interface Plan {
  readonly logs: number
  readonly servers: number
  /** The limit that decides the number of servers or logs; the nearest one if one of each is enough. */
  readonly first: Limit
  /** How much of that limit one log or one server would need. */
  readonly share: number
}

export function planFor(eventsPerMonth: number, limits: readonly Limit[]): Plan {
  const needed = (of: Limit['of']): number =>
    Math.max(
      ...limits
        .filter((limit) => limit.of === of)
        .map((limit) => Math.ceil(eventsPerMonth / limit.eventsPerMonth)),
    )
  const first = limits[0]!
  return {
    logs: needed('log'),
    servers: needed('server'),
    first,
    share: eventsPerMonth / first.eventsPerMonth,
  }
}
