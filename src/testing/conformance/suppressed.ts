import assert from 'node:assert/strict'
import type { EventDraft, JsonObject } from '../../event/event.js'
import type { EventStore, SuppressedCount } from '../../store/store.js'
import { DAY, formatTimestamp, MINUTE, SECOND } from '../../event/timestamp.js'
import { type Case, cases } from './context.js'
import {
  appendSome,
  draft,
  allEvents,
  exactData,
  numbersOf,
  recordSome,
  rejectsWith,
  throttled,
  range,
} from './helpers.js'

// 2026-01-01, at which the clock of every case starts.
const START = 1_767_225_600_000_000

/** A count of suppressed calls, by default of the throttle that `throttled` sets. */
const suppressedCalls = (
  count: number,
  overrides: Partial<SuppressedCount> = {},
): SuppressedCount => ({
  key: 'test:event',
  type: 'test:event',
  scope: {},
  period: MINUTE,
  count,
  first: START,
  last: START,
  ...overrides,
})

const report = (
  store: EventStore,
  number: number,
  counts: readonly SuppressedCount[],
  reporter = 'one',
): Promise<void> => store.reportSuppressed({ reporter, number, counts })

/** The draft that records the counts. Its attribute `recorded` is the number of suppressed calls. */
const draftOf = (counts: readonly SuppressedCount[]): EventDraft =>
  draft({ recorded: counts.reduce((sum, { count }) => sum + count, 0) }, { type: 'test:gap' })

