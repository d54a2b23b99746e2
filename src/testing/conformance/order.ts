import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuditLog } from '../../audit-log.js'
import type { AuditEvent } from '../../event/event.js'
import { type Case, cases } from './context.js'
import type { ManualClock } from './manual-clock.js'
import { SECOND } from '../../event/timestamp.js'
import { drafts, allEvents, numbersOf, recordSome, turns, range } from './helpers.js'

/** Runs `work`. Returns its result and the events that a polling client received during the run. */
export async function pollDuring<Result>(
  audit: AuditLog,
  work: () => Promise<Result>,
): Promise<{ result: Result; polled: AuditEvent[] }> {
  let isDone = false
  const [result, polled] = await Promise.all([
    work().finally(() => (isDone = true)),
    poll(audit, () => isDone),
  ])
  return { result, polled }
}

/** Polls for events later than the newest received, until `isDone`. Returns all received events. */
async function poll(audit: AuditLog, isDone: () => boolean): Promise<AuditEvent[]> {
  const seen: AuditEvent[] = []
  for (let rounds = 0; ; rounds++) {
    // Checked before reading. So events that are visible now are in this page or in the next one.
    const wasDone = isDone()
    const created_at_gt = seen.at(-1)?.created_at ?? '1970-01-01'
    const page = await audit.list({
      filter: { created_at_gt, sorts: 'created_at' },
      limit: 1 + ((rounds * 37) % 200),
    })
    seen.push(...page.events)
    if (wasDone && !page.truncated) return seen
    await turns(1 + (rounds % 3))
  }
}

/** Polls for the newest events and pages back to the last received one, until `isDone`. */
async function pollBackwards(audit: AuditLog, isDone: () => boolean): Promise<AuditEvent[]> {
  const seen: AuditEvent[] = []
  for (let rounds = 0; ; rounds++) {
    const wasDone = isDone()
    const created_at_gt = seen.at(-1)?.created_at ?? '1970-01-01'
    const fresh: AuditEvent[] = []
    for (let before = '2099-01-01'; ; before = fresh[0]!.created_at) {
      const { events, truncated } = await audit.list({
        filter: { created_at_gt, created_at_lt: before },
        limit: 5 + (rounds % 60),
      })
      fresh.unshift(...events)
      if (!truncated) break
      assert.ok(events.length > 0, 'an empty page is truncated')
    }
    seen.push(...fresh)
    if (wasDone) return seen
    await turns(1 + (rounds % 5))
  }
}

/** Reads all pages from the newest to the oldest event, repeatedly. Returns one list per pass. */
async function pageBack(audit: AuditLog, isDone: () => boolean): Promise<AuditEvent[][]> {
  const passes: AuditEvent[][] = []
  while (!isDone()) {
    const seen: AuditEvent[] = []
    for (let before = '2099-01-01'; ; before = seen[0]!.created_at) {
      const { events, truncated } = await audit.list({
        filter: { created_at_lt: before },
        limit: 50 + 10 * (passes.length % 20),
      })
      seen.unshift(...events)
      if (!truncated) break
      assert.ok(events.length > 0, 'an empty page is truncated')
    }
    passes.push(seen)
    await delay(passes.length % 8)
  }
  return passes
}

const ROUNDS = 30

/** Appends batches of many sizes, two at a time, while the clock steps back and forth. */
async function write({ store }: AuditLog, clock: ManualClock): Promise<AuditEvent[]> {
  const written: AuditEvent[] = []
  for (const round of range(1, ROUNDS)) {
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
  let isDone = false
  const writing = Promise.all(writers.map((audit) => write(audit, clock)))
  const [batches, polled, polledBackwards, paged] = await Promise.all([
    writing.finally(() => (isDone = true)),
    poll(reader, () => isDone),
    pollBackwards(reader, () => isDone),
    pageBack(reader, () => isDone),
  ])
  const ids = (events: readonly AuditEvent[]): string[] => events.map((event) => event.id)
  const all = await allEvents(reader)
  assert.deepEqual(ids(all).toSorted(), ids(batches.flat()).toSorted(), 'appended events')
  assert.deepEqual(ids(polled), ids(all), 'events seen by polling with created_at_gt')
  assert.deepEqual(ids(polledBackwards), ids(all), 'events seen by polling for the newest')
  for (const seen of paged)
    assert.deepEqual(ids(seen), ids(all.slice(0, seen.length)), 'events seen by paging back')
}

export const orderCases: readonly Case[] = [
  ...cases({
    async 'order: readers see each event once while appends overlap'({ audit, clock }) {
      await followWhileWriting([audit, audit], audit, clock)
    },

    async 'order: created_at increases while the clock steps back and forth'({ audit, clock }) {
      const recorded: AuditEvent[] = []
      for (const step of [0, -1, -SECOND, 2 * SECOND, -86_400 * SECOND, 1, 0, 86_400 * SECOND]) {
        clock.advance(step)
        recorded.push(...(await recordSome(audit, 3, recorded.length)))
      }
      const times = recorded.map((event) => event.created_at)
      assert.deepEqual(times, times.toSorted())
      assert.equal(new Set(times).size, times.length)
      assert.deepEqual(await allEvents(audit), recorded)
    },
  }),

  ...cases(
    {
      async 'order: readers see each event once while two stores write'({ audit, clock, reopen }) {
        const [other, reader] = [await reopen(), await reopen()]
        await followWhileWriting([audit, other], reader, clock)
        assert.deepEqual(await allEvents(audit), await allEvents(other))
      },

      async 'order: two stores share one order while the clock steps back and forth'({
        audit,
        clock,
        reopen,
      }) {
        const other = await reopen()
        const recorded: AuditEvent[] = []
        for (const round of range(0, 9)) {
          clock.advance(round % 2 ? -30 * SECOND : SECOND)
          recorded.push(...(await recordSome(round % 2 ? audit : other, 3, 3 * round)))
        }
        assert.deepEqual(numbersOf(recorded), range(0, 29))
        const times = recorded.map((event) => event.created_at)
        assert.deepEqual(times, times.toSorted())
        assert.equal(new Set(times).size, 30)
        for (const log of [audit, other]) assert.deepEqual(await allEvents(log), recorded)
      },

      async 'order: concurrent batches of two stores do not interleave'({ audit, reopen }) {
        const logs = [audit, await reopen()]
        const calls = range(0, 19).map((i) => logs[i % 2]!.store.append(drafts(25, 25 * i)))
        const batches = await Promise.all(calls)
        const inOrder = batches.toSorted((a, b) => (a[0]!.created_at < b[0]!.created_at ? -1 : 1))
        for (const log of logs) assert.deepEqual(await allEvents(log), inOrder.flat())
      },
    },
    'reopen',
  ),
]
