import assert from 'node:assert/strict'
import type { AuditLog } from '../../audit-log.js'
import type { AuditEvent } from '../../event/event.js'
import { type Case, cases } from './context.js'
import {
  settle,
  drafts,
  allEvents,
  imported,
  numbersOf,
  recordSome,
  suffixesOf,
  timeOf,
  turns,
  range,
} from './helpers.js'

export const reopenCases: readonly Case[] = cases(
  {
    async 'reopen: all events are there, and created_at still increases'({ audit, clock, reopen }) {
      const before = await recordSome(audit, 5)
      await audit.importEvents([imported()])
      await audit.close()
      clock.advance(-60_000_000)
      const again = await reopen()
      const { events } = await again.list()
      assert.deepEqual(events, [imported(), ...before])
      assert.deepEqual(await again.get(imported().id), imported())
      const [after] = await recordSome(again, 1)
      assert.ok(after!.created_at > before.at(-1)!.created_at)
    },

    async 'reopen: two open stores see the events of both, in one order'({ audit, reopen }) {
      const other = await reopen()
      const recorded: AuditEvent[] = []
      for (const round of range(0, 9)) {
        recorded.push(...(await recordSome(round % 2 ? audit : other, 3)))
        for (const log of [audit, other]) {
          assert.deepEqual((await log.list({ limit: 30 })).events, recorded)
          assert.deepEqual(await log.get(recorded.at(-1)!.id), recorded.at(-1))
        }
      }
      const times = recorded.map((event) => event.created_at)
      assert.deepEqual(times, times.toSorted())
    },

    async 'reopen: concurrent stores neither lose nor repeat events'({ audit, reopen }) {
      const other = await reopen()
      const written = await Promise.all([recordSome(audit, 500), recordSome(other, 500)])
      const { events } = await audit.list({ limit: 1000 })
      const ids = written.flat().map((event) => event.id)
      assert.deepEqual(events.map((event) => event.id).toSorted(), ids.toSorted())
    },

    async 'reopen: several stores can open an empty log at once'({ reopen }) {
      const logs = await Promise.all(range(1, 4).map(() => reopen()))
      const written = await Promise.all(logs.map((log) => recordSome(log, 20)))
      assert.equal((await allEvents(logs[0]!)).length, written.flat().length)
    },

    async 'reopen: reads that are being counted are found by every log'({ audit, reopen }) {
      const other = await reopen()
      const resource = '/api/patients/17'
      const found = async (log: AuditLog, of: string = resource): Promise<unknown[]> =>
        (await log.subjectReads(of)).map(({ username, count, exact }) => [username, count, exact])
      const readBy = async (log: AuditLog, username: string, times: number): Promise<void> => {
        for (const _ of range(1, times)) await log.read(resource, { username })
      }
      await readBy(audit, 'ann', 4)
      await readBy(audit, 'bob', 1)
      await audit.read('/api/patients/18', { username: 'eve' })
      assert.deepEqual(await found(audit), [
        ['ann', 4, true],
        ['bob', 1, true],
      ])
      await audit.flush()
      await readBy(other, 'bob', 3)
      assert.deepEqual(await found(other), [
        ['ann', 4, false],
        ['bob', 4, true],
      ])
      await readBy(audit, 'ann', 1)
      await audit.close()
      assert.deepEqual(await found(other), [
        ['ann', 5, true],
        ['bob', 4, true],
      ])
      assert.deepEqual(await found(other, '/api/patients/18'), [['eve', 1, true]])
      assert.deepEqual(await found(other, '/api/patients/1'), [])
    },

    async 'reopen: closing one leaves the other open'({ audit, reopen }) {
      const other = await reopen()
      const before = await recordSome(audit, 3)
      await audit.close()
      const after = await recordSome(other, 3)
      assert.deepEqual(await allEvents(other), [...before, ...after])
    },

    async 'reopen: drafts retried for a process that ended are stored once'({
      store,
      audit,
      reopen,
    }) {
      const [before] = await recordSome(audit, 1)
      const batch = drafts(6, 1)
      const stored = await store.append(batch.slice(0, 3))
      await audit.close()
      const again = await reopen()
      const events = await again.store.append(batch, { since: timeOf(before) })
      assert.deepEqual(events.slice(0, 3), stored)
      assert.deepEqual(numbersOf(await allEvents(again)), range(0, 6))
      const once = await again.store.append(batch, { since: timeOf(before) })
      assert.deepEqual(once, events)
      assert.deepEqual(await allEvents(again), [before, ...events])
    },

    async 'reopen: an append running during close stores all of its drafts or rejects'({
      store,
      reopen,
    }) {
      const calls: Promise<readonly AuditEvent[]>[] = []
      for (const turn of range(0, 3)) {
        calls.push(store.append(drafts(5)))
        await turns(turn)
      }
      const closing = store.close()
      const outcomes = await Promise.allSettled(calls)
      await closing
      const stored = outcomes.flatMap((outcome) =>
        outcome.status === 'fulfilled' ? outcome.value : [],
      )
      const again = await reopen()
      await settle()
      assert.deepEqual(suffixesOf(await allEvents(again)).toSorted(), suffixesOf(stored).toSorted())
    },
  },
  'reopen',
)
