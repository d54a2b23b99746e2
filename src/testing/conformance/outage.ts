import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from '../../audit-log.js'
import { AuditLogError } from '../../errors.js'
import type { AuditEvent } from '../../event/event.js'
import { type Case, cases } from './context.js'
import {
  aWhile,
  drafts,
  everything,
  importedSome,
  inTime,
  numbers,
  recordSome,
  rejectsWith,
  tailsOf,
  timeOf,
  turns,
  unlessAborted,
  upTo,
} from './helpers.js'

const SHORT_MS = 100

/** What a store may answer that cannot do its work. */
function assertGivenUp(error: unknown): void {
  assert.ok(error instanceof AuditLogError, String(error))
  assert.ok(['ABORTED', 'STORE_FAILED', 'QUERY_TIMEOUT'].includes(error.code), error.code)
}

export const outageCases: readonly Case[] = [
  ...cases(
    {
      async 'outage: appends wait for its end, and are kept once in their order'({
        store,
        audit,
        interrupt,
      }) {
        const before = await recordSome(audit, 2)
        const end = await interrupt()
        const calls = upTo(0, 2).map((i) => store.append(drafts(3, 2 + 3 * i)))
        await delay(SHORT_MS)
        await end()
        const batches = await Promise.all(calls)
        const all = await everything(audit)
        assert.deepEqual(all.slice(0, 2), before)
        const later = batches.toSorted((a, b) => (a[0]!.created_at < b[0]!.created_at ? -1 : 1))
        assert.deepEqual(all.slice(2), later.flat())
      },

      async 'outage: records keep the order of their calls'({ audit, interrupt }) {
        const end = await interrupt()
        const calls = recordSome(audit, 50)
        await delay(SHORT_MS)
        const more = recordSome(audit, 50, 50)
        await end()
        const events = [...(await calls), ...(await more)]
        assert.deepEqual(numbers(events), upTo(0, 99))
        assert.deepEqual(await everything(audit), events)
      },

      async 'outage: what is aborted meanwhile is not kept, then or later'({
        store,
        audit,
        interrupt,
      }) {
        const end = await interrupt()
        const signal = AbortSignal.timeout(SHORT_MS)
        await rejectsWith(inTime(store.append(drafts(3), { signal })), 'ABORTED')
        await end()
        await aWhile()
        assert.deepEqual(await everything(audit), [])
        const events = await recordSome(audit, 3)
        assert.deepEqual(await everything(audit), events)
      },

      async 'outage: what its deadline finds waiting is not kept later'({
        store,
        audit,
        interrupt,
      }) {
        const end = await interrupt()
        const deadline = performance.now() + SHORT_MS
        const call = rejectsWith(store.append(drafts(3), { deadline }), 'ABORTED')
        await delay(1.5 * SHORT_MS)
        await end()
        await call
        await aWhile()
        assert.deepEqual(await everything(audit), [])
      },

      async 'outage: a record that waits too long is not kept'({ store, audit, interrupt }) {
        const waiting = { deadlineMs: SHORT_MS }
        const impatient: AuditLog = new AuditLog({ store, types: {}, waiting })
        const end = await interrupt()
        const call = impatient.recordCustom('test:event', { n: 0 })
        await rejectsWith(inTime(call), 'DEADLINE_EXCEEDED')
        await end()
        await recordSome(audit, 1, 1)
        assert.deepEqual(numbers(await everything(audit)), [1])
        const { calls, rejected, waiting: left } = impatient.stats()
        assert.deepEqual([calls, rejected, left], [1, 1, 0])
      },

      async 'outage: an import waits or fails as a whole, and can be repeated'({
        audit,
        interrupt,
      }) {
        const events = importedSome(50)
        const end = await interrupt()
        const signal = AbortSignal.timeout(SHORT_MS)
        const first = await inTime(audit.importEvents(events, { signal })).catch(
          (error: unknown) => {
            assertGivenUp(error)
            return { imported: 0, skipped: 0 }
          },
        )
        const repeated = audit.importEvents(events).catch((error: unknown) => {
          assertGivenUp(error)
          return { imported: 0, skipped: 0 }
        })
        await delay(SHORT_MS)
        await end()
        const second = await repeated
        const last = await audit.importEvents(events)
        assert.equal(first.imported + second.imported + last.imported, 50)
        assert.deepEqual(await everything(audit), events)
      },

      async 'outage: a removal waits or fails, and can be repeated'({ store, audit, interrupt }) {
        const events = await recordSome(audit, 10)
        const end = await interrupt()
        const signal = AbortSignal.timeout(SHORT_MS)
        const bound = timeOf(events[5])
        const removed = await inTime(store.removeBefore(bound, { signal })).catch(
          (error: unknown) => {
            assertGivenUp(error)
            return 0
          },
        )
        await end()
        assert.equal(removed + (await store.removeBefore(bound)), 5)
        assert.deepEqual(await everything(audit), events.slice(5))
      },

      async 'outage: readers are answered, or told'({ store, audit, interrupt }) {
        const events = await recordSome(audit, 3)
        const end = await interrupt()
        const signal = AbortSignal.timeout(SHORT_MS)
        await audit
          .list('', { signal })
          .then((page) => assert.deepEqual(page.events, events), assertGivenUp)
        await store
          .get(events[0]!.id, { signal })
          .then((event) => assert.deepEqual(event, events[0]), assertGivenUp)
        await end()
        assert.deepEqual(await everything(audit), events)
      },
    },
    'interrupt',
  ),

  ...cases(
    {
      async 'lost acknowledgement: drafts that are given again are kept once'({
        store,
        audit,
        loseAcknowledgement,
      }) {
        await recordSome(audit, 2)
        await loseAcknowledgement('append')
        const batch = drafts(5, 2)
        const events = await store.append(batch).catch(() => store.append(batch))
        assert.deepEqual(
          tailsOf(events),
          batch.map(({ tail }) => tail),
        )
        await recordSome(audit, 1, 7)
        const all = await everything(audit)
        assert.deepEqual(numbers(all), upTo(0, 7))
        assert.deepEqual(all.slice(2, 7), events)
      },

      async 'lost acknowledgement: records are kept once, and told as stored'({
        audit,
        loseAcknowledgement,
      }) {
        const heard: AuditEvent[] = []
        audit.on('recorded', (event) => heard.push(event))
        await loseAcknowledgement('append')
        const events = await recordSome(audit, 20)
        assert.deepEqual(numbers(events), upTo(0, 19))
        assert.deepEqual(await everything(audit), events)
        assert.deepEqual(heard, events)
        assert.equal(audit.stats().stored, 20)
      },

      async 'lost acknowledgement: aborted, nothing is left once the next append is kept'({
        store,
        audit,
        loseAcknowledgement,
      }) {
        const kept: AuditEvent[] = []
        for (const turn of [0, 1, 2, 5, 10, 20, 40]) {
          await loseAcknowledgement('append')
          const controller = new AbortController()
          const { signal } = controller
          const call = unlessAborted(store.append(drafts(3, 10 * turn), { signal }))
          await turns(turn)
          controller.abort()
          kept.push(...(await call))
          // Where the first was aborted before it took effect, this one is the next to get lost.
          kept.push(...(await recordSome(audit, 1, 10 * turn + 9)))
          assert.deepEqual(await everything(audit), kept)
        }
      },
    },
    'loseAcknowledgement',
  ),
]
