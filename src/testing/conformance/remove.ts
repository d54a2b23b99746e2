import assert from 'node:assert/strict'
import type { AuditEvent } from '../../event/event.js'
import { eventId } from '../../event/event-id.js'
import { type Case, cases } from './context.js'
import { SECOND } from '../../event/timestamp.js'
import {
  drafts,
  allEvents,
  FAR,
  imported,
  importedSome,
  numbersOf,
  recordSome,
  rejectsWith,
  timeOf,
  range,
} from './helpers.js'

export const removeCases: readonly Case[] = [
  ...cases({
    async 'remove: removes exactly the events before the time'({ store, audit }) {
      const events = await recordSome(audit, 10)
      assert.equal(await store.removeBefore(timeOf(events[4])), 4)
      assert.deepEqual(await allEvents(audit), events.slice(4))
      assert.deepEqual((await audit.list()).events, events.slice(4))
      for (const [n, event] of events.entries())
        assert.deepEqual(await store.get(event.id), n < 4 ? undefined : event)
      assert.deepEqual((await audit.list({ filter: { id_eq: events[0]!.id } })).events, [])
      assert.deepEqual((await audit.list('filter[n_lt]=6&filter[sorts]=n desc')).events, [
        events[5],
        events[4],
      ])
    },

    async 'remove: repeated, it removes nothing'({ store, audit }) {
      const events = await recordSome(audit, 3)
      assert.equal(await store.removeBefore(timeOf(events[2])), 2)
      assert.equal(await store.removeBefore(timeOf(events[2])), 0)
      assert.equal(await store.removeBefore(0), 0)
      assert.deepEqual(await allEvents(audit), [events[2]])
    },

    async 'remove: removes nothing from an empty log'({ store, audit }) {
      for (const time of [0, 1, timeOf(imported()), FAR])
        assert.equal(await store.removeBefore(time), 0)
      assert.deepEqual(await allEvents(audit), [])
      assert.equal((await recordSome(audit, 1))[0]!.created_at.slice(0, 10), '2026-01-01')
    },

    async 'remove: removes thousands of events and keeps the rest'({ store, audit }) {
      const events = await recordSome(audit, 5000)
      assert.equal(await store.removeBefore(timeOf(events[4321])), 4321)
      assert.deepEqual(numbersOf(await allEvents(audit)), range(4321, 4999))
    },

    async 'remove: removes events of any age'({ store, audit, clock }) {
      const old = ['1971-02-03', '1999-12-31', '2019-06-01', '2025-12-01'].map((day, n) =>
        imported({
          id: `0196b3c2-0000-4000-8000-00000000000${n}`,
          created_at: `${day}T23:59:59.999999Z`,
          attributes: { n },
        }),
      )
      await audit.importEvents(old)
      await recordSome(audit, 1, 4)
      clock.advance(86_400 * SECOND * 400)
      const recorded = await recordSome(audit, 2, 5)
      assert.equal(await store.removeBefore(timeOf(old[2])), 2)
      assert.deepEqual(numbersOf(await allEvents(audit)), range(2, 6))
      assert.equal(await store.removeBefore(timeOf(recorded[0])), 3)
      assert.deepEqual(await allEvents(audit), recorded)
    },

    async 'remove: created_at still increases after all events are removed'({
      store,
      audit,
      clock,
    }) {
      const events = await recordSome(audit, 5)
      assert.equal(await store.removeBefore(timeOf(events[4]) + 1), 5)
      assert.deepEqual(await audit.list(), { events: [], truncated: false })
      clock.advance(-3600 * SECOND)
      const next = await recordSome(audit, 2)
      assert.ok(next[0]!.created_at > events[4]!.created_at)
      assert.deepEqual(await allEvents(audit), next)
    },

    async 'remove: a time in the future removes only events that exist'({ store, audit }) {
      const events = await recordSome(audit, 3)
      assert.equal(await store.removeBefore(FAR), 3)
      const next = await recordSome(audit, 3)
      assert.deepEqual(await allEvents(audit), next)
      assert.ok(next[0]!.created_at > events[2]!.created_at)
      assert.equal(next[0]!.created_at.slice(0, 10), '2026-01-01')
    },

    async 'remove: ids of removed events can be imported again'({ store, audit, clock }) {
      const [first, second] = importedSome(2)
      await audit.importEvents([first!, second!])
      const native = await recordSome(audit, 2)
      clock.advance(SECOND)
      assert.equal(await store.removeBefore(timeOf(native[1])), 3)
      for (const { id } of [first!, second!, native[0]!])
        assert.equal(await store.get(id), undefined)
      const moved = [
        { ...first!, created_at: '2024-01-01T00:00:00.000000Z' },
        { ...second!, type: 'other' },
        { ...native[0]!, username: 'eve' },
      ]
      assert.deepEqual(await audit.importEvents(moved), { imported: 3, skipped: 0 })
      for (const event of moved) assert.deepEqual(await store.get(event.id), event)
      assert.deepEqual(await allEvents(audit), [...moved, native[1]])
    },

    async 'remove: pages that are being read continue'({ store, audit }) {
      const events = await recordSome(audit, 2500)
      const pages: AuditEvent[][] = []
      for await (const page of audit.pages()) {
        pages.push([...page])
        if (pages.length === 1) await store.removeBefore(timeOf(events[1200]))
      }
      assert.deepEqual(numbersOf(pages[0]!), range(1500, 2499))
      assert.deepEqual(numbersOf(pages[1]!), range(1200, 1499))
      assert.equal(pages.length, 2)
    },

    async 'remove: runs alongside appends'({ store, audit }) {
      const events = await recordSome(audit, 3000)
      const bound = timeOf(events.at(-1)) + 1
      const [removed, ...batches] = await Promise.all([
        store.removeBefore(bound),
        ...range(0, 9).map((i) => store.append(drafts(10, 10 * i))),
      ])
      assert.equal(removed, 3000)
      const left = await allEvents(audit)
      assert.equal(left.length, 100)
      for (const batch of batches) assert.deepEqual(await store.get(batch[9]!.id), batch[9])
    },

    async 'remove: reports its progress'({ store, audit }) {
      const events = await recordSome(audit, 5000)
      const progress: number[] = []
      const onProgress = (removed: number): void => void progress.push(removed)
      assert.equal(await store.removeBefore(timeOf(events[4000]), { onProgress }), 4000)
      assert.ok(progress.length > 0)
      assert.equal(progress.at(-1), 4000)
      for (const [i, removed] of progress.entries()) assert.ok(removed > (progress[i - 1] ?? 0))
    },

    async 'remove: removes exactly the events with the ids'({ store, audit }) {
      await audit.importEvents(importedSome(3))
      const recorded = await recordSome(audit, 10, 4)
      const all = await allEvents(audit)
      const chosen = [all[1]!, recorded[0]!, recorded[5]!, recorded[9]!]
      const ids = chosen.map(({ id }) => id)
      assert.equal(await store.remove(ids), 4)
      const left = all.filter(({ id }) => !ids.includes(id))
      assert.deepEqual(await allEvents(audit), left)
      for (const event of all)
        assert.deepEqual(await store.get(event.id), ids.includes(event.id) ? undefined : event)
      assert.equal(await store.remove(ids), 0)
      assert.deepEqual(await audit.importEvents([all[1]!]), { imported: 1, skipped: 0 })
      const [next] = await recordSome(audit, 1)
      assert.ok(next!.created_at > recorded[9]!.created_at)
    },

    async 'remove: ignores unknown ids and counts a repeated id once'({ store, audit, clock }) {
      const events = await recordSome(audit, 3)
      clock.advance(SECOND)
      const carried = imported({ id: eventId(timeOf(events[2]), 'bfffffffffffffff') })
      await audit.importEvents([carried])
      const unknown = ['', 'nonsense', '%', '\u0000', 'f'.repeat(1000), imported().id]
      unknown.push(
        '00000000-0000-0000-0000-000000000000',
        eventId(timeOf(events[1]), 'bff0000000000000'),
      )
      assert.equal(await store.remove([]), 0)
      assert.equal(await store.remove(unknown), 0)
      assert.deepEqual(await allEvents(audit), [carried, ...events])
      assert.equal(await store.remove([...unknown, events[0]!.id, events[0]!.id]), 1)
      assert.equal(await store.remove([carried.id]), 1)
      assert.deepEqual(await allEvents(audit), events.slice(1))
    },

    async 'remove: accepts thousands of ids'({ store, audit }) {
      await audit.importEvents(importedSome(2000))
      const recorded = await recordSome(audit, 2000, 2001)
      const ids = (await allEvents(audit)).map(({ id }) => id)
      const gone = ids.filter((_, i) => i % 4 !== 0)
      assert.equal(await store.remove(gone.toReversed()), 3000)
      assert.deepEqual(
        (await allEvents(audit)).map(({ id }) => id),
        ids.filter((_, i) => i % 4 === 0),
      )
      assert.equal(await store.get(recorded[1]!.id), undefined)
    },

    async 'remove: an aborted signal removes nothing'({ store, audit }) {
      const events = await recordSome(audit, 3)
      await rejectsWith(store.removeBefore(FAR, { signal: AbortSignal.abort() }), 'ABORTED')
      const ids = events.map(({ id }) => id)
      await rejectsWith(store.remove(ids, { signal: AbortSignal.abort() }), 'ABORTED')
      assert.deepEqual(await allEvents(audit), events)
    },

    async 'remove: aborted while running, it can be repeated'({ store, audit }) {
      const events = await recordSome(audit, 5000)
      const bound = timeOf(events[4900])
      const signal = AbortSignal.timeout(2)
      const call = store.removeBefore(bound, { signal })
      await call.catch(() => rejectsWith(call, 'ABORTED'))
      const left = await allEvents(audit)
      assert.deepEqual(left.slice(-100), events.slice(4900))
      const rest = await store.removeBefore(bound)
      assert.equal(rest, left.length - 100)
      assert.deepEqual(await allEvents(audit), events.slice(4900))
    },
  }),

  ...cases(
    {
      async 'remove: another store sees the removal, and created_at still increases'({
        audit,
        clock,
        reopen,
      }) {
        const other = await reopen()
        const events = await recordSome(audit, 5)
        await audit.importEvents([imported()])
        assert.deepEqual(await allEvents(other), [imported(), ...events])
        assert.equal(await other.store.removeBefore(FAR), 6)
        for (const log of [audit, other]) assert.deepEqual(await allEvents(log), [])
        assert.equal(await audit.get(imported().id), undefined)
        clock.advance(-3600 * SECOND)
        const [next] = await recordSome(audit, 1)
        assert.ok(next!.created_at > events[4]!.created_at)
        assert.deepEqual(await allEvents(other), [next])
      },

      async 'remove: created_at still increases after all events are removed and the store is reopened'({
        audit,
        clock,
        reopen,
      }) {
        const events = await recordSome(audit, 5)
        await audit.store.removeBefore(FAR)
        await audit.close()
        clock.advance(-3600 * SECOND)
        const again = await reopen()
        const [next] = await recordSome(again, 1)
        assert.ok(next!.created_at > events[4]!.created_at)
        assert.deepEqual(await allEvents(again), [next])
      },

      async 'remove: two stores that remove at once count each event once'({ audit, reopen }) {
        const other = await reopen()
        const events = await recordSome(audit, 3000)
        const bound = timeOf(events[2500])
        const counts = await Promise.all([audit, other].map((log) => log.store.removeBefore(bound)))
        assert.equal(counts[0]! + counts[1]!, 2500)
        assert.deepEqual(numbersOf(await allEvents(audit)), range(2500, 2999))
        const ids = events.slice(2500, 2900).map(({ id }) => id)
        const more = await Promise.all([audit, other].map((log) => log.store.remove(ids)))
        assert.equal(more[0]! + more[1]!, 400)
        assert.deepEqual(numbersOf(await allEvents(audit)), range(2900, 2999))
      },
    },
    'reopen',
  ),
]
