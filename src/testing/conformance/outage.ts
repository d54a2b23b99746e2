import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from '../../audit-log.js'
import { AuditLogError } from '../../errors.js'
import type { AuditEvent } from '../../event/event.js'
import { type Case, cases } from './context.js'
import {
  settle,
  drafts,
  allEvents,
  importedSome,
  withTimeout,
  numbersOf,
  recordSome,
  rejectsWith,
  suffixesOf,
  timeOf,
  turns,
  unlessAborted,
  range,
} from './helpers.js'

const SHORT_MS = 100

/** The errors that a store may reject with during an outage. */
function assertOutageError(error: unknown): void {
  assert.ok(error instanceof AuditLogError, String(error))
  assert.ok(['ABORTED', 'STORE_FAILED', 'QUERY_TIMEOUT'].includes(error.code), error.code)
}

export const outageCases: readonly Case[] = [
  ...cases(
    {
      async 'outage: appends wait for its end and are stored once, in order'({
        store,
        audit,
        interrupt,
      }) {
        const before = await recordSome(audit, 2)
        const end = await interrupt()
        const calls = range(0, 2).map((i) => store.append(drafts(3, 2 + 3 * i)))
        await delay(SHORT_MS)
        await end()
        const batches = await Promise.all(calls)
        const all = await allEvents(audit)
        assert.deepEqual(all.slice(0, 2), before)
        const later = batches.toSorted((a, b) => (a[0]!.created_at < b[0]!.created_at ? -1 : 1))
        assert.deepEqual(all.slice(2), later.flat())
      },

      async 'outage: records are stored in call order'({ audit, interrupt }) {
        const end = await interrupt()
        const calls = recordSome(audit, 50)
        await delay(SHORT_MS)
        const more = recordSome(audit, 50, 50)
        await end()
        const events = [...(await calls), ...(await more)]
        assert.deepEqual(numbersOf(events), range(0, 99))
        assert.deepEqual(await allEvents(audit), events)
      },

      async 'outage: drafts aborted meanwhile are never stored'({ store, audit, interrupt }) {
        const end = await interrupt()
        const signal = AbortSignal.timeout(SHORT_MS)
        await rejectsWith(withTimeout(store.append(drafts(3), { signal })), 'ABORTED')
        await end()
        await settle()
        assert.deepEqual(await allEvents(audit), [])
        const events = await recordSome(audit, 3)
        assert.deepEqual(await allEvents(audit), events)
      },

      async 'outage: drafts that wait past their deadline are not stored later'({
        store,
        audit,
        interrupt,
      }) {
        const end = await interrupt()
        const deadline = performance.now() + SHORT_MS
        const call = rejectsWith(store.append(drafts(3), { deadline }), 'ABORTED')
        // Some stores notice the deadline only when the outage ends; other stores may reject somewhat late.
        await Promise.race([call, delay(20 * SHORT_MS)])
        await end()
        await call
        await settle()
        assert.deepEqual(await allEvents(audit), [])
      },

      async 'outage: a record that waits too long is not stored'({ store, audit, interrupt }) {
        const waiting = { deadlineMs: SHORT_MS }
        const withDeadline: AuditLog = new AuditLog({ store, types: {}, waiting })
        const end = await interrupt()
        const call = withDeadline.recordCustom('test:event', { n: 0 })
        await rejectsWith(withTimeout(call), 'DEADLINE_EXCEEDED')
        await end()
        await recordSome(audit, 1, 1)
        assert.deepEqual(numbersOf(await allEvents(audit)), [1])
        const { calls, rejected, waiting: pending } = withDeadline.stats()
        assert.deepEqual([calls, rejected, pending], [1, 1, 0])
      },

      async 'outage: an import waits or fails as a whole, and can be repeated'({
        audit,
        interrupt,
      }) {
        const events = importedSome(50)
        const end = await interrupt()
        const signal = AbortSignal.timeout(SHORT_MS)
        const first = await withTimeout(audit.importEvents(events, { signal })).catch(
          (error: unknown) => {
            assertOutageError(error)
            return { imported: 0, skipped: 0 }
          },
        )
        const repeated = audit.importEvents(events).catch((error: unknown) => {
          assertOutageError(error)
          return { imported: 0, skipped: 0 }
        })
        await delay(SHORT_MS)
        await end()
        const second = await repeated
        const last = await audit.importEvents(events)
        assert.equal(first.imported + second.imported + last.imported, 50)
        assert.deepEqual(await allEvents(audit), events)
      },

      async 'outage: a removal waits or fails, and can be repeated'({ store, audit, interrupt }) {
        const events = await recordSome(audit, 10)
        const end = await interrupt()
        const signal = AbortSignal.timeout(SHORT_MS)
        const bound = timeOf(events[5])
        // A removal that rejects may have removed events all the same.
        const removed = await withTimeout(store.removeBefore(bound, { signal })).catch(
          (error: unknown) => {
            assertOutageError(error)
            return undefined
          },
        )
        await end()
        const again = await store.removeBefore(bound)
        if (removed !== undefined) assert.equal(removed + again, 5)
        assert.deepEqual(await allEvents(audit), events.slice(5))
      },

      async 'outage: reads return their result or reject'({ store, audit, interrupt }) {
        const events = await recordSome(audit, 3)
        const end = await interrupt()
        const signal = AbortSignal.timeout(SHORT_MS)
        await audit
          .list('', { signal })
          .then((page) => assert.deepEqual(page.events, events), assertOutageError)
        await store
          .get(events[0]!.id, { signal })
          .then((event) => assert.deepEqual(event, events[0]), assertOutageError)
        await end()
        assert.deepEqual(await allEvents(audit), events)
      },
    },
    'interrupt',
  ),

  ...cases(
    {
      async 'lost acknowledgement: drafts that are appended again are stored once'({
        store,
        audit,
        loseAcknowledgement,
      }) {
        await recordSome(audit, 2)
        await loseAcknowledgement('append')
        const batch = drafts(5, 2)
        const events = await store.append(batch).catch(() => store.append(batch))
        assert.deepEqual(
          suffixesOf(events),
          batch.map(({ suffix }) => suffix),
        )
        await recordSome(audit, 1, 7)
        const all = await allEvents(audit)
        assert.deepEqual(numbersOf(all), range(0, 7))
        assert.deepEqual(all.slice(2, 7), events)
      },

      async 'lost acknowledgement: records are stored once and reported as stored'({
        audit,
        loseAcknowledgement,
      }) {
        const received: AuditEvent[] = []
        audit.on('recorded', (event) => received.push(event))
        await loseAcknowledgement('append')
        const events = await recordSome(audit, 20)
        assert.deepEqual(numbersOf(events), range(0, 19))
        assert.deepEqual(await allEvents(audit), events)
        assert.deepEqual(received, events)
        assert.equal(audit.stats().stored, 20)
      },

      async 'lost acknowledgement: after an abort, no aborted event remains once the next append resolves'({
        store,
        audit,
        loseAcknowledgement,
      }) {
        const stored: AuditEvent[] = []
        for (const turn of [0, 1, 2, 5, 10, 20, 40]) {
          await loseAcknowledgement('append')
          const controller = new AbortController()
          const { signal } = controller
          const call = unlessAborted(store, drafts(3, 10 * turn), signal)
          await turns(turn)
          controller.abort()
          stored.push(...(await call))
          // If the first append was aborted before it took effect, the acknowledgement of this append is lost.
          stored.push(...(await recordSome(audit, 1, 10 * turn + 9)))
          assert.deepEqual(await allEvents(audit), stored)
        }
      },
    },
    'loseAcknowledgement',
  ),
]
