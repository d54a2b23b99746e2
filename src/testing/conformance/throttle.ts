import assert from 'node:assert/strict'
import { type Case, cases } from './context.js'
import { DAY, MINUTE, SECOND } from '../../event/timestamp.js'
import {
  appendSome,
  draft,
  allEvents,
  FAR,
  numbersOf,
  rejectsWith,
  throttled,
  turns,
  unlessAborted,
  range,
} from './helpers.js'

// Appends are aborted after 0 to LAST_TURN turns of the event loop.
const LAST_TURN = 24
// The events of a batch may be this many microseconds older than the present.
const SLACK = 1000

export const throttleCases: readonly Case[] = [
  ...cases({
    async 'throttle: the first draft of a period is stored, later ones are suppressed'({
      store,
      audit,
    }) {
      const [first] = await store.append([throttled({ n: 0 })])
      for (const n of range(1, 3)) {
        const { stored, suppressed, opensIn } = await appendSome(store, [throttled({ n })])
        assert.deepEqual([stored, suppressed], [[], [n]])
        assert.ok(opensIn[0]! > MINUTE - SLACK && opensIn[0]! <= MINUTE)
      }
      assert.deepEqual(await store.append([throttled({ n: 4 })]), [])
      assert.deepEqual(await allEvents(audit), [first])
    },

    async 'throttle: opens one period after the last stored draft'({ store, audit, clock }) {
      await store.append([throttled({ n: 0 })])
      clock.advance(MINUTE / 2)
      const { suppressed, opensIn } = await appendSome(store, [throttled({ n: 1 })])
      assert.deepEqual(suppressed, [1])
      assert.ok(opensIn[0]! > MINUTE / 2 - SLACK && opensIn[0]! <= MINUTE / 2)
      clock.advance(MINUTE / 2 - SLACK)
      assert.deepEqual((await appendSome(store, [throttled({ n: 2 })])).suppressed, [2])
      clock.advance(SLACK)
      assert.deepEqual((await appendSome(store, [throttled({ n: 3 })])).stored, [3])
      assert.deepEqual((await appendSome(store, [throttled({ n: 4 })])).suppressed, [4])
      clock.advance(MINUTE)
      assert.deepEqual((await appendSome(store, [throttled({ n: 5 })])).stored, [5])
      assert.deepEqual(numbersOf(await allEvents(audit)), [0, 3, 5])
    },

    async 'throttle: each key has its own throttle'({ store, audit }) {
      const keys = ['a', 'b', 'a\n"x"', 'a\n"y"', 'a\n"X"', "'; --", '%', '😀', 'k'.repeat(2000)]
      for (const round of [0, 1])
        for (const [n, key] of keys.entries()) {
          const one = throttled({ n }, { key, scope: { value: key } })
          const { stored, suppressed } = await appendSome(store, [one])
          assert.deepEqual(round === 0 ? stored : suppressed, [n], key)
        }
      assert.deepEqual(numbersOf(await allEvents(audit)), range(0, keys.length - 1))
    },

    async 'throttle: the drafts of one append are checked one after the other'({ store, audit }) {
      const batch = range(0, 5).map((n) => throttled({ n }, { key: n % 2 ? 'odd' : 'even' }))
      const { stored, suppressed } = await appendSome(store, batch)
      assert.deepEqual(stored, [0, 1])
      assert.deepEqual(suppressed, [2, 3, 4, 5])
      assert.deepEqual(numbersOf(await allEvents(audit)), [0, 1])
    },

    async 'throttle: suppressed drafts do not affect the others'({ store, audit, clock }) {
      await store.append([throttled({ n: 0 })])
      clock.advance(SECOND)
      const batch = range(1, 300).map((n) => (n % 3 === 1 ? throttled({ n }) : draft({ n })))
      const suppressed: unknown[] = []
      const events = await store.append(batch, { onSuppressed: (one) => suppressed.push(one) })
      assert.deepEqual(
        suppressed,
        batch.filter((one) => one.throttle),
      )
      assert.deepEqual(
        numbersOf(events),
        range(1, 300).filter((n) => n % 3 !== 1),
      )
      const all = await allEvents(audit)
      assert.deepEqual(all.slice(1), events)
      const times = all.map((event) => event.created_at)
      assert.deepEqual(times, times.toSorted())
      assert.equal(new Set(times).size, all.length)
    },

    async 'throttle: drafts without a throttle neither check nor close one'({ store, clock }) {
      await store.append([throttled({ n: 0 })])
      clock.advance(MINUTE / 2)
      assert.deepEqual((await appendSome(store, [draft({ n: 1 })])).stored, [1])
      clock.advance(MINUTE / 2)
      assert.deepEqual((await appendSome(store, [throttled({ n: 2 })])).stored, [2])
    },

    async 'throttle: the period of the new draft decides'({ store, clock }) {
      await store.append([throttled({ n: 0 })])
      clock.advance(10 * SECOND)
      const [short, long] = [10 * SECOND, 20 * SECOND]
      assert.deepEqual(
        (await appendSome(store, [throttled({ n: 1 }, { period: long })])).stored,
        [],
      )
      assert.deepEqual(
        (await appendSome(store, [throttled({ n: 2 }, { period: short })])).stored,
        [2],
      )
    },

    async 'throttle: stays closed when its event is removed'({ store }) {
      const [event] = await store.append([throttled({ n: 0 })])
      assert.equal(await store.remove([event!.id]), 1)
      assert.deepEqual((await appendSome(store, [throttled({ n: 1 })])).suppressed, [1])
      await store.removeBefore(FAR)
      assert.deepEqual((await appendSome(store, [throttled({ n: 2 })])).suppressed, [2])
    },

    async 'throttle: stays closed for at most one more period after the clock steps back'({
      store,
      clock,
    }) {
      await store.append([throttled({ n: 0 })])
      clock.advance(-DAY)
      const { suppressed, opensIn } = await appendSome(store, [throttled({ n: 1 })])
      assert.deepEqual(suppressed, [1])
      assert.ok(opensIn[0]! > 0 && opensIn[0]! <= MINUTE)
      clock.advance(MINUTE / 2)
      const half = await appendSome(store, [throttled({ n: 2 })])
      assert.deepEqual(half.suppressed, [2])
      assert.ok(half.opensIn[0]! <= MINUTE / 2)
      clock.advance(MINUTE / 2)
      assert.deepEqual((await appendSome(store, [throttled({ n: 3 })])).stored, [3])
      // The event is in the future of this clock, but its throttle is not.
      clock.advance(MINUTE)
      assert.deepEqual((await appendSome(store, [throttled({ n: 4 })])).stored, [4])
    },

    async 'throttle: stays closed for at most one period after the clock steps forward and back'({
      store,
      clock,
    }) {
      await store.append([throttled({ n: 0 })])
      clock.advance(DAY)
      assert.deepEqual((await appendSome(store, [throttled({ n: 1 })])).stored, [1])
      clock.advance(-DAY)
      assert.deepEqual((await appendSome(store, [throttled({ n: 2 })])).suppressed, [2])
      clock.advance(MINUTE)
      assert.deepEqual((await appendSome(store, [throttled({ n: 3 })])).stored, [3])
      assert.deepEqual((await appendSome(store, [throttled({ n: 4 })])).suppressed, [4])
    },

    async 'throttle: concurrent appends store one draft'({ store, audit }) {
      const outcomes = await Promise.all(
        range(0, 19).map((n) => appendSome(store, [throttled({ n })])),
      )
      assert.equal(outcomes.flatMap(({ stored }) => stored).length, 1)
      assert.equal(outcomes.flatMap(({ suppressed }) => suppressed).length, 19)
      assert.equal((await allEvents(audit)).length, 1)
    },

    async 'throttle: a rejected append leaves it open'({ store, audit }) {
      const one = throttled({ n: 0 })
      await rejectsWith(store.append([one], { signal: AbortSignal.abort() }), 'ABORTED')
      await rejectsWith(store.append([one], { deadline: performance.now() - 1 }), 'ABORTED')
      assert.deepEqual((await appendSome(store, [throttled({ n: 1 })])).stored, [1])
      assert.deepEqual(numbersOf(await allEvents(audit)), [1])
    },

    async 'throttle: an append aborted while running closes it only if its draft is stored'({
      store,
      audit,
    }) {
      for (const turn of range(0, LAST_TURN)) {
        const key = `turn ${turn}`
        const controller = new AbortController()
        const { signal } = controller
        const call = unlessAborted(store, [throttled({ n: turn }, { key })], signal)
        await turns(turn)
        controller.abort()
        const events = [...(await call), ...(await store.append([throttled({ n: turn }, { key })]))]
        assert.deepEqual(numbersOf(events), [turn], `aborted after ${turn} turns`)
      }
      assert.deepEqual(numbersOf(await allEvents(audit)), range(0, LAST_TURN))
    },
  }),

  ...cases(
    {
      async 'throttle: is shared by all stores'({ store, audit, clock, reopen }) {
        const other = (await reopen()).store
        assert.deepEqual((await appendSome(store, [throttled({ n: 0 })])).stored, [0])
        assert.deepEqual((await appendSome(other, [throttled({ n: 1 })])).suppressed, [1])
        clock.advance(MINUTE)
        assert.deepEqual((await appendSome(other, [throttled({ n: 2 })])).stored, [2])
        assert.deepEqual((await appendSome(store, [throttled({ n: 3 })])).suppressed, [3])
        assert.deepEqual(numbersOf(await allEvents(audit)), [0, 2])
      },

      async 'throttle: stays closed after its store is closed'({ store, audit, clock, reopen }) {
        await store.append([throttled({ n: 0 })])
        await audit.close()
        const again = (await reopen()).store
        assert.deepEqual((await appendSome(again, [throttled({ n: 1 })])).suppressed, [1])
        clock.advance(MINUTE)
        assert.deepEqual((await appendSome(again, [throttled({ n: 2 })])).stored, [2])
      },

      async 'throttle: of racing stores, one stores its draft'({ store, audit, clock, reopen }) {
        const stores = [store, (await reopen()).store, (await reopen()).store]
        for (const round of range(0, 9)) {
          const outcomes = await Promise.all(
            range(0, 8).map((i) =>
              appendSome(stores[i % 3]!, [
                draft({ n: -1 }),
                throttled({ n: round }),
                throttled({ n: round }, { key: `other ${round}` }),
              ]),
            ),
          )
          const stored = outcomes.flatMap((outcome) => outcome.stored)
          assert.deepEqual(
            stored.filter((n) => n !== -1),
            [round, round],
          )
          assert.equal(stored.length, 11)
          assert.equal(outcomes.flatMap(({ suppressed }) => suppressed).length, 16)
          clock.advance(MINUTE + SECOND)
        }
        assert.equal((await allEvents(audit)).length, 110)
      },
    },
    'reopen',
  ),

  ...cases(
    {
      async 'throttle: a draft whose acknowledgement was lost is returned as stored'({
        store,
        audit,
        clock,
        loseAcknowledgement,
      }) {
        await store.append([throttled({ n: 0 })])
        const first = clock()
        const count = { key: 'test:event', type: 'test:event', scope: {}, period: MINUTE }
        const counts = [{ ...count, count: 3, first, last: first }]
        await store.reportSuppressed({ reporter: 'a', number: 1, counts })
        clock.advance(MINUTE)
        await loseAcknowledgement('append')
        const batch = [throttled({ n: 1 }), draft({ n: 2 }), throttled({ n: 3 })]
        const suppressed: unknown[] = []
        const events = await store.append(batch, {
          onSuppressed: (one) => suppressed.push(one.attributes['n']),
        })
        assert.deepEqual(numbersOf(events), [1, 2])
        assert.deepEqual([...new Set(suppressed)], [3])
        assert.equal(events[0]!.attributes['suppressed_count'], 3)
        assert.deepEqual((await allEvents(audit)).slice(1), events)
        assert.deepEqual((await appendSome(store, [throttled({ n: 4 })])).suppressed, [4])
      },
    },
    'loseAcknowledgement',
  ),
]