/** Calls `recordSuppressed`. Returns the counts that it recorded, sorted by key. */
async function recordCounts(store: EventStore): Promise<SuppressedCount[]> {
  let recorded: readonly SuppressedCount[] = []
  const count = await store.recordSuppressed((counts) => {
    recorded = counts
    return draftOf(counts)
  })
  assert.equal(count, recorded.length)
  return recorded.toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

const sum = (all: readonly JsonObject[], key: string): number =>
  all.reduce((total, attributes) => total + Number(attributes[key] ?? 0), 0)

export const suppressedCases: readonly Case[] = [
  ...cases({
    async 'suppressed: the next stored event takes the count, once'({ store, audit, clock }) {
      await store.append([throttled({ n: 0 })])
      await report(store, 1, [suppressedCalls(3, { first: START + 7, last: START + 9 })])
      clock.advance(MINUTE)
      const [event] = await store.append([throttled({ n: 1 })])
      const suppressed_since = '2026-01-01T00:00:00.000007Z'
      assert.equal(
        JSON.stringify(event!.attributes),
        JSON.stringify({ n: 1, suppressed_count: 3, suppressed_since }),
      )
      clock.advance(MINUTE)
      const [next] = await store.append([throttled({ n: 2 })])
      assert.deepEqual(next!.attributes, { n: 2 })
      const all = await allEvents(audit)
      assert.deepEqual(all.slice(1), [event, next])
      assert.deepEqual(await store.get(event!.id), event)
      const filters = [
        { suppressed_count_eq: 3 },
        { suppressed_count_gt: '2', n_eq: 1 },
        { suppressed_since_eq: suppressed_since },
        { suppressed_since_start: '2026-01-01T' },
        { suppressed_count_not_null: '1' },
      ]
      for (const filter of filters)
        assert.deepEqual((await audit.list({ filter })).events, [event], JSON.stringify(filter))
      const without = await audit.list({ filter: { suppressed_count_null: '1' } })
      assert.deepEqual(numbersOf(without.events), [0, 2])
    },

    async 'suppressed: its attributes follow the others, which are stored exactly'({ store }) {
      const all: JsonObject[] = [exactData, {}, { text: '}' }, { nested: { suppressed_count: 1 } }]
      for (const [n, data] of all.entries()) {
        const key = `key ${n}`
        await report(store, n + 1, [suppressedCalls(1, { key })])
        const [event] = await store.append([throttled(data, { key })])
        const suppressed_since = formatTimestamp(START)
        const attributes = { ...data, suppressed_count: 1, suppressed_since }
        assert.equal(JSON.stringify(event!.attributes), JSON.stringify(attributes))
        assert.deepEqual(await store.get(event!.id), event)
      }
    },

    async 'suppressed: reports are added up, each once'({ store }) {
      await report(store, 5, [suppressedCalls(1, { first: START + 4, last: START + 5 })])
      await report(store, 5, [suppressedCalls(10)])
      await report(store, 4, [suppressedCalls(100)])
      await report(store, 8, [suppressedCalls(2, { first: START + 2, last: START + 9 })])
      await report(store, 5, [suppressedCalls(1000)])
      await report(store, 1, [suppressedCalls(4, { first: START + 3, last: START + 3 })], 'another')
      const [event] = await store.append([throttled({})])
      assert.deepEqual(event!.attributes, {
        suppressed_count: 7,
        suppressed_since: formatTimestamp(START + 2),
      })
    },

    async 'suppressed: each key has its own count'({ store }) {
      const keys = ['a', 'b', 'c']
      await report(
        store,
        1,
        keys.map((key, i) => suppressedCalls(i + 1, { key })),
      )
      const batch = ['c', 'a', 'a'].map((key, n) => throttled({ n }, { key }))
      const events = await store.append([draft({ n: -1 }), ...batch])
      assert.deepEqual(
        events.map(({ attributes }) => attributes['suppressed_count']),
        [undefined, 3, 1],
      )
      const [last] = await store.append([throttled({}, { key: 'b' })])
      assert.equal(last!.attributes['suppressed_count'], 2)
    },

    async 'suppressed: a suppressed draft does not take the count'({ store, clock }) {
      await store.append([throttled({ n: 0 })])
      await report(store, 1, [suppressedCalls(1)])
      assert.deepEqual((await appendSome(store, [throttled({ n: 1 })])).suppressed, [1])
      clock.advance(MINUTE)
      const [event] = await store.append([throttled({ n: 2 })])
      assert.equal(event!.attributes['suppressed_count'], 1)
    },

    async 'suppressed: accepts an empty report and one of thousands of keys'({ store }) {
      await report(store, 1, [])
      const counts = range(0, 2999).map((n) => suppressedCalls(n + 1, { key: `key ${n}` }))
      await report(store, 2, counts)
      await report(store, 2, counts)
      for (const n of [0, 1500, 2999]) {
        const [event] = await store.append([throttled({}, { key: `key ${n}` })])
        assert.equal(event!.attributes['suppressed_count'], n + 1)
      }
    },

    async 'suppressed: a count that no event has taken is recorded after two periods, once'({
      store,
      audit,
      clock,
    }) {
      const scope = { project: 'acme', n: 1, none: null }
      await store.append([throttled({ n: 0 }, { scope })])
      const count = suppressedCalls(3, { scope, first: START + 1, last: START + 2 })
      await report(store, 1, [count])
      assert.deepEqual(await recordCounts(store), [])
      clock.advance(2 * MINUTE - SECOND)
      assert.deepEqual(await recordCounts(store), [])
      assert.equal((await allEvents(audit)).length, 1)
      clock.advance(SECOND)
      assert.deepEqual(await recordCounts(store), [count])
      const all = await allEvents(audit)
      assert.deepEqual(
        all.map(({ type, attributes }) => [type, attributes]),
        [
          ['test:event', { n: 0 }],
          ['test:gap', { recorded: 3 }],
        ],
      )
      assert.deepEqual(await store.get(all[1]!.id), all[1])
      assert.ok(all[1]!.created_at > all[0]!.created_at)
      assert.deepEqual(await recordCounts(store), [])
      const [next] = await store.append([throttled({ n: 1 }, { scope })])
      assert.deepEqual(next!.attributes, { n: 1 })
      assert.ok(next!.created_at > all[1]!.created_at)
    },

    async 'suppressed: not recorded while calls are still being suppressed'({ store, clock }) {
      await report(store, 1, [suppressedCalls(1)])
      clock.advance(MINUTE / 2)
      await report(store, 2, [suppressedCalls(1, { first: clock(), last: clock() })])
      clock.advance(MINUTE / 2)
      assert.deepEqual(await recordCounts(store), [])
      clock.advance(MINUTE / 2)
      assert.deepEqual(await recordCounts(store), [
        suppressedCalls(2, { last: START + MINUTE / 2 }),
      ])
    },

    async 'suppressed: each count is recorded after its own period'({ store, clock }) {
      const short = suppressedCalls(1, { key: 'short', period: SECOND })
      const long = suppressedCalls(2, { key: 'long', period: DAY })
      await report(store, 1, [long, short])
      clock.advance(MINUTE)
      assert.deepEqual(await recordCounts(store), [short])
      clock.advance(DAY)
      assert.deepEqual(await recordCounts(store), [long])
    },

    async 'suppressed: recorded at once after the clock steps back'({ store, clock }) {
      await store.append([throttled({ n: 0 })])
      await report(store, 1, [suppressedCalls(1)])
      clock.advance(-DAY)
      assert.deepEqual(await recordCounts(store), [suppressedCalls(1)])
    },

    async 'suppressed: at most a thousand counts are recorded at a time'({ store, audit, clock }) {
      await report(
        store,
        1,
        range(0, 2499).map((n) => suppressedCalls(n, { key: `key ${n + 1}`, count: n + 1 })),
      )
      clock.advance(MINUTE)
      const recorded = [
        await recordCounts(store),
        await recordCounts(store),
        await recordCounts(store),
      ]
      assert.deepEqual(
        recorded.map((counts) => counts.length),
        [1000, 1000, 500],
      )
      assert.equal(new Set(recorded.flat().map(({ key }) => key)).size, 2500)
      assert.deepEqual(await recordCounts(store), [])
      const all = (await allEvents(audit)).map(({ attributes }) => attributes)
      assert.equal(all.length, 3)
      assert.equal(sum(all, 'recorded'), (2500 * 2501) / 2)
    },

    async 'suppressed: a count stays if recording it fails'({ store, audit, clock }) {
      await report(store, 1, [suppressedCalls(1)])
      clock.advance(2 * MINUTE)
      const signal = AbortSignal.abort()
      await rejectsWith(store.recordSuppressed(draftOf, { signal }), 'ABORTED')
      await assert.rejects(
        store.recordSuppressed(() => {
          throw new Error('no')
        }),
      )
      assert.deepEqual(await allEvents(audit), [])
      assert.deepEqual(await recordCounts(store), [suppressedCalls(1)])
    },

    async 'suppressed: recording leaves throttles closed and reports known'({ store, clock }) {
      await report(store, 7, [suppressedCalls(1, { key: 'other', period: SECOND })])
      clock.advance(3 * SECOND)
      await store.append([throttled({ n: 0 })])
      assert.equal((await recordCounts(store)).length, 1)
      assert.deepEqual(await recordCounts(store), [])
      assert.deepEqual((await appendSome(store, [throttled({ n: 1 })])).suppressed, [1])
      await report(store, 7, [suppressedCalls(1, { key: 'other', period: SECOND })])
      assert.deepEqual(await recordCounts(store), [])
    },

    async 'suppressed: an aborted signal adds nothing'({ store }) {
      const signal = AbortSignal.abort()
      const given = { reporter: 'one', number: 1, counts: [suppressedCalls(1)] }
      await rejectsWith(store.reportSuppressed(given, { signal }), 'ABORTED')
      const [event] = await store.append([throttled({ n: 0 })])
      assert.deepEqual(event!.attributes, { n: 0 })
    },
  }),

  ...cases(
    {
      async 'suppressed: counts are shared by all stores and remain after they close'({
        store,
        audit,
        clock,
        reopen,
      }) {
        const other = await reopen()
        await report(store, 1, [suppressedCalls(1)], 'one')
        await report(other.store, 1, [suppressedCalls(2)], 'two')
        await report(other.store, 1, [suppressedCalls(4)], 'one')
        await audit.close()
        await other.close()
        const again = (await reopen()).store
        await report(again, 1, [suppressedCalls(8)], 'two')
        clock.advance(SECOND)
        const [event] = await again.append([throttled({})])
        assert.equal(event!.attributes['suppressed_count'], 3)
      },

      async 'suppressed: racing stores neither lose nor repeat a count'({
        store,
        audit,
        clock,
        reopen,
      }) {
        const stores = [store, (await reopen()).store]
        let reported = 0
        let recorded = 0
        for (const round of range(1, 10)) {
          const jobs = stores.flatMap((one, i) => [
            report(
              one,
              round,
              range(0, 9).map((n) =>
                suppressedCalls(round, { key: `key ${n}`, first: clock(), last: clock() }),
              ),
              `reporter ${i}`,
            ),
            one.append(range(0, 4).map((n) => throttled({ n }, { key: `key ${n}` }))),
            one.recordSuppressed(draftOf).then((count) => void (recorded += count)),
          ])
          await Promise.all(jobs)
          reported += stores.length * 10 * round
          clock.advance(round % 3 === 0 ? 3 * MINUTE : MINUTE / 2)
        }
        clock.advance(3 * MINUTE)
        recorded += (await recordCounts(store)).length
        assert.deepEqual(await recordCounts(store), [])
        assert.ok(recorded > 0)
        const all = (await allEvents(audit)).map(({ attributes }) => attributes)
        const stored = sum(all, 'suppressed_count')
        assert.ok(stored > 0)
        assert.equal(stored + sum(all, 'recorded'), reported)
      },
    },
    'reopen',
  ),

  ...cases(
    {
      async 'suppressed: a report repeated after a lost acknowledgement is added once'({
        store,
        audit,
        loseAcknowledgement,
      }) {
        await recordSome(audit, 1)
        for (const number of range(1, 3)) {
          await loseAcknowledgement('reportSuppressed')
          const call = report(store, number, [suppressedCalls(number)])
          await call.catch(() => report(store, number, [suppressedCalls(number)]))
        }
        const [event] = await store.append([throttled({})])
        assert.equal(event!.attributes['suppressed_count'], 6)
      },
    },
    'loseAcknowledgement',
  ),
]
