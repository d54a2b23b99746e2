import assert from 'node:assert/strict'
import type { AuditEvent } from '../../event/event.js'
import { type Case, cases } from './context.js'
import {
  aWhile,
  drafts,
  everything,
  imported,
  numbers,
  recordSome,
  tailsOf,
  timeOf,
  turns,
  upTo,
} from './helpers.js'

export const reopenCases: readonly Case[] = cases(
  {
    async 'reopen: everything is there, and time goes on'({ audit, clock, reopen }) {
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

    async 'reopen: two at a time see each other, in one order'({ audit, reopen }) {
      const other = await reopen()
      const recorded: AuditEvent[] = []
      for (const round of upTo(0, 9)) {
        recorded.push(...(await recordSome(round % 2 ? audit : other, 3)))
        for (const log of [audit, other]) {
          assert.deepEqual((await log.list({ limit: 30 })).events, recorded)
          assert.deepEqual(await log.get(recorded.at(-1)!.id), recorded.at(-1))
        }
      }
      const times = recorded.map((event) => event.created_at)
      assert.deepEqual(times, times.toSorted())
    },

    async 'reopen: concurrent writers on one store lose and repeat nothing'({ audit, reopen }) {
      const other = await reopen()
      const written = await Promise.all([recordSome(audit, 500), recordSome(other, 500)])
      const { events } = await audit.list({ limit: 1000 })
      const ids = written.flat().map((event) => event.id)
      assert.deepEqual(events.map((event) => event.id).toSorted(), ids.toSorted())
    },

    async 'reopen: several at once from the beginning'({ reopen }) {
      const logs = await Promise.all(upTo(1, 4).map(() => reopen()))
      const written = await Promise.all(logs.map((log) => recordSome(log, 20)))
      assert.equal((await everything(logs[0]!)).length, written.flat().length)
    },

    async 'reopen: closing one leaves the other open'({ audit, reopen }) {
      const other = await reopen()
      const before = await recordSome(audit, 3)
      await audit.close()
      const after = await recordSome(other, 3)
      assert.deepEqual(await everything(other), [...before, ...after])
    },

    async 'reopen: drafts of a process that is gone are kept once'({ store, audit, reopen }) {
      const [before] = await recordSome(audit, 1)
      const batch = drafts(6, 1)
      const kept = await store.append(batch.slice(0, 3))
      await audit.close()
      const again = await reopen()
      const events = await again.store.append(batch, { since: timeOf(before) })
      assert.deepEqual(events.slice(0, 3), kept)
      assert.deepEqual(numbers(await everything(again)), upTo(0, 6))
      const once = await again.store.append(batch, { since: timeOf(before) })
      assert.deepEqual(once, events)
      assert.deepEqual(await everything(again), [before, ...events])
    },

    async 'reopen: what close found on its way is kept as a whole, or refused'({ store, reopen }) {
      const calls: Promise<readonly AuditEvent[]>[] = []
      for (const turn of upTo(0, 3)) {
        calls.push(store.append(drafts(5)))
        await turns(turn)
      }
      const closing = store.close()
      const outcomes = await Promise.allSettled(calls)
      await closing
      const kept = outcomes.flatMap((outcome) =>
        outcome.status === 'fulfilled' ? outcome.value : [],
      )
      const again = await reopen()
      await aWhile()
      assert.deepEqual(tailsOf(await everything(again)).toSorted(), tailsOf(kept).toSorted())
    },
  },
  'reopen',
)
