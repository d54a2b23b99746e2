import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuditLog } from '../../audit-log.js'
import type { AuditEvent, JsonObject } from '../../event/event.js'
import { parseEventId } from '../../event/event-id.js'
import type { AuditLogStats } from '../../recording/outcomes.js'
import { formatTimestamp, SECOND } from '../../event/timestamp.js'
import { type Case, cases } from './context.js'
import {
  settle,
  draft,
  eventually,
  allEvents,
  exactData,
  numbersOf,
  recordSome,
  rejectsWith,
  suffixesOf,
  TIMEOUT_MS,
  timeOf,
  range,
} from './helpers.js'
import { pollDuring } from './order.js'

/** Records events numbered from `first` on in the transaction. */
async function enlistSome(
  audit: AuditLog,
  transaction: object,
  count: number,
  first = 0,
): Promise<void> {
  const given = await Promise.all(
    range(first, first + count - 1).map((n) =>
      audit.recordCustom('test:event', { n }, { transaction }),
    ),
  )
  assert.deepEqual([...new Set(given)], [undefined], 'record returned an event before the commit')
}

const isBalanced = ({ calls, ...states }: AuditLogStats): boolean =>
  calls === Object.values(states).reduce((sum, count) => sum + count, 0)

export const transactionCases: readonly Case[] = [
  ...cases({
    async 'transaction: an invalid handle is refused, and nothing is stored'({ store, audit }) {
      const invalid: object[] = [{}, [], new Map(), Object.create(null) as object, store, () => {}]
      for (const transaction of invalid) {
        await rejectsWith(audit.recordCustom('own', {}, { transaction }), 'INVALID_OPTION')
        if (store.enlist) await rejectsWith(store.enlist(draft({}), transaction), 'INVALID_OPTION')
      }
      const events = await recordSome(audit, 1)
      assert.deepEqual(await allEvents(audit), events)
    },
  }),

  ...cases(
    {
      async 'transaction: its events become visible after the commit, before those of the next append'({
        audit,
        transaction,
      }) {
        const before = await recordSome(audit, 2)
        const { handle, commit } = await transaction()
        await enlistSome(audit, handle, 3, 2)
        await settle()
        assert.deepEqual(await allEvents(audit), before)
        await commit()
        const [next] = await recordSome(audit, 1, 5)
        const all = await allEvents(audit)
        assert.deepEqual(numbersOf(all), range(0, 5))
        assert.deepEqual(all.slice(0, 2), before)
        assert.deepEqual(all[5], next)
        const times = all.map((event) => event.created_at)
        assert.deepEqual(times, times.toSorted())
        assert.equal(new Set(times).size, 6)
        for (const event of all) {
          assert.deepEqual(await audit.get(event.id), event)
          assert.equal(parseEventId(event.id)?.time, timeOf(event))
        }
      },

      async 'transaction: without an append its events become visible soon'({
        audit,
        transaction,
      }) {
        const { handle, commit } = await transaction()
        await enlistSome(audit, handle, 3)
        await commit()
        await eventually('the committed events', async () => (await allEvents(audit)).length > 0)
        assert.deepEqual(numbersOf(await allEvents(audit)), [0, 1, 2])
      },

      async 'transaction: after a rollback there are no events'({ audit, transaction }) {
        const { handle, rollback } = await transaction()
        await enlistSome(audit, handle, 3)
        await rollback()
        const events = await recordSome(audit, 1)
        assert.deepEqual(await allEvents(audit), events)
        await delay(1200)
        assert.deepEqual(await allEvents(audit), events)
      },

      async 'transaction: an open transaction does not block readers'({ audit, transaction }) {
        const events = await recordSome(audit, 3)
        const { handle, commit } = await transaction()
        await enlistSome(audit, handle, 2, 3)
        const signal = AbortSignal.timeout(TIMEOUT_MS)
        assert.deepEqual((await audit.list('', { signal })).events, events)
        const sorted = await audit.list('filter[sorts]=n desc', { signal })
        assert.deepEqual(numbersOf(sorted.events), [2, 1, 0])
        assert.deepEqual(await audit.get(events[0]!.id, { signal }), events[0])
        await commit()
      },

      async 'transaction: events are stored in call order'({ audit, transaction }) {
        const first = await transaction()
        await enlistSome(audit, first.handle, 100)
        await first.commit()
        const second = await transaction()
        await enlistSome(audit, second.handle, 100, 100)
        await second.commit()
        await recordSome(audit, 1, 200)
        assert.deepEqual(numbersOf(await allEvents(audit)), range(0, 200))
      },

      async 'transaction: thousands of events become visible, in order'({ audit, transaction }) {
        const { handle, commit } = await transaction()
        await enlistSome(audit, handle, 2500)
        await commit()
        await recordSome(audit, 1, -1)
        await eventually(
          'the committed events',
          async () => (await allEvents(audit)).length === 2501,
        )
        const seen = numbersOf(await allEvents(audit)).filter((n) => n !== -1)
        assert.deepEqual(seen, range(0, 2499))
      },

      async 'transaction: events are stored exactly, with their suffixes'({
        store,
        audit,
        transaction,
      }) {
        const all: JsonObject[] = [exactData, {}, { text: '\uFFFF {}\\N\n' }, { b: 1, a: 2 }]
        const given = [
          ...all.map((data) => draft(data)),
          draft({ n: 1 }, { username: "NULL'\\N", source: '/api/projects/acme' }),
          draft({ n: 2 }, { system: true, type: 'api:x:{a,"b"}', username: 'line\nline' }),
        ]
        const { handle, commit } = await transaction()
        for (const one of given) await store.enlist!(one, handle)
        await commit()
        await store.append([])
        await eventually('the committed events', async () => (await allEvents(audit)).length > 0)
        const events = await allEvents(audit)
        assert.deepEqual(
          suffixesOf(events),
          given.map(({ suffix }) => suffix),
        )
        for (const [i, { username, system, type, source, attributes, json }] of given.entries()) {
          const event = events[i]!
          assert.equal(JSON.stringify(event.attributes), json)
          const { id, created_at } = event
          const expected = { id, created_at, username, system, type, source, attributes }
          assert.deepEqual(event, expected)
        }
      },

      async 'transaction: an event visible within a second has no occurred_at'({
        audit,
        clock,
        transaction,
      }) {
        for (const step of [0, 0.9 * SECOND, -10 * SECOND]) {
          const { handle, commit } = await transaction()
          await enlistSome(audit, handle, 1)
          clock.advance(step)
          await commit()
          await recordSome(audit, 1)
        }
        for (const { attributes } of await allEvents(audit)) assert.deepEqual(attributes, { n: 0 })
      },

      async 'transaction: an event visible later has its recording time as occurred_at'({
        audit,
        clock,
        transaction,
      }) {
        const own = '2020-02-03T04:05:06.000007Z'
        const { handle, commit } = await transaction()
        const occurred_at = formatTimestamp(clock())
        const given: JsonObject[] = [{ z: 1, a: [2] }, {}, { occurred_at: own, n: 1 }]
        for (const data of given) await audit.recordCustom('late', data, { transaction: handle })
        clock.advance(1.5 * SECOND)
        await audit.recordCustom('late', { n: 2 }, { transaction: handle })
        await commit()
        await recordSome(audit, 1)
        const late = (await allEvents(audit)).slice(0, 4)
        assert.deepEqual(
          late.map((event) => JSON.stringify(event.attributes)),
          [
            JSON.stringify({ z: 1, a: [2], occurred_at }),
            JSON.stringify({ occurred_at }),
            JSON.stringify({ occurred_at: own, n: 1 }),
            JSON.stringify({ n: 2 }),
          ],
        )
        assert.ok(late[0]!.created_at > occurred_at)
        const find = async (filter: Record<string, unknown>): Promise<AuditEvent[]> => {
          return [...(await audit.list({ filter })).events]
        }
        assert.deepEqual(await find({ occurred_at_eq: occurred_at }), late.slice(0, 2))
        assert.deepEqual(await find({ occurred_at_not_null: '1' }), late.slice(0, 3))
        assert.deepEqual(await find({ occurred_at_start: '2020', n_eq: '1' }), [late[2]])
      },

      async 'transaction: an aborted signal adds nothing'({ store, audit, transaction }) {
        await recordSome(audit, 1)
        const { handle, commit } = await transaction()
        const signal = AbortSignal.abort()
        await rejectsWith(store.enlist!(draft({ n: 1 }), handle, { signal }), 'ABORTED')
        const call = audit.recordCustom('own', { n: 1 }, { transaction: handle, signal })
        await rejectsWith(call, 'ABORTED')
        await enlistSome(audit, handle, 1, 2)
        await commit()
        await recordSome(audit, 1, 3)
        assert.deepEqual(numbersOf(await allEvents(audit)), [0, 2, 3])
      },

      async 'transaction: the statistics count every call'({ audit, transaction }) {
        const { handle, commit } = await transaction()
        const calls = enlistSome(audit, handle, 3)
        assert.ok(isBalanced(audit.stats()))
        await calls
        assert.equal(audit.stats().journalled, 3)
        await rejectsWith(audit.recordCustom('own', {}, { transaction: {} }), 'INVALID_OPTION')
        await commit()
        await recordSome(audit, 2)
        const { calls: count, journalled, stored, rejected } = audit.stats()
        assert.deepEqual([count, journalled, stored, rejected], [6, 3, 2, 1])
        assert.ok(isBalanced(audit.stats()))
      },

      async 'transaction: a concurrent append and the commit result in one order'({
        audit,
        transaction,
      }) {
        const { polled } = await pollDuring(audit, async () => {
          const { handle, commit } = await transaction()
          await enlistSome(audit, handle, 3)
          const meanwhile = recordSome(audit, 3, 3)
          await settle()
          await commit()
          await meanwhile
          await recordSome(audit, 1, 6)
        })
        const all = await allEvents(audit)
        assert.deepEqual(polled, all)
        assert.deepEqual(new Set(numbersOf(all)), new Set(range(0, 6)))
        const enlisted = numbersOf(all).filter((n) => Number(n) < 3)
        assert.deepEqual(enlisted, [0, 1, 2])
      },
    },
    'transaction',
  ),

  ...cases(
    {
      async 'transaction: an append of another store makes its events visible'({
        audit,
        transaction,
        reopen,
      }) {
        const other = await reopen()
        const before = await recordSome(audit, 1)
        const { handle, commit } = await transaction()
        await enlistSome(audit, handle, 2, 1)
        await commit()
        const after = await recordSome(other, 1, 3)
        const all = await allEvents(audit)
        assert.deepEqual(numbersOf(all), [0, 1, 2, 3])
        assert.deepEqual([all[0], all[3]], [before[0], after[0]])
        assert.deepEqual(await allEvents(other), all)
      },

      async 'transaction: events committed before their store closes become visible after it reopens'({
        audit,
        transaction,
        reopen,
      }) {
        const { handle, commit } = await transaction()
        await enlistSome(audit, handle, 2)
        await commit()
        await audit.close()
        const again = await reopen()
        await eventually('the committed events', async () => (await allEvents(again)).length > 0)
        assert.deepEqual(numbersOf(await allEvents(again)), [0, 1])
      },

      async 'transaction: readers see each event once while two stores write'({
        audit,
        clock,
        transaction,
        reopen,
      }) {
        const [other, reader] = [await reopen(), await reopen()]
        const committed: number[] = []
        const host = async (): Promise<void> => {
          for (const round of range(1, 12)) {
            const { handle, commit, rollback } = await transaction()
            await enlistSome(round % 2 ? audit : other, handle, round, 1000 * round)
            clock.advance(round % 3 ? 700 : -2000)
            if (round % 4 === 0) await rollback()
            else {
              await commit()
              committed.push(...range(1000 * round, 1000 * round + round - 1))
            }
            await delay(round % 4)
          }
        }
        const write = async (log: AuditLog): Promise<AuditEvent[]> => {
          const written: AuditEvent[] = []
          for (const round of range(1, 20)) {
            written.push(...(await recordSome(log, 1 + (round % 7))))
            await delay(round % 3)
          }
          return written
        }
        const { result: written, polled } = await pollDuring(reader, async () => {
          const [one, another] = await Promise.all([write(audit), write(other), host()])
          return [...one, ...another, ...(await recordSome(other, 1))]
        })
        const all = await allEvents(reader)
        assert.deepEqual(polled, all)
        assert.deepEqual(
          numbersOf(all).filter((n) => Number(n) >= 1000),
          committed,
        )
        assert.equal(all.length, committed.length + written.length)
      },
    },
    'transaction',
    'reopen',
  ),
]
