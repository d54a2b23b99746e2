import assert from 'node:assert/strict'
import type { JsonObject } from '../../event/event.js'
import type { KeptBounds } from '../../store/store.js'
import { type Case, cases, type Context } from './context.js'
import { draft, drafts, importedSome, recordSome, rejectsWith, timeOf, upTo } from './helpers.js'

/** What is due has to be what `removeBefore` removes. */
async function assertDue(
  { store }: Context,
  bounds: KeptBounds,
  before: number,
  count: number,
): Promise<void> {
  assert.deepEqual(await store.excess(bounds), { before, count }, JSON.stringify(bounds))
}

export const dueCases: readonly Case[] = cases({
  async 'due: nothing of an empty log, and nothing without bounds'(context) {
    await assertDue(context, {}, 0, 0)
    await assertDue(context, { rows: 0, bytes: 0 }, 0, 0)
    await recordSome(context.audit, 3)
    await assertDue(context, {}, 0, 0)
  },

  async 'due: what is before a time'(context) {
    const events = await recordSome(context.audit, 10)
    for (const n of [0, 1, 9]) {
      const from = timeOf(events[n])
      await assertDue(context, { from }, from, n)
    }
    const after = timeOf(events[9]) + 1
    await assertDue(context, { from: after }, after, 10)
    await assertDue(context, { from: 1 }, 1, 0)
  },

  async 'due: what is beyond the newest rows'(context) {
    const events = await recordSome(context.audit, 10)
    await assertDue(context, { rows: 3 }, timeOf(events[7]), 7)
    await assertDue(context, { rows: 9 }, timeOf(events[1]), 1)
    await assertDue(context, { rows: 10 }, 0, 0)
    await assertDue(context, { rows: 1000 }, 0, 0)
    await assertDue(context, { rows: 0 }, timeOf(events[9]) + 1, 10)
  },

  async 'due: what is beyond the newest bytes of attributes, as JSON text in UTF-8'(context) {
    const attributes: JsonObject[] = [
      { text: 'x'.repeat(1000) },
      { text: '' },
      { text: 'é😀\n"\u2028' },
      {},
      { list: [1, null, { b: 1, a: -0.5 }] },
    ]
    const given = attributes.map((one) => draft(one))
    const events = await context.store.append(given)
    const sizes = given.map(({ json }) => Buffer.byteLength(json))
    const newest = (count: number): number => sizes.slice(-count).reduce((sum, n) => sum + n, 0)
    for (const count of upTo(1, 4)) {
      await assertDue(context, { bytes: newest(count) }, timeOf(events[5 - count]), 5 - count)
      await assertDue(
        context,
        { bytes: newest(count + 1) - 1 },
        timeOf(events[5 - count]),
        5 - count,
      )
    }
    await assertDue(context, { bytes: newest(5) }, 0, 0)
    await assertDue(context, { bytes: newest(1) - 1 }, timeOf(events[4]) + 1, 5)
    await assertDue(context, { bytes: 0 }, timeOf(events[4]) + 1, 5)
  },

  async 'due: beyond any of several bounds'(context) {
    const events = await context.store.append(upTo(0, 9).map((n) => draft({ n })))
    const from = timeOf(events[4])
    const bytes = '{"n":9}'.length
    await assertDue(context, { from, rows: 3 }, timeOf(events[7]), 7)
    await assertDue(context, { from, rows: 8 }, from, 4)
    await assertDue(context, { from, rows: 20 }, from, 4)
    await assertDue(context, { rows: 5, bytes: 2 * bytes }, timeOf(events[8]), 8)
    await assertDue(context, { rows: 1, bytes: 2 * bytes }, timeOf(events[9]), 9)
    await assertDue(context, { from, rows: 9, bytes: 100 * bytes }, from, 4)
  },

  async 'due: is what a removal before it removes'({ store, audit, clock }) {
    await audit.importEvents(importedSome(300))
    await store.append(drafts(700))
    clock.advance(1_000_000)
    await store.append(drafts(store.maxBatch))
    const total = 1000 + store.maxBatch
    const bounds: KeptBounds[] = [
      { rows: total - 250 },
      { rows: total - 400 },
      { bytes: 5000 },
      { rows: 10 },
      { rows: 0 },
    ]
    let left = total
    for (const bound of bounds) {
      const { before, count } = await store.excess(bound)
      assert.ok(count > 0)
      assert.equal(await store.removeBefore(before), count)
      left -= count
      if (bound.rows !== undefined) assert.equal(left, bound.rows)
      assert.equal((await store.excess(bound)).count, 0)
    }
  },

  async 'due: live events count once they are closed'(context) {
    const { store, audit } = context
    const live = [draft({ n: 0 }, { live: true }), draft({ n: 1 }, { live: true })]
    const opened = await store.append(live)
    const events = await recordSome(audit, 3)
    await assertDue(context, { rows: 3 }, 0, 0)
    await assertDue(context, { rows: 1 }, timeOf(events[2]), 2)
    await assertDue(context, { from: timeOf(events[0]) }, timeOf(events[0]), 0)
    await store.closeLive(opened[1]!.id, { revision: 1 })
    await assertDue(context, { rows: 3 }, timeOf(events[0]), 1)
    await assertDue(context, { from: timeOf(events[0]) }, timeOf(events[0]), 1)
  },

  async 'due: an aborted signal'({ store }) {
    await rejectsWith(store.excess({ rows: 1 }, { signal: AbortSignal.abort() }), 'ABORTED')
  },
})
