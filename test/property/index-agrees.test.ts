import {
  AuditLog,
  type AuditEvent,
  type EventPage,
  type EventStore,
  type LiveEvent,
  type QueryObject,
} from 'daybook'
import { manualClock } from 'daybook/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../adapters/memory/memory-store.js'
import { createPostgresStore } from '../../adapters/postgres/postgres-store.js'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import { INDEX_BOUNDS, type IndexBounds } from '../../src/store-kit/index/index-bounds.js'
import type { Clock } from '../../src/event/timestamp.js'
import { countedBytes } from '../support/counted-bytes.js'
import { postgresDatabase, type TestDatabase } from '../support/database.js'
import { randomRuns, SOAK_SECONDS } from '../support/soak.js'
import { tempDir } from '../support/temp.js'
import { eventsOf, limitedQuery } from './arbitraries.js'

/* A store that uses its index whenever possible returns the same events as a store that checks every event. */

const ids = ({ events, truncated }: EventPage): unknown => ({
  ids: events.map((event) => event.id),
  truncated,
})

/** The changes of a log between queries. */
interface History {
  readonly events: readonly AuditEvent[]
  /** Number of events that are imported before the first query. */
  readonly early: number
  /** Every `every`th event is removed. */
  readonly every: number
}

/** `size` events, or up to a third more. */
const historyOf = (size: number): fc.Arbitrary<History> =>
  fc.record({
    events: eventsOf(size, Math.floor(size * 1.33)),
    early: fc.integer({ min: Math.floor(size * 0.47), max: Math.floor(size * 0.93) }),
    every: fc.integer({ min: 2, max: 9 }),
  })

/** Some queries run at the same time, and some use caches of earlier ones. */
const AT_A_TIME = 4

const QUERIES = SOAK_SECONDS > 0 ? 40 : 12
const queries = fc.array(limitedQuery, { minLength: QUERIES, maxLength: QUERIES, size: 'max' })

const TYPES = { 'own:live': {}, 'own:new': {} }

/** Records live events. Leaves some of them open, to be changed and closed later. */
async function openSome(audit: AuditLog<typeof TYPES>): Promise<LiveEvent[]> {
  const left: LiveEvent[] = []
  for (let n = 0; n < 6; n++) {
    const event = await audit.recordLive('own:live', { n, t: 'alpha' })
    if (n % 2 === 0) await event.update({ n, t: 'beta' })
    if (n % 3 === 0) left.push(event)
    else await event.close()
  }
  return left
}

async function closeAll(events: readonly LiveEvent[]): Promise<void> {
  for (const event of events) {
    await event.update({ a: 'beta', n: 10 })
    await event.close()
  }
}

async function recordSome(
  audit: AuditLog<typeof TYPES>,
  events: readonly AuditEvent[],
): Promise<void> {
  await Promise.all(
    events.map(({ attributes, username }) =>
      audit.record('own:new', attributes, { username: username ?? undefined }),
    ),
  )
}

interface Subject {
  readonly store: EventStore
  /** Waits until the index is built. */
  readonly settle: () => Promise<void>
}

// Small limits of names and values, so that columns are incomplete, some names have no column, and some events are
// not listed. A small limit of bytes, so that parts end early and some events are in no part.
const FEW = { ...INDEX_BOUNDS, names: 10, values: 4, listedValues: 50, largeSize: 40 }
const BOUNDS = [FEW, { ...FEW, bytes: 4000, unsealedBytes: 12_000 }, INDEX_BOUNDS]

const boundsOf = (run: number): IndexBounds => BOUNDS[run % BOUNDS.length]!

