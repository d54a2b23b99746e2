import assert from 'node:assert/strict'
import type { AuditEvent } from '../../event/event.js'
import { eventId } from '../../event/event-id.js'
import { type Case, cases } from './context.js'
import { SECOND } from '../../event/timestamp.js'
import {
  drafts,
  allEvents,
  imported,
  importedSome,
  numbersOf,
  recordSome,
  rejectsWith,
  timeOf,
  range,
} from './helpers.js'

const unrelated = imported({
  id: '0196b3c2-0000-4000-8000-00000000000f',
  created_at: '2024-01-01T00:00:00.000000Z',
})

export const importCases: readonly Case[] = [
  ...cases({
    async 'import: events keep their id and time and are sorted into the past'({ audit, clock }) {
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

    async 'import: an empty call imports nothing'({ audit }) {
      assert.deepEqual(await audit.importEvents([]), { imported: 0, skipped: 0 })
    },

    async 'import: an event that was recorded here is skipped'({ audit, clock }) {
      const [event] = await recordSome(audit, 1)
      clock.advance(10 * SECOND)
      assert.deepEqual(await audit.importEvents([event!]), { imported: 0, skipped: 1 })
      assert.deepEqual(await allEvents(audit), [event])
    },

    async 'import: an id that contains another time is found and hides no other event'({
      audit,
      clock,
    }) {
      const [native] = await recordSome(audit, 1)
      clock.advance(SECOND)
      const time = timeOf(native)
      const other = imported({ id: eventId(time, 'bfffffffffffffff') })
      const free = imported({
        id: eventId(time - 77, 'bfffffffffffffff'),
        created_at: '2025-05-01T10:00:00.000002Z',
      })
      const result = await audit.importEvents([other, free])
      assert.deepEqual(result, { imported: 2, skipped: 0 })
      for (const event of [native!, other, free]) {
        assert.deepEqual(await audit.get(event.id), event)
        assert.deepEqual((await audit.list({ filter: { id_eq: event.id } })).events, [event])
      }
      assert.deepEqual(await allEvents(audit), [other, free, native])
    },

    async 'import: events given in any order are sorted by time'({ audit }) {
      const events = importedSome(1500)
      const shuffled = events.map((_, i) => events[(i * 701) % events.length]!)
      assert.deepEqual(await audit.importEvents(shuffled), { imported: 1500, skipped: 0 })
      assert.deepEqual(await allEvents(audit), events)
    },

    async 'import: skips events that are already stored'({ audit }) {
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

    async 'import: a conflict of id or time rejects the whole call'({ audit, clock }) {
      const existing = imported()
      const [native] = await recordSome(audit, 1)
      clock.advance(SECOND)
      await audit.importEvents([existing])
      const elsewhere = '2025-05-01T10:00:00.000009Z'
      const conflicts: AuditEvent[] = [
        { ...existing, type: 'other' },
        { ...existing, username: 'bob' },
        { ...existing, username: null },
        { ...existing, system: false },
        { ...existing, source: null },
        { ...existing, attributes: { ...existing.attributes, more: 1 } },
        { ...existing, id: '0196b3c2-0000-4000-8000-000000000003' },
        { ...existing, created_at: elsewhere },
        { ...native!, created_at: elsewhere },
        { ...native!, type: 'other' },
        imported({ created_at: native!.created_at, id: '0196b3c2-0000-4000-8000-000000000005' }),
        imported({
          created_at: '2026-02-01T00:00:00Z',
          id: '0196b3c2-0000-4000-8000-000000000004',
        }),
      ]
      for (const conflict of conflicts)
        await rejectsWith(audit.importEvents([unrelated, conflict]), 'IMPORT_CONFLICT')
      assert.deepEqual(await allEvents(audit), [existing, native])
      assert.equal(await audit.get(unrelated.id), undefined)
    },

    async 'import: a conflict within one call rejects the whole call'({ audit }) {
      const existing = imported()
      const sameId = { ...existing, created_at: '2025-05-01T10:00:00.000009Z' }
      const sameTime = { ...existing, id: '0196b3c2-0000-4000-8000-000000000003' }
      for (const conflict of [sameId, sameTime, { ...existing, type: 'other' }])
        await rejectsWith(audit.importEvents([existing, unrelated, conflict]), 'IMPORT_CONFLICT')
      assert.deepEqual(await allEvents(audit), [])
    },

    async 'import: a conflict of the last of many events rejects the whole call'({ audit }) {
      const events = importedSome(2000)
      const conflict = { ...events.at(-1)!, id: unrelated.id }
      await rejectsWith(audit.importEvents([...events, conflict]), 'IMPORT_CONFLICT')
      assert.deepEqual(await allEvents(audit), [])
      assert.deepEqual(await audit.importEvents(events), { imported: 2000, skipped: 0 })
    },

    async 'import: accepts the present time and refuses a later one'({ audit, clock }) {
      const now = imported({ created_at: '2026-01-01T00:00:00.000000Z' })
      const later = { ...unrelated, created_at: '2026-01-01T00:00:00.000001Z' }
      await rejectsWith(audit.importEvents([later]), 'IMPORT_CONFLICT')
      assert.deepEqual(await audit.importEvents([now]), { imported: 1, skipped: 0 })
      clock.advance(1)
      assert.deepEqual(await audit.importEvents([later]), { imported: 1, skipped: 0 })
      assert.deepEqual(await allEvents(audit), [now, later])
    },

    async 'import: an aborted signal stores nothing'({ audit }) {
      const signal = AbortSignal.abort()
      await rejectsWith(audit.importEvents([imported()], { signal }), 'ABORTED')
      assert.deepEqual(await allEvents(audit), [])
    },

    async 'import: the next recorded event comes later'({ audit }) {
      const newest = imported({ created_at: '2026-01-01T00:00:00.000000Z' })
      await audit.importEvents([newest])
      const next = await recordSome(audit, 3)
      assert.ok(next[0]!.created_at > newest.created_at)
      assert.deepEqual(await allEvents(audit), [newest, ...next])
    },

    async 'import: the next recorded event comes later, also after the imported one was removed'({
      audit,
    }) {
      const newest = imported({ created_at: '2026-01-01T00:00:00.000000Z' })
      await audit.importEvents([newest])
      await audit.store.removeBefore(timeOf(newest) + 1)
      const [next] = await recordSome(audit, 1)
      assert.ok(next!.created_at > newest.created_at)
    },

    async 'import: does not call listeners'({ audit }) {
      const received: string[] = []
      audit.on('recorded', (event) => received.push(event.type))
      await audit.importEvents([imported()])
      await audit.recordCustom('own')
      assert.deepEqual(received, ['own'])
    },

    async 'import: concurrent calls with the same events store them once'({ audit }) {
      const events = importedSome(300)
      const results = await Promise.all(range(1, 4).map(() => audit.importEvents(events)))
      const sum = (key: 'imported' | 'skipped'): number =>
        results.reduce((total, result) => total + result[key], 0)
      assert.deepEqual([sum('imported'), sum('skipped')], [300, 900])
      assert.deepEqual(await allEvents(audit), events)
    },

    async 'import: an exported log is restored exactly'({ store, audit, clock }) {
      const before = await recordSome(audit, 20)
      await audit.importEvents(importedSome(20))
      clock.advance(SECOND)
      const all = await allEvents(audit)
      assert.equal(await store.removeBefore(timeOf(before.at(-1)) + 1), 40)
      assert.deepEqual(await audit.importEvents(all), { imported: 40, skipped: 0 })
      assert.deepEqual(await allEvents(audit), all)
      for (const event of all) assert.deepEqual(await audit.get(event.id), event)
    },

    async 'import: runs alongside appends'({ store, audit, clock }) {
      clock.advance(SECOND)
      const events = importedSome(400)
      const imports = range(0, 3).map((i) =>
        audit.importEvents(events.slice(100 * i, 100 * i + 100)),
      )
      const appends = range(0, 9).map((i) => store.append(drafts(10, 10 * i)))
      await Promise.all(imports)
      const batches = await Promise.all(appends)
      const all = await allEvents(audit)
      assert.deepEqual(all.slice(0, 400), events)
      const ids = (of: readonly AuditEvent[]): string[] => of.map((event) => event.id).toSorted()
      assert.deepEqual(ids(all.slice(400)), ids(batches.flat()))
    },
  }),

  ...cases(
    {
      async 'import: two stores that import the same events store them once'({ audit, reopen }) {
        const other = await reopen()
        const events = importedSome(300)
        const results = await Promise.all(
          [audit, other, audit, other].map((log) => log.importEvents(events)),
        )
        assert.equal(
          results.reduce((total, result) => total + result.imported, 0),
          300,
        )
        for (const log of [audit, other]) assert.deepEqual(await allEvents(log), events)
        assert.deepEqual(numbersOf(await allEvents(audit)), range(1, 300))
      },

      async 'import: of two conflicting imports, one is stored completely'({ audit, reopen }) {
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
        const stored = outcomes[0].status === 'fulfilled' ? one : another.toReversed()
        assert.deepEqual(await allEvents(audit), stored)
      },
    },
    'reopen',
  ),
]
