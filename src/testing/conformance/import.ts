import assert from 'node:assert/strict'
import type { AuditEvent } from '../../event/event.js'
import { eventId } from '../../event/event-id.js'
import { type Case, cases } from './context.js'
import { SECOND } from '../../event/timestamp.js'
import {
  drafts,
  everything,
  imported,
  importedSome,
  numbers,
  recordSome,
  rejectsWith,
  timeOf,
  upTo,
} from './helpers.js'

const fresh = imported({
  id: '0196b3c2-0000-4000-8000-00000000000f',
  created_at: '2024-01-01T00:00:00.000000Z',
})

export const importCases: readonly Case[] = [
  ...cases({
    async 'import: events keep id and time, and take their place in the past'({ audit, clock }) {
      await recordSome(audit, 1)
      clock.advance(SECOND)
      const old = imported()
      assert.deepEqual(await audit.importEvents([old]), { imported: 1, skipped: 0 })
      assert.deepEqual(await audit.get(old.id), old)
      const { events } = await audit.list()
      assert.deepEqual(events[0], old)
      assert.deepEqual((await audit.list({ filter: { id_eq: old.id } })).events, [old])
      const before = await audit.list({ filter: { created_at_lt: '2025-06-01' } })
      assert.deepEqual(before.events, [old])
    },

    async 'import: nothing of nothing'({ audit }) {
      assert.deepEqual(await audit.importEvents([]), { imported: 0, skipped: 0 })
    },

    async 'import: an id that carries the time needs no more than itself'({ audit, clock }) {
      const [event] = await recordSome(audit, 1)
      clock.advance(10 * SECOND)
      assert.deepEqual(await audit.importEvents([event!]), { imported: 0, skipped: 1 })
      assert.deepEqual(await everything(audit), [event])
    },

    async 'import: an id that carries another time is found, and hides no other event'({
      audit,
      clock,
    }) {
      const [native] = await recordSome(audit, 1)
      clock.advance(SECOND)
      const carried = timeOf(native)
      const other = imported({ id: eventId(carried, 'bfffffffffffffff') })
      const free = imported({
        id: eventId(carried - 77, 'bfffffffffffffff'),
        created_at: '2025-05-01T10:00:00.000002Z',
      })
      const result = await audit.importEvents([other, free])
      assert.deepEqual(result, { imported: 2, skipped: 0 })
      for (const event of [native!, other, free]) {
        assert.deepEqual(await audit.get(event.id), event)
        assert.deepEqual((await audit.list({ filter: { id_eq: event.id } })).events, [event])
      }
      assert.deepEqual(await everything(audit), [other, free, native])
    },

    async 'import: in any order, the events stand in the order of their times'({ audit }) {
      const events = importedSome(1500)
      const shuffled = events.map((_, i) => events[(i * 701) % events.length]!)
      assert.deepEqual(await audit.importEvents(shuffled), { imported: 1500, skipped: 0 })
      assert.deepEqual(await everything(audit), events)
    },

    async 'import: repeated, it skips what is there'({ audit }) {
      const first = imported()
      const second = imported({
        id: '0196b3c2-0000-4000-8000-000000000002',
        created_at: '2025-05-01T10:00:00.000002Z',
      })
      assert.deepEqual(await audit.importEvents([first]), { imported: 1, skipped: 0 })
      const again = await audit.importEvents([first, second, second])
      assert.deepEqual(again, { imported: 1, skipped: 2 })
      assert.deepEqual((await audit.list()).events, [first, second])
    },

    async 'import: a clash of id or time keeps nothing of the call'({ audit, clock }) {
      const there = imported()
      const [native] = await recordSome(audit, 1)
      clock.advance(SECOND)
      await audit.importEvents([there])
      const elsewhere = '2025-05-01T10:00:00.000009Z'
      const clashes: AuditEvent[] = [
        { ...there, type: 'other' },
        { ...there, username: 'bob' },
        { ...there, username: null },
        { ...there, system: false },
        { ...there, source: null },
        { ...there, attributes: { ...there.attributes, more: 1 } },
        { ...there, id: '0196b3c2-0000-4000-8000-000000000003' },
        { ...there, created_at: elsewhere },
        { ...native!, created_at: elsewhere },
        { ...native!, type: 'other' },
        imported({ created_at: native!.created_at, id: '0196b3c2-0000-4000-8000-000000000005' }),
        imported({
          created_at: '2026-02-01T00:00:00Z',
          id: '0196b3c2-0000-4000-8000-000000000004',
        }),
      ]
      for (const clash of clashes)
        await rejectsWith(audit.importEvents([fresh, clash]), 'IMPORT_CONFLICT')
      assert.deepEqual(await everything(audit), [there, native])
      assert.equal(await audit.get(fresh.id), undefined)
    },

    async 'import: events of one call that clash keep nothing of it'({ audit }) {
      const there = imported()
      const sameId = { ...there, created_at: '2025-05-01T10:00:00.000009Z' }
      const sameTime = { ...there, id: '0196b3c2-0000-4000-8000-000000000003' }
      for (const clash of [sameId, sameTime, { ...there, type: 'other' }])
        await rejectsWith(audit.importEvents([there, fresh, clash]), 'IMPORT_CONFLICT')
      assert.deepEqual(await everything(audit), [])
    },

    async 'import: of many, the last one decides too'({ audit }) {
      const events = importedSome(2000)
      const clash = { ...events.at(-1)!, id: fresh.id }
      await rejectsWith(audit.importEvents([...events, clash]), 'IMPORT_CONFLICT')
      assert.deepEqual(await everything(audit), [])
      assert.deepEqual(await audit.importEvents(events), { imported: 2000, skipped: 0 })
    },

    async 'import: now is not later than now'({ audit, clock }) {
      const now = imported({ created_at: '2026-01-01T00:00:00.000000Z' })
      const later = { ...fresh, created_at: '2026-01-01T00:00:00.000001Z' }
      await rejectsWith(audit.importEvents([later]), 'IMPORT_CONFLICT')
      assert.deepEqual(await audit.importEvents([now]), { imported: 1, skipped: 0 })
      clock.advance(1)
      assert.deepEqual(await audit.importEvents([later]), { imported: 1, skipped: 0 })
      assert.deepEqual(await everything(audit), [now, later])
    },

    async 'import: an aborted signal keeps nothing'({ audit }) {
      const signal = AbortSignal.abort()
      await rejectsWith(audit.importEvents([imported()], { signal }), 'ABORTED')
      assert.deepEqual(await everything(audit), [])
    },

    async 'import: what is recorded next comes later'({ audit }) {
      const newest = imported({ created_at: '2026-01-01T00:00:00.000000Z' })
      await audit.importEvents([newest])
      const next = await recordSome(audit, 3)
      assert.ok(next[0]!.created_at > newest.created_at)
      assert.deepEqual(await everything(audit), [newest, ...next])
    },

    async 'import: what is recorded next does not wait for the newest to be there'({ audit }) {
      const newest = imported({ created_at: '2026-01-01T00:00:00.000000Z' })
      await audit.importEvents([newest])
      await audit.store.removeBefore(timeOf(newest) + 1)
      const [next] = await recordSome(audit, 1)
      assert.ok(next!.created_at > newest.created_at)
    },

    async 'import: reaches no listener'({ audit }) {
      const heard: string[] = []
      audit.on('recorded', (event) => heard.push(event.type))
      await audit.importEvents([imported()])
      await audit.recordCustom('own')
      assert.deepEqual(heard, ['own'])
    },

    async 'import: the same events by several calls at once are kept once'({ audit }) {
      const events = importedSome(300)
      const results = await Promise.all(upTo(1, 4).map(() => audit.importEvents(events)))
      const sum = (key: 'imported' | 'skipped'): number =>
        results.reduce((total, result) => total + result[key], 0)
      assert.deepEqual([sum('imported'), sum('skipped')], [300, 900])
      assert.deepEqual(await everything(audit), events)
    },

    async 'import: an export comes back as it was'({ store, audit, clock }) {
      const before = await recordSome(audit, 20)
      await audit.importEvents(importedSome(20))
      clock.advance(SECOND)
      const all = await everything(audit)
      assert.equal(await store.removeBefore(timeOf(before.at(-1)) + 1), 40)
      assert.deepEqual(await audit.importEvents(all), { imported: 40, skipped: 0 })
      assert.deepEqual(await everything(audit), all)
      for (const event of all) assert.deepEqual(await audit.get(event.id), event)
    },

    async 'import: goes along with appends'({ store, audit, clock }) {
      clock.advance(SECOND)
      const events = importedSome(400)
      const imports = upTo(0, 3).map((i) =>
        audit.importEvents(events.slice(100 * i, 100 * i + 100)),
      )
      const appends = upTo(0, 9).map((i) => store.append(drafts(10, 10 * i)))
      await Promise.all(imports)
      const batches = await Promise.all(appends)
      const all = await everything(audit)
      assert.deepEqual(all.slice(0, 400), events)
      const ids = (of: readonly AuditEvent[]): string[] => of.map((event) => event.id).toSorted()
      assert.deepEqual(ids(all.slice(400)), ids(batches.flat()))
    },
  }),

  ...cases(
    {
      async 'import: the same events by two stores at once are kept once'({ audit, reopen }) {
        const other = await reopen()
        const events = importedSome(300)
        const results = await Promise.all(
          [audit, other, audit, other].map((log) => log.importEvents(events)),
        )
        assert.equal(
          results.reduce((total, result) => total + result.imported, 0),
          300,
        )
        for (const log of [audit, other]) assert.deepEqual(await everything(log), events)
        assert.deepEqual(numbers(await everything(audit)), upTo(1, 300))
      },

      async 'import: of two that clash one is kept, as a whole'({ audit, reopen }) {
        const other = await reopen()
        const one = importedSome(50)
        const another = one.map((event) => ({ ...event, type: 'other' })).toReversed()
        const outcomes = await Promise.allSettled([
          audit.importEvents(one),
          other.importEvents(another),
        ])
        const rejected = outcomes.flatMap((outcome) =>
          outcome.status === 'rejected' ? [Promise.reject(outcome.reason as Error)] : [],
        )
        assert.equal(rejected.length, 1)
        await rejectsWith(rejected[0]!, 'IMPORT_CONFLICT')
        const kept = outcomes[0].status === 'fulfilled' ? one : another.toReversed()
        assert.deepEqual(await everything(audit), kept)
      },
    },
    'reopen',
  ),
]