/** Applies the same changes to both stores and compares their answers in between. */
async function compare(
  { events, early, every }: History,
  queries: readonly QueryObject[],
  subject: Subject,
  clock: Clock,
): Promise<void> {
  const plain = createMemoryStore({ clock }, { minIndexed: Infinity, probe: 0 })
  const audits = [subject.store, plain].map(
    (store) => new AuditLog({ store, types: TYPES, random: countedBytes() }),
  )
  const askOne = async (query: QueryObject): Promise<void> => {
    const [found, expected] = await Promise.all(audits.map((audit) => audit.list(query)))
    expect(ids(found!), JSON.stringify(query)).toEqual(ids(expected!))
  }
  const ask = async (): Promise<void> => {
    for (let at = 0; at < queries.length; at += AT_A_TIME)
      await Promise.all(queries.slice(at, at + AT_A_TIME).map(askOne))
  }
  const inAll = <Result>(
    act: (audit: AuditLog<typeof TYPES>) => Promise<Result>,
  ): Promise<Result[]> => Promise.all(audits.map(act))

  try {
    await inAll((audit) => audit.importEvents(events.slice(0, early)))
    await ask()
    await subject.settle()
    await inAll((audit) => audit.importEvents(events.slice(early)))
    const [some, more] = [Math.floor(events.length * 0.35), Math.floor(events.length * 0.55)]
    await inAll((audit) => recordSome(audit, events.slice(0, some)))
    const open = await inAll(openSome)
    await ask()
    await subject.settle()
    await inAll((audit) => recordSome(audit, events.slice(some, more)))
    await ask()
    await Promise.all(open.map(closeAll))
    await ask()
    const gone = events.filter((_, i) => i % every === 0)
    await inAll((audit) => audit.store.remove(gone.map(({ id }) => id)))
    await ask()
    // Imported at the times of removed events, with other attributes.
    const changed = gone.map((event, i) => ({
      ...event,
      attributes: events[events.length - 1 - i]!.attributes,
    }))
    await inAll((audit) => audit.importEvents(changed))
    await ask()
    await subject.settle()
    await ask()
  } finally {
    await inAll((audit) => audit.close())
  }
}

// A history asks many queries at once.
const UNLIMITED = 2 ** 31 - 1

interface Rounds {
  /** Number of random histories. Each is a separate test. */
  readonly rounds: number
  /** Minimum number of events of a history. */
  readonly size: number
}

function checkRounds({ rounds, size }: Rounds, open: (clock: Clock) => Subject): void {
  it.each(Array.from({ length: rounds }, (_, i) => i + 1))('history %i', () =>
    fc.assert(
      fc.asyncProperty(historyOf(size), queries, async (history, queries) => {
        const clock = manualClock('2026-06-01T00:00:00Z')
        await compare(history, queries, open(clock), clock)
      }),
      { numRuns: 1, endOnFailure: true },
    ),
  )
}

describe('an index finds the same as a check of every event, after any change of the log,', () => {
  describe('in memory', () => {
    checkRounds({ rounds: randomRuns(1, 10), size: 150 }, (clock) => ({
      store: createMemoryStore({ clock }, { minIndexed: 0, probe: 0 }),
      settle: () => Promise.resolve(),
    }))
  })

  describe('in segments of an SQLite file', () => {
    const temp = tempDir()
    afterAll(() => temp.remove())
    let files = 0
    checkRounds({ rounds: randomRuns(1, 9), size: 150 }, (clock) => {
      const filename = temp.file(`${files++}.db`)
      const tuning = { segmentSize: 16, fanOut: 3, minGramChunks: 1, bounds: boundsOf(files) }
      const { store, sealer } = createSqliteStore(
        { filename, clock, queryTimeoutMs: UNLIMITED },
        { tuning },
        { firstProbe: 0 },
      )
      return { store, settle: () => sealer.settled() }
    })
  })

  describe('in a compressed SQLite file', () => {
    const temp = tempDir()
    afterAll(() => temp.remove())
    let files = 0
    checkRounds({ rounds: 1, size: 120 }, (clock) => {
      const filename = temp.file(`${files++}.db`)
      const tuning = { segmentSize: 12, fanOut: 3, minGramChunks: 1, bounds: boundsOf(files) }
      const limits = { queryTimeoutMs: UNLIMITED }
      const options = { filename, clock, compression: 'deflate', ...limits } as const
      const { store, sealer } = createSqliteStore(options, { tuning }, { firstProbe: 0 })
      return { store, settle: () => sealer.settled() }
    })
  })

  describe('in segments of a Postgres database', () => {
    let database: TestDatabase
    beforeAll(async () => {
      database = await postgresDatabase()
    })
    afterAll(() => database.remove())
    let schemas = 0
    // About eleven segments, which are merged up to the highest level.
    checkRounds({ rounds: randomRuns(1, 6), size: 80 }, (clock) => {
      const schema = `log_${schemas++}`
      const tuning = { segmentSize: 12, fanOut: 3, minGramChunks: 1, bounds: boundsOf(schemas) }
      const options = { pool: database.pool, schema, clock, queryTimeoutMs: UNLIMITED }
      const { store, sealer } = createPostgresStore(options, { tuning }, { firstProbe: 0 })
      return { store, settle: () => sealer.settled() }
    })
  })
})
