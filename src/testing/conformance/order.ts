import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuditLog } from '../../audit-log.js'
import type { AuditEvent } from '../../event/event.js'
import { type Case, cases } from './context.js'
import type { ManualClock } from './manual-clock.js'
import { SECOND } from '../../event/timestamp.js'
import { drafts, everything, numbers, recordSome, turns, upTo } from './helpers.js'

/** What the work gives, and what a client has seen by its end who polls meanwhile. */
export async function pollDuring<Result>(
  audit: AuditLog,
  work: () => Promise<Result>,
): Promise<{ result: Result; polled: AuditEvent[] }> {
  let isOver = false
  const [result, polled] = await Promise.all([
    work().finally(() => (isOver = true)),
    poll(audit, () => isOver),
  ])
  return { result, polled }
}

/** What a client has seen once `isOver`, who asks for what is later than the newest he knows. */
async function poll(audit: AuditLog, isOver: () => boolean): Promise<AuditEvent[]> {
  const seen: AuditEvent[] = []
  for (let rounds = 0; ; rounds++) {
    // Asked before reading: what is visible by then is in this answer, or in the one after.
    const wasOver = isOver()
    const created_at_gt = seen.at(-1)?.created_at ?? '1970-01-01'
    const page = await audit.list({
      filter: { created_at_gt, sorts: 'created_at' },
      limit: 1 + ((rounds * 37) % 200),
    })
    seen.push(...page.events)
    if (wasOver && !page.truncated) return seen
    await turns(1 + (rounds % 3))
  }
}

/** What a client has seen once `isOver`, who asks for the newest, then pages back to those he knows. */
async function pollBackwards(audit: AuditLog, isOver: () => boolean): Promise<AuditEvent[]> {
  const seen: AuditEvent[] = []
  for (let rounds = 0; ; rounds++) {
    const wasOver = isOver()
    const created_at_gt = seen.at(-1)?.created_at ?? '1970-01-01'
    const fresh: AuditEvent[] = []
    for (let before = '2099-01-01'; ; before = fresh[0]!.created_at) {
      const { events, truncated } = await audit.list({
        filter: { created_at_gt, created_at_lt: before },
        limit: 5 + (rounds % 60),
      })
      fresh.unshift(...events)
      if (!truncated) break
      assert.ok(events.length > 0, 'an empty page says that there is more')
    }
    seen.push(...fresh)
    if (wasOver) return seen
    await turns(1 + (rounds % 5))
  }
}

/** Each answer is what a client has seen who pages back to the beginning, at some moment. */
async function pageBack(audit: AuditLog, isOver: () => boolean): Promise<AuditEvent[][]> {
  const answers: AuditEvent[][] = []
  while (!isOver()) {
    const seen: AuditEvent[] = []
    for (let before = '2099-01-01'; ; before = seen[0]!.created_at) {
      const { events, truncated } = await audit.list({
        filter: { created_at_lt: before },
        limit: 50 + 10 * (answers.length % 20),
      })
      seen.unshift(...events)
      if (!truncated) break
      assert.ok(events.length > 0, 'an empty page says that there is more')
    }
    answers.push(seen)
    await delay(answers.length % 8)
  }
  return answers
}

const ROUNDS = 30

/** Batches of many sizes, two at a time, while the clock goes on and back. */
async function write({ store }: AuditLog, clock: ManualClock): Promise<AuditEvent[]> {
  const written: AuditEvent[] = []
  for (const round of upTo(1, ROUNDS)) {
    const sizes = [1 + ((round * 7) % 19), 1 + ((round * 5) % 11)]
    const batches = await Promise.all(sizes.map((size) => store.append(drafts(size))))
    written.push(...batches.flat())
    clock.advance(round % 4 === 0 ? -5000 : 1300)
    if (round % 3 === 0) await delay(round % 5)
  }
  return written
}

async function followWhileWriting(
  writers: readonly AuditLog[],
  reader: AuditLog,
  clock: ManualClock,
): Promise<void> {
  let isOver = false
  const writing = Promise.all(writers.map((audit) => write(audit, clock)))
  const [batches, polled, polledBackwards, paged] = await Promise.all([
    writing.finally(() => (isOver = true)),
    poll(reader, () => isOver),
    pollBackwards(reader, () => isOver),
    pageBack(reader, () => isOver),
  ])
  const ids = (events: readonly AuditEvent[]): string[] => events.map((event) => event.id)
  const all = await everything(reader)
  assert.deepEqual(ids(all).toSorted(), ids(batches.flat()).toSorted(), 'what was appended')
  assert.deepEqual(ids(polled), ids(all), 'what polling by created_at_gt has seen')
  assert.deepEqual(ids(polledBackwards), ids(all), 'what polling for the newest has seen')
  for (const seen of paged)
    assert.deepEqual(ids(seen), ids(all.slice(0, seen.length)), 'what paging back has seen')
}

export const orderCases: readonly Case[] = [
  ...cases({
    async 'order: readers meet each event once while appends overlap'({ audit, clock }) {
      await followWhileWriting([audit, audit], audit, clock)
    },

    async 'order: created_at rises through steps of the clock in both directions'({
      audit,
      clock,
    }) {
      const recorded: AuditEvent[] = []
      for (const step of [0, -1, -SECOND, 2 * SECOND, -86_400 * SECOND, 1, 0, 86_400 * SECOND]) {
        clock.advance(step)
        recorded.push(...(await recordSome(audit, 3, recorded.length)))
      }
      const times = recorded.map((event) => event.created_at)
      assert.deepEqual(times, times.toSorted())
      assert.equal(new Set(times).size, times.length)
      assert.deepEqual(await everything(audit), recorded)
    },
  }),

  ...cases(
    {
      async 'order: readers meet each event once while two stores write'({ audit, clock, reopen }) {
        const [other, reader] = [await reopen(), await reopen()]
        await followWhileWriting([audit, other], reader, clock)
        assert.deepEqual(await everything(audit), await everything(other))
      },

      async 'order: one for two stores, whatever the clock does between them'({
        audit,
        clock,
        reopen,
      }) {
        const other = await reopen()
        const recorded: AuditEvent[] = []
        for (const round of upTo(0, 9)) {
          clock.advance(round % 2 ? -30 * SECOND : SECOND)
          recorded.push(...(await recordSome(round % 2 ? audit : other, 3, 3 * round)))
        }
        assert.deepEqual(numbers(recorded), upTo(0, 29))
        const times = recorded.map((event) => event.created_at)
        assert.deepEqual(times, times.toSorted())
        assert.equal(new Set(times).size, 30)
        for (const log of [audit, other]) assert.deepEqual(await everything(log), recorded)
      },

      async 'order: concurrent batches of two stores do not mix'({ audit, reopen }) {
        const logs = [audit, await reopen()]
        const calls = upTo(0, 19).map((i) => logs[i % 2]!.store.append(drafts(25, 25 * i)))
        const batches = await Promise.all(calls)
        const inOrder = batches.toSorted((a, b) => (a[0]!.created_at < b[0]!.created_at ? -1 : 1))
        for (const log of logs) assert.deepEqual(await everything(log), inOrder.flat())
      },
    },
    'reopen',
  ),
]
