import assert from 'node:assert/strict'
import type { EventDraft, JsonObject } from '../../event/event.js'
import type { EventStore, SuppressedCount } from '../../store/store.js'
import { DAY, formatTimestamp, MINUTE, SECOND } from '../../event/timestamp.js'
import { type Case, cases } from './context.js'
import {
  appendSome,
  draft,
  everything,
  exactData,
  numbers,
  recordSome,
  rejectsWith,
  throttled,
  upTo,
} from './helpers.js'

// 2026-01-01, where the clock of every case starts.
const START = 1_767_225_600_000_000

/** What a throttle has held back since a time; by `throttled`'s throttle where no key is named. */
const held = (count: number, overrides: Partial<SuppressedCount> = {}): SuppressedCount => ({
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

/** The event that tells of counts: how many calls they stand for. */
const telling = (counts: readonly SuppressedCount[]): EventDraft =>
  draft({ told: counts.reduce((sum, { count }) => sum + count, 0) }, { type: 'test:gap' })

/** What was told of, in the order of their keys. */
async function tell(store: EventStore): Promise<SuppressedCount[]> {
  let told: readonly SuppressedCount[] = []
  const count = await store.recordSuppressed((counts) => {
    told = counts
    return telling(counts)
  })
  assert.equal(count, told.length)
  return told.toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

const sum = (all: readonly JsonObject[], key: string): number =>
  all.reduce((total, attributes) => total + Number(attributes[key] ?? 0), 0)

export const suppressedCases: readonly Case[] = [
  ...cases({
    async 'suppressed: the next event that is kept tells of it, once'({ store, audit, clock }) {
      await store.append([throttled({ n: 0 })])
      await report(store, 1, [held(3, { first: START + 7, last: START + 9 })])
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
      const all = await everything(audit)
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
      assert.deepEqual(numbers(without.events), [0, 2])
    },

    async 'suppressed: goes behind the other attributes, which are kept exactly'({ store }) {
      const all: JsonObject[] = [exactData, {}, { text: '}' }, { nested: { suppressed_count: 1 } }]
      for (const [n, data] of all.entries()) {
        const key = `key ${n}`
        await report(store, n + 1, [held(1, { key })])
        const [event] = await store.append([throttled(data, { key })])
        const suppressed_since = formatTimestamp(START)
        const attributes = { ...data, suppressed_count: 1, suppressed_since }
        assert.equal(JSON.stringify(event!.attributes), JSON.stringify(attributes))
        assert.deepEqual(await store.get(event!.id), event)
      }
    },

    async 'suppressed: reports add up, each once'({ store }) {
      await report(store, 5, [held(1, { first: START + 4, last: START + 5 })])
      await report(store, 5, [held(10)])
      await report(store, 4, [held(100)])
      await report(store, 8, [held(2, { first: START + 2, last: START + 9 })])
      await report(store, 5, [held(1000)])
      await report(store, 1, [held(4, { first: START + 3, last: START + 3 })], 'another')
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
        keys.map((key, i) => held(i + 1, { key })),
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

    async 'suppressed: held back, a draft takes nothing along'({ store, clock }) {
      await store.append([throttled({ n: 0 })])
      await report(store, 1, [held(1)])
      assert.deepEqual((await appendSome(store, [throttled({ n: 1 })])).heldBack, [1])
      clock.advance(MINUTE)
      const [event] = await store.append([throttled({ n: 2 })])
      assert.equal(event!.attributes['suppressed_count'], 1)
    },

    async 'suppressed: an empty report, and one of very many keys'({ store }) {
      await report(store, 1, [])
      const counts = upTo(0, 2999).map((n) => held(n + 1, { key: `key ${n}` }))
      await report(store, 2, counts)
      await report(store, 2, counts)
      for (const n of [0, 1500, 2999]) {
        const [event] = await store.append([throttled({}, { key: `key ${n}` })])
        assert.equal(event!.attributes['suppressed_count'], n + 1)
      }
    },

    async 'suppressed: what no event has told is told two periods later, once'({
      store,
      audit,
      clock,
    }) {
      const scope = { project: 'acme', n: 1, none: null }
      await store.append([throttled({ n: 0 }, { scope })])
      const count = held(3, { scope, first: START + 1, last: START + 2 })
      await report(store, 1, [count])
      assert.deepEqual(await tell(store), [])
      clock.advance(2 * MINUTE - SECOND)
      assert.deepEqual(await tell(store), [])
      assert.equal((await everything(audit)).length, 1)
      clock.advance(SECOND)
      assert.deepEqual(await tell(store), [count])
      const all = await everything(audit)
      assert.deepEqual(
        all.map(({ type, attributes }) => [type, attributes]),
        [
          ['test:event', { n: 0 }],
          ['test:gap', { told: 3 }],
        ],
      )
      assert.deepEqual(await store.get(all[1]!.id), all[1])
      assert.ok(all[1]!.created_at > all[0]!.created_at)
      assert.deepEqual(await tell(store), [])
      const [next] = await store.append([throttled({ n: 1 }, { scope })])
      assert.deepEqual(next!.attributes, { n: 1 })
      assert.ok(next!.created_at > all[1]!.created_at)
    },

    async 'suppressed: not told while it goes on'({ store, clock }) {
      await report(store, 1, [held(1)])
      clock.advance(MINUTE / 2)
      await report(store, 2, [held(1, { first: clock(), last: clock() })])
      clock.advance(MINUTE / 2)
      assert.deepEqual(await tell(store), [])
      clock.advance(MINUTE / 2)
      assert.deepEqual(await tell(store), [held(2, { last: START + MINUTE / 2 })])
    },

    async 'suppressed: told by its own period'({ store, clock }) {
      const short = held(1, { key: 'short', period: SECOND })
      const long = held(2, { key: 'long', period: DAY })
      await report(store, 1, [long, short])
      clock.advance(MINUTE)
      assert.deepEqual(await tell(store), [short])
      clock.advance(DAY)
      assert.deepEqual(await tell(store), [long])
    },

    async 'suppressed: told at once where the clock was set back'({ store, clock }) {
      await store.append([throttled({ n: 0 })])
      await report(store, 1, [held(1)])
      clock.advance(-DAY)
      assert.deepEqual(await tell(store), [held(1)])
    },

    async 'suppressed: told a thousand at a time'({ store, audit, clock }) {
      await report(
        store,
        1,
        upTo(0, 2499).map((n) => held(n, { key: `key ${n + 1}`, count: n + 1 })),
      )
      clock.advance(MINUTE)
      const told = [await tell(store), await tell(store), await tell(store)]
      assert.deepEqual(
        told.map((counts) => counts.length),
        [1000, 1000, 500],
      )
      assert.equal(new Set(told.flat().map(({ key }) => key)).size, 2500)
      assert.deepEqual(await tell(store), [])
      const all = (await everything(audit)).map(({ attributes }) => attributes)
      assert.equal(all.length, 3)
      assert.equal(sum(all, 'told'), (2500 * 2501) / 2)
    },

    async 'suppressed: not taken away where it cannot be told'({ store, audit, clock }) {
      await report(store, 1, [held(1)])
      clock.advance(2 * MINUTE)
      const signal = AbortSignal.abort()
      await rejectsWith(store.recordSuppressed(telling, { signal }), 'ABORTED')
      await assert.rejects(
        store.recordSuppressed(() => {
          throw new Error('no')
        }),
      )
      assert.deepEqual(await everything(audit), [])
      assert.deepEqual(await tell(store), [held(1)])
    },

    async 'suppressed: telling leaves throttles closed, and reports known'({ store, clock }) {
      await report(store, 7, [held(1, { key: 'other', period: SECOND })])
      clock.advance(3 * SECOND)
      await store.append([throttled({ n: 0 })])
      assert.equal((await tell(store)).length, 1)
      assert.deepEqual(await tell(store), [])
      assert.deepEqual((await appendSome(store, [throttled({ n: 1 })])).heldBack, [1])
      await report(store, 7, [held(1, { key: 'other', period: SECOND })])
      assert.deepEqual(await tell(store), [])
    },

    async 'suppressed: an aborted signal adds nothing'({ store }) {
      const signal = AbortSignal.abort()
      const given = { reporter: 'one', number: 1, counts: [held(1)] }
      await rejectsWith(store.reportSuppressed(given, { signal }), 'ABORTED')
      const [event] = await store.append([throttled({ n: 0 })])
      assert.deepEqual(event!.attributes, { n: 0 })
    },
  }),

  ...cases(
    {
      async 'suppressed: is one count for all stores, and outlives them'({
        store,
        audit,
        clock,
        reopen,
      }) {
        const other = await reopen()
        await report(store, 1, [held(1)], 'one')
        await report(other.store, 1, [held(2)], 'two')
        await report(other.store, 1, [held(4)], 'one')
        await audit.close()
        await other.close()
        const again = (await reopen()).store
        await report(again, 1, [held(8)], 'two')
        clock.advance(SECOND)
        const [event] = await again.append([throttled({})])
        assert.equal(event!.attributes['suppressed_count'], 3)
      },

      async 'suppressed: nothing is lost or told twice while stores race'({
        store,
        audit,
        clock,
        reopen,
      }) {
        const stores = [store, (await reopen()).store]
        let reported = 0
        let told = 0
        for (const round of upTo(1, 10)) {
          const jobs = stores.flatMap((one, i) => [
            report(
              one,
              round,
              upTo(0, 9).map((n) =>
                held(round, { key: `key ${n}`, first: clock(), last: clock() }),
              ),
              `reporter ${i}`,
            ),
            one.append(upTo(0, 4).map((n) => throttled({ n }, { key: `key ${n}` }))),
            one.recordSuppressed(telling).then((count) => void (told += count)),
          ])
          await Promise.all(jobs)
          reported += stores.length * 10 * round
          clock.advance(round % 3 === 0 ? 3 * MINUTE : MINUTE / 2)
        }
        clock.advance(3 * MINUTE)
        told += (await tell(store)).length
        assert.deepEqual(await tell(store), [])
        assert.ok(told > 0)
        const all = (await everything(audit)).map(({ attributes }) => attributes)
        const kept = sum(all, 'suppressed_count')
        assert.ok(kept > 0)
        assert.equal(kept + sum(all, 'told'), reported)
      },
    },
    'reopen',
  ),

  ...cases(
    {
      async 'suppressed: reported again after a lost answer, it is added once'({
        store,
        audit,
        loseAcknowledgement,
      }) {
        await recordSome(audit, 1)
        for (const number of upTo(1, 3)) {
          await loseAcknowledgement('reportSuppressed')
          const call = report(store, number, [held(number)])
          await call.catch(() => report(store, number, [held(number)]))
        }
        const [event] = await store.append([throttled({})])
        assert.equal(event!.attributes['suppressed_count'], 6)
      },
    },
    'loseAcknowledgement',
  ),
]
