import assert from 'node:assert/strict'
import type { JsonObject } from '../../event/event.js'
import { type KeptBounds, readTuning } from '../../store/store.js'
import { type Case, cases, type Context } from './context.js'
import { draft, drafts, importedSome, recordSome, rejectsWith, timeOf, range } from './helpers.js'

async function assertExcess(
  { store }: Context,
  bounds: KeptBounds,
  before: number,
  count: number,
): Promise<void> {
  assert.deepEqual(await store.excess(bounds), { before, count }, JSON.stringify(bounds))
}

/** Cases of `store.excess`: the events beyond the bounds of a cleaning rule. */
export const excessCases: readonly Case[] = cases({
  async 'excess: none in an empty log, and none without bounds'(context) {
    await assertExcess(context, {}, 0, 0)
    await assertExcess(context, { rows: 0, bytes: 0 }, 0, 0)
    await recordSome(context.audit, 3)
    await assertExcess(context, {}, 0, 0)
  },

  async 'excess: events before a time'(context) {
    const events = await recordSome(context.audit, 10)
    for (const n of [0, 1, 9]) {
      const from = timeOf(events[n])
      await assertExcess(context, { from }, from, n)
    }
    const after = timeOf(events[9]) + 1
    await assertExcess(context, { from: after }, after, 10)
    await assertExcess(context, { from: 1 }, 1, 0)
  },

  async 'excess: events beyond the newest rows'(context) {
    const events = await recordSome(context.audit, 10)
    await assertExcess(context, { rows: 3 }, timeOf(events[7]), 7)
    await assertExcess(context, { rows: 9 }, timeOf(events[1]), 1)
    await assertExcess(context, { rows: 10 }, 0, 0)
    await assertExcess(context, { rows: 1000 }, 0, 0)
    await assertExcess(context, { rows: 0 }, timeOf(events[9]) + 1, 10)
  },

  async 'excess: events beyond the newest bytes of attributes, as JSON text in UTF-8'(context) {
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
    for (const count of range(1, 4)) {
      await assertExcess(context, { bytes: newest(count) }, timeOf(events[5 - count]), 5 - count)
      await assertExcess(
        context,
        { bytes: newest(count + 1) - 1 },
        timeOf(events[5 - count]),
        5 - count,
      )
    }
    await assertExcess(context, { bytes: newest(5) }, 0, 0)
    await assertExcess(context, { bytes: newest(1) - 1 }, timeOf(events[4]) + 1, 5)
    await assertExcess(context, { bytes: 0 }, timeOf(events[4]) + 1, 5)
  },

  async 'excess: events beyond any of several bounds'(context) {
    const events = await context.store.append(range(0, 9).map((n) => draft({ n })))
    const from = timeOf(events[4])
    const bytes = '{"n":9}'.length
    await assertExcess(context, { from, rows: 3 }, timeOf(events[7]), 7)
    await assertExcess(context, { from, rows: 8 }, from, 4)
    await assertExcess(context, { from, rows: 20 }, from, 4)
    await assertExcess(context, { rows: 5, bytes: 2 * bytes }, timeOf(events[8]), 8)
    await assertExcess(context, { rows: 1, bytes: 2 * bytes }, timeOf(events[9]), 9)
    await assertExcess(context, { from, rows: 9, bytes: 100 * bytes }, from, 4)
  },

  async 'excess: counts what removeBefore removes'({ store, audit, clock }) {
    await audit.importEvents(importedSome(300))
    await store.append(drafts(700))
    clock.advance(1_000_000)
    const { maxBatch } = readTuning(store)
    await store.append(drafts(maxBatch))
    const total = 1000 + maxBatch
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

  async 'excess: live events count only after they are closed'(context) {
    const { store, audit } = context
    const live = [draft({ n: 0 }, { live: true }), draft({ n: 1 }, { live: true })]
    const opened = await store.append(live)
    const events = await recordSome(audit, 3)
    await assertExcess(context, { rows: 3 }, 0, 0)
    await assertExcess(context, { rows: 1 }, timeOf(events[2]), 2)
    await assertExcess(context, { from: timeOf(events[0]) }, timeOf(events[0]), 0)
    await store.closeLive(opened[1]!.id, { revision: 1 })
    await assertExcess(context, { rows: 3 }, timeOf(events[0]), 1)
    await assertExcess(context, { from: timeOf(events[0]) }, timeOf(events[0]), 1)
  },

  async 'excess: an aborted signal rejects'({ store }) {
    await rejectsWith(store.excess({ rows: 1 }, { signal: AbortSignal.abort() }), 'ABORTED')
  },
})
