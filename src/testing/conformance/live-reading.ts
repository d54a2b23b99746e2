import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuditLog } from '../../audit-log.js'
import type { AuditEvent } from '../../event/event.js'
import type { EventStore } from '../../store/store.js'
import { type Case, cases } from './context.js'
import { draft, drafts, allEvents, numbersOf, timeOf, turns, range } from './helpers.js'
import { openLive } from './live-events.js'
import { pollDuring } from './order.js'

/** The numbers of the events that match the filter. */
const find = async (audit: AuditLog, filter: Record<string, unknown>): Promise<unknown[]> =>
  numbersOf((await audit.list({ filter, limit: 1000 })).events)

const ids = (events: readonly AuditEvent[]): string[] => events.map(({ id }) => id)

/** Writes ordinary and live events, changes and closes the live ones. Returns all events in order. */
async function writeLive(store: EventStore, rounds: number): Promise<AuditEvent[]> {
  const written: AuditEvent[] = []
  const open: { id: string; revision: number }[] = []
  for (const round of range(1, rounds)) {
    const batch = range(0, round % 5).map((n) =>
      draft({ n, text: '' }, n % 3 === 0 ? { live: true } : {}),
    )
    const events = await store.append(batch)
    written.push(...events)
    for (const [i, { id }] of events.entries()) if (i % 3 === 0) open.push({ id, revision: 0 })
    for (const live of open) {
      const texts = [{ key: 'text', text: `${round} `, replaces: false }]
      assert.equal(await store.changeLive(live.id, { revision: ++live.revision, texts }), true)
    }
    while (open.length > 3) {
      const { id, revision } = open.splice(round % 2, 1)[0]!
      await store.closeLive(id, { revision: revision + 1 })
    }
    if (round % 3 === 0) await delay(round % 4)
  }
  await Promise.all(open.map(({ id, revision }) => store.closeLive(id, { revision: revision + 1 })))
  return written
}

