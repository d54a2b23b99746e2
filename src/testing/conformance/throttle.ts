import assert from 'node:assert/strict'
import { type Case, cases } from './context.js'
import { DAY, MINUTE, SECOND } from '../../event/timestamp.js'
import {
  appendSome,
  draft,
  everything,
  FAR,
  numbers,
  rejectsWith,
  throttled,
  turns,
  unlessAborted,
  upTo,
} from './helpers.js'

// An append is given up after this many turns of the event loop, and each number below.
const LAST_TURN = 24
// The events of a batch may lie so far before the present.
const SLACK = 1000

export const throttleCases: readonly Case[] = [
  ...cases({
    async 'throttle: of a period the first is kept, the next are held back'({ store, audit }) {
      const [first] = await store.append([throttled({ n: 0 })])
      for (const n of upTo(1, 3)) {
        const { kept, heldBack, opensIn } = await appendSome(store, [throttled({ n })])
        assert.deepEqual([kept, heldBack], [[], [n]])
        assert.ok(opensIn[0]! > MINUTE - SLACK && opensIn[0]! <= MINUTE)
      }
      assert.deepEqual(await store.append([throttled({ n: 4 })]), [])
      assert.deepEqual(await everything(audit), [first])
    },

    async 'throttle: opens a period after the last that was kept'({ store, audit, clock }) {
      await store.append([throttled({ n: 0 })])
      clock.advance(MINUTE / 2)
      const { heldBack, opensIn } = await appendSome(store, [throttled({ n: 1 })])
      assert.deepEqual(heldBack, [1])
      assert.ok(opensIn[0]! > MINUTE / 2 - SLACK && opensIn[0]! <= MINUTE / 2)
      clock.advance(MINUTE / 2 - SLACK)
      assert.deepEqual((await appendSome(store, [throttled({ n: 2 })])).heldBack, [2])
      clock.advance(SLACK)
      assert.deepEqual((await appendSome(store, [throttled({ n: 3 })])).kept, [3])
      assert.deepEqual((await appendSome(store, [throttled({ n: 4 })])).heldBack, [4])
      clock.advance(MINUTE)
      assert.deepEqual((await appendSome(store, [throttled({ n: 5 })])).kept, [5])
      assert.deepEqual(numbers(await everything(audit)), [0, 3, 5])
    },

    async 'throttle: each key has its own'({ store, audit }) {
      const keys = ['a', 'b', 'a\n"x"', 'a\n"y"', 'a\n"X"', "'; --", '%', '😀', 'k'.repeat(2000)]
      for (const round of [0, 1])
        for (const [n, key] of keys.entries()) {
          const one = throttled({ n }, { key, scope: { value: key } })
          const { kept, heldBack } = await appendSome(store, [one])
          assert.deepEqual(round === 0 ? kept : heldBack, [n], key)
        }
      assert.deepEqual(numbers(await everything(audit)), upTo(0, keys.length - 1))
    },

    async 'throttle: the drafts of one append count as one after the other'({ store, audit }) {
      const batch = upTo(0, 5).map((n) => throttled({ n }, { key: n % 2 ? 'odd' : 'even' }))
      const { kept, heldBack } = await appendSome(store, batch)
      assert.deepEqual(kept, [0, 1])
      assert.deepEqual(heldBack, [2, 3, 4, 5])
      assert.deepEqual(numbers(await everything(audit)), [0, 1])
    },

    async 'throttle: what is held back does not disturb the rest'({ store, audit, clock }) {
      await store.append([throttled({ n: 0 })])
      clock.advance(SECOND)
      const batch = upTo(1, 300).map((n) => (n % 3 === 1 ? throttled({ n }) : draft({ n })))
      const told: unknown[] = []
      const events = await store.append(batch, { onSuppressed: (one) => told.push(one) })
      assert.deepEqual(
        told,
        batch.filter((one) => one.throttle),
      )
      assert.deepEqual(
        numbers(events),
        upTo(1, 300).filter((n) => n % 3 !== 1),
      )
      const all = await everything(audit)
      assert.deepEqual(all.slice(1), events)
      const times = all.map((event) => event.created_at)
      assert.deepEqual(times, times.toSorted())
      assert.equal(new Set(times).size, all.length)
    },

    async 'throttle: drafts without one neither ask nor move it'({ store, clock }) {
      await store.append([throttled({ n: 0 })])
      clock.advance(MINUTE / 2)
      assert.deepEqual((await appendSome(store, [draft({ n: 1 })])).kept, [1])
      clock.advance(MINUTE / 2)
      assert.deepEqual((await appendSome(store, [throttled({ n: 2 })])).kept, [2])
    },

    async 'throttle: goes by the period of the draft that asks'({ store, clock }) {
      await store.append([throttled({ n: 0 })])
      clock.advance(10 * SECOND)
      const [short, long] = [10 * SECOND, 20 * SECOND]
      assert.deepEqual((await appendSome(store, [throttled({ n: 1 }, { period: long })])).kept, [])
      assert.deepEqual(
        (await appendSome(store, [throttled({ n: 2 }, { period: short })])).kept,
        [2],
      )
    },

    async 'throttle: stays closed when its event is removed'({ store }) {
      const [event] = await store.append([throttled({ n: 0 })])
      assert.equal(await store.remove([event!.id]), 1)
      assert.deepEqual((await appendSome(store, [throttled({ n: 1 })])).heldBack, [1])
      await store.removeBefore(FAR)
      assert.deepEqual((await appendSome(store, [throttled({ n: 2 })])).heldBack, [2])
    },

    async 'throttle: a clock set back by a day keeps it closed for a period more'({
      store,
      clock,
    }) {
      await store.append([throttled({ n: 0 })])
      clock.advance(-DAY)
      const { heldBack, opensIn } = await appendSome(store, [throttled({ n: 1 })])
      assert.deepEqual(heldBack, [1])
      assert.ok(opensIn[0]! > 0 && opensIn[0]! <= MINUTE)
      clock.advance(MINUTE / 2)
      const half = await appendSome(store, [throttled({ n: 2 })])
      assert.deepEqual(half.heldBack, [2])
      assert.ok(half.opensIn[0]! <= MINUTE / 2)
      clock.advance(MINUTE / 2)
      assert.deepEqual((await appendSome(store, [throttled({ n: 3 })])).kept, [3])
      // The event lies in the future of this clock, its throttle does not.
      clock.advance(MINUTE)
      assert.deepEqual((await appendSome(store, [throttled({ n: 4 })])).kept, [4])
    },

    async 'throttle: a clock set forth by a day and back jams it for a period at most'({
      store,
      clock,
    }) {
      await store.append([throttled({ n: 0 })])
      clock.advance(DAY)
      assert.deepEqual((await appendSome(store, [throttled({ n: 1 })])).kept, [1])
      clock.advance(-DAY)
      assert.deepEqual((await appendSome(store, [throttled({ n: 2 })])).heldBack, [2])
      clock.advance(MINUTE)
      assert.deepEqual((await appendSome(store, [throttled({ n: 3 })])).kept, [3])
      assert.deepEqual((await appendSome(store, [throttled({ n: 4 })])).heldBack, [4])
    },

    async 'throttle: appends at once keep one'({ store, audit }) {
      const outcomes = await Promise.all(
        upTo(0, 19).map((n) => appendSome(store, [throttled({ n })])),
      )
      assert.equal(outcomes.flatMap(({ kept }) => kept).length, 1)
      assert.equal(outcomes.flatMap(({ heldBack }) => heldBack).length, 19)
      assert.equal((await everything(audit)).length, 1)
    },

    async 'throttle: what was refused leaves it open'({ store, audit }) {
      const one = throttled({ n: 0 })
      await rejectsWith(store.append([one], { signal: AbortSignal.abort() }), 'ABORTED')
      await rejectsWith(store.append([one], { deadline: performance.now() - 1 }), 'ABORTED')
      assert.deepEqual((await appendSome(store, [throttled({ n: 1 })])).kept, [1])
      assert.deepEqual(numbers(await everything(audit)), [1])
    },

    /** An event that its caller was told is not kept has not closed anything. */
    async 'throttle: aborted on its way, it is closed by what is kept'({ store, audit }) {
      for (const turn of upTo(0, LAST_TURN)) {
        const key = `turn ${turn}`
        const controller = new AbortController()
        const { signal } = controller
        const call = unlessAborted(store.append([throttled({ n: turn }, { key })], { signal }))
        await turns(turn)
        controller.abort()
        const events = [...(await call), ...(await store.append([throttled({ n: turn }, { key })]))]
        assert.deepEqual(numbers(events), [turn], `aborted after ${turn} turns`)
      }
      assert.deepEqual(numbers(await everything(audit)), upTo(0, LAST_TURN))
    },
  }),

  ...cases(
    {
      async 'throttle: is one for all stores'({ store, audit, clock, reopen }) {
        const other = (await reopen()).store
        assert.deepEqual((await appendSome(store, [throttled({ n: 0 })])).kept, [0])
        assert.deepEqual((await appendSome(other, [throttled({ n: 1 })])).heldBack, [1])
        clock.advance(MINUTE)
        assert.deepEqual((await appendSome(other, [throttled({ n: 2 })])).kept, [2])
        assert.deepEqual((await appendSome(store, [throttled({ n: 3 })])).heldBack, [3])
        assert.deepEqual(numbers(await everything(audit)), [0, 2])
      },

      async 'throttle: outlives its store'({ store, audit, clock, reopen }) {
        await store.append([throttled({ n: 0 })])
        await audit.close()
        const again = (await reopen()).store
        assert.deepEqual((await appendSome(again, [throttled({ n: 1 })])).heldBack, [1])
        clock.advance(MINUTE)
        assert.deepEqual((await appendSome(again, [throttled({ n: 2 })])).kept, [2])
      },

      async 'throttle: of stores that race one keeps its event'({ store, audit, clock, reopen }) {
        const stores = [store, (await reopen()).store, (await reopen()).store]
        for (const round of upTo(0, 9)) {
          const outcomes = await Promise.all(
            upTo(0, 8).map((i) =>
              appendSome(stores[i % 3]!, [
                draft({ n: -1 }),
                throttled({ n: round }),
                throttled({ n: round }, { key: `other ${round}` }),
              ]),
            ),
          )
          const kept = outcomes.flatMap((outcome) => outcome.kept)
          assert.deepEqual(
            kept.filter((n) => n !== -1),
            [round, round],
          )
          assert.equal(kept.length, 11)
          assert.equal(outcomes.flatMap(({ heldBack }) => heldBack).length, 16)
          clock.advance(MINUTE + SECOND)
        }
        assert.equal((await everything(audit)).length, 110)
      },
    },
    'reopen',
  ),

  ...cases(
    {
      async 'throttle: kept and its answer lost, the event is said to be kept'({
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
        const heldBack: unknown[] = []
        const events = await store.append(batch, {
          onSuppressed: (one) => heldBack.push(one.attributes['n']),
        })
        assert.deepEqual(numbers(events), [1, 2])
        assert.deepEqual([...new Set(heldBack)], [3])
        assert.equal(events[0]!.attributes['suppressed_count'], 3)
        assert.deepEqual((await everything(audit)).slice(1), events)
        assert.deepEqual((await appendSome(store, [throttled({ n: 4 })])).heldBack, [4])
      },
    },
    'loseAcknowledgement',
  ),
]
