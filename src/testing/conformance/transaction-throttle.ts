import assert from 'node:assert/strict'
import { formatTimestamp, MINUTE, SECOND } from '../../event/timestamp.js'
import { type Case, cases } from './context.js'
import { appendSome, draft, eventually, allEvents, numbersOf, throttled } from './helpers.js'

/** The throttle of an enlisted draft is checked when its event would become visible. */
export const transactionThrottleCases: readonly Case[] = cases(
  {
    async 'transaction: a draft suppressed after the commit is counted by the store'({
      store,
      audit,
      clock,
      transaction,
    }) {
      await store.append([throttled({ n: 0 })])
      const { handle, commit } = await transaction()
      await store.enlist!(throttled({ n: 1 }), handle)
      await store.enlist!(draft({ n: 2 }), handle)
      const recorded = clock()
      clock.advance(SECOND)
      await store.enlist!(throttled({ n: 3 }), handle)
      await commit()
      assert.deepEqual((await appendSome(store, [draft({ n: 4 })])).stored, [4])
      assert.deepEqual(numbersOf(await allEvents(audit)), [0, 2, 4])
      clock.advance(MINUTE)
      const [event] = await store.append([throttled({ n: 5 })])
      assert.deepEqual(event!.attributes, {
        n: 5,
        suppressed_count: 2,
        suppressed_since: formatTimestamp(recorded),
      })
      clock.advance(MINUTE)
      const [next] = await store.append([throttled({ n: 6 })])
      assert.deepEqual(next!.attributes, { n: 6 })
    },

    async 'transaction: a stored draft closes its throttle for others'({
      store,
      audit,
      clock,
      transaction,
    }) {
      const { handle, commit } = await transaction()
      await store.enlist!(throttled({ n: 0 }), handle)
      await store.enlist!(throttled({ n: 1 }), handle)
      await store.enlist!(throttled({ n: 2 }, { key: 'another' }), handle)
      await commit()
      assert.deepEqual((await appendSome(store, [throttled({ n: 3 })])).suppressed, [3])
      assert.deepEqual(numbersOf(await allEvents(audit)), [0, 2])
      clock.advance(MINUTE)
      const [event] = await store.append([throttled({ n: 4 })])
      assert.equal(event!.attributes['suppressed_count'], 1)
    },

    async 'transaction: a throttled draft takes the count of suppressed calls'({
      store,
      audit,
      clock,
      transaction,
    }) {
      const count = { key: 'test:event', type: 'test:event', scope: {}, period: MINUTE, count: 7 }
      const counts = [{ ...count, first: clock(), last: clock() }]
      await store.reportSuppressed({ reporter: 'a', number: 1, counts })
      const { handle, commit } = await transaction()
      await store.enlist!(throttled({ n: 0 }), handle)
      await commit()
      await eventually('the committed event', async () => (await allEvents(audit)).length > 0)
      const [event] = await allEvents(audit)
      assert.equal(event!.attributes['suppressed_count'], 7)
    },

    async 'transaction: a draft rolled back closes no throttle and is not counted'({
      store,
      transaction,
    }) {
      const { handle, rollback } = await transaction()
      await store.enlist!(throttled({ n: 0 }), handle)
      await store.enlist!(throttled({ n: 1 }), handle)
      await rollback()
      const [event] = await store.append([throttled({ n: 2 })])
      assert.deepEqual(event!.attributes, { n: 2 })
    },
  },
  'transaction',
)