export const liveReadingCases: readonly Case[] = [
  ...cases({
    async 'live: filters match its current attributes'({ store, audit }) {
      await store.append([draft({ n: 1, stage: 'first', log: 'nothing' })])
      const event = await openLive(store, { n: 2, stage: 'first', log: '' }, { username: 'ann' })
      await store.append([draft({ n: 3, stage: 'second' })])
      assert.deepEqual(await find(audit, { stage_eq: 'first' }), [1, 2])
      assert.deepEqual(await find(audit, { log_not_null: '1', log_blank: '1' }), [2])
      const json = JSON.stringify({ n: 2, stage: 'second', log: '', deep: [{ er: true }] })
      await store.changeLive(event.id, { revision: 1, json })
      for (const text of ['fetch', 'ed it']) {
        const revision = text === 'fetch' ? 2 : 3
        const texts = [{ key: 'log', text, replaces: false }]
        await store.changeLive(event.id, { revision, texts })
      }
      const check = async (): Promise<void> => {
        const found: [Record<string, unknown>, number[]][] = [
          [{ stage_eq: 'first' }, [1]],
          [{ stage_eq: 'second' }, [2, 3]],
          [{ stage_not_eq: 'first' }, [2, 3]],
          [{ log_eq: 'fetched it' }, [2]],
          [{ log_cont: 'HED' }, [2]],
          [{ log_eq: 'nothing' }, [1]],
          [{ log_null: '1' }, [3]],
          [{ deep_er_true: '1' }, [2]],
          [{ deep_null: '1' }, [1, 3]],
          [{ username_eq: 'ann' }, [2]],
          [{ username_null: '1' }, [1, 3]],
          [{ type_eq: 'test:event' }, [1, 2, 3]],
          [{ id_eq: event.id }, [2]],
          [{ id_not_eq: event.id }, [1, 3]],
          [{ created_at_eq: event.created_at }, [2]],
          [{ created_at_gt: event.created_at }, [3]],
          [{ created_at_lt: event.created_at }, [1]],
          [{ created_at_gteq: event.created_at, stage_eq: 'second', n_lt: 3 }, [2]],
          [{ m: 'or', n_eq: 1, deep_er_true: '1' }, [1, 2]],
        ]
        for (const [filter, expected] of found)
          assert.deepEqual(await find(audit, filter), expected, JSON.stringify(filter))
      }
      await check()
      await store.closeLive(event.id, { revision: 4 })
      await check()
    },

    async 'live: sorts and limits treat it like any other event'({ store, audit }) {
      const batch = range(0, 11).map((n) =>
        draft({ n, value: (n * 5) % 12 }, n % 4 === 1 ? { live: true } : {}),
      )
      const events = await store.append(batch)
      const byValue = events.toSorted(
        (a, b) => Number(a.attributes['value']) - Number(b.attributes['value']),
      )
      for (const limit of range(1, 13)) {
        const truncated = limit < 12
        const expected = new Map([
          ['', events.slice(-limit)],
          ['created_at', events.slice(0, limit)],
          ['created_at desc', events.toReversed().slice(0, limit)],
          ['value', byValue.slice(0, limit)],
          ['value desc', byValue.toReversed().slice(0, limit)],
          ['type', events.slice(0, limit)],
        ])
        for (const [sorts, sorted] of expected)
          assert.deepEqual(
            await audit.list({ filter: { sorts }, limit }),
            { events: sorted, truncated },
            `${sorts} ${limit}`,
          )
        const live = events.filter((_, n) => n % 4 === 1)
        const odd = await audit.list({ filter: { n_in: [1, 5, 9] }, limit })
        assert.deepEqual(odd, { events: live.slice(-limit), truncated: limit < 3 })
      }
    },

    async 'live: paging returns it once, also with hundreds of open events'({ store, audit }) {
      const all: AuditEvent[] = []
      for (const round of range(0, 4)) {
        all.push(...(await store.append(drafts(400, 450 * round))))
        const live = range(450 * round + 400, 450 * round + 449).map((n) =>
          draft({ n }, { live: true }),
        )
        all.push(...(await store.append(live)))
      }
      assert.equal((await store.openEvents()).length, 250)
      assert.deepEqual(numbersOf(await allEvents(audit)), range(0, 2249))
      const back: unknown[] = []
      for (let before = '2099-01-01', isMore = true; isMore;) {
        const page = await audit.list({ filter: { created_at_lt: before }, limit: 130 })
        back.unshift(...numbersOf(page.events))
        isMore = page.truncated
        before = page.events[0]!.created_at
      }
      assert.deepEqual(back, range(0, 2249))
      const open = await store.openEvents()
      const times = await Promise.all(open.map(async ({ id }) => timeOf(await store.get(id))))
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a - b),
      )
    },

    async 'live: pollers see it once, at its place in the order'({ store, audit }) {
      const { result, polled } = await pollDuring(audit, () => writeLive(store, 40))
      assert.deepEqual(ids(polled), ids(result))
      assert.deepEqual(ids(await allEvents(audit)), ids(result))
      assert.deepEqual(await store.openEvents(), [])
    },

    async 'live: a tail delivers it once'({ store, audit }) {
      const tail = audit.tail('', { after: '2000-01-01' })
      const written = await writeLive(store, 10)
      const received: AuditEvent[] = []
      while (received.length < written.length)
        received.push((await tail.next()).value as AuditEvent)
      await tail.return()
      assert.deepEqual(ids(received), ids(written))
    },

    async 'live: reads neither miss nor repeat an event that changes or closes meanwhile'({
      store,
      audit,
    }) {
      const before = await store.append(drafts(1500))
      const live = await store.append(
        range(0, 19).map((n) => draft({ n, state: 'open', text: '' }, { live: true })),
      )
      const after = await store.append(drafts(1500))
      const all = ids([...before, ...live, ...after])
      let isDone = false
      const change = async (): Promise<void> => {
        for (const [i, { id }] of live.entries()) {
          for (const revision of range(1, 3)) {
            const texts = [{ key: 'text', text: 'x', replaces: false }]
            await store.changeLive(id, { revision, texts })
            await turns(i % 3)
          }
          const json = JSON.stringify({ n: i, state: 'closed', text: '' })
          await store.closeLive(id, { revision: 4, json })
        }
      }
      const read = async (): Promise<void> => {
        for (let rounds = 0; !isDone || rounds < 3; rounds++) {
          assert.deepEqual(ids(await allEvents(audit)), all)
          const states = await audit.list({ filter: { state_not_null: '1' }, limit: 100 })
          assert.deepEqual(ids(states.events), ids(live))
          const sorted = await audit.list({ filter: { state_in: ['open', 'closed'], sorts: 'n' } })
          assert.deepEqual(numbersOf(sorted.events), range(0, 9))
          const read = await Promise.all(live.map(({ id }) => store.get(id)))
          assert.deepEqual(
            read.map((event) => event?.created_at),
            live.map((event) => event.created_at),
          )
          await turns(1)
        }
      }
      await Promise.all([change().finally(() => (isDone = true)), read()])
      assert.deepEqual(
        numbersOf((await audit.list({ filter: { text_eq: 'xxx' } })).events),
        range(10, 19),
      )
    },
  }),

  ...cases(
    {
      async 'live: readers of another store see each event once'({ store, reopen }) {
        const [writer, reader] = [(await reopen()).store, await reopen()]
        const { result, polled } = await pollDuring(reader, async () => {
          const written = await Promise.all([writeLive(store, 25), writeLive(writer, 25)])
          return written.flat().toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))
        })
        assert.deepEqual(ids(polled), ids(result))
        assert.deepEqual(ids(await allEvents(reader)), ids(result))
      },
    },
    'reopen',
  ),
]
