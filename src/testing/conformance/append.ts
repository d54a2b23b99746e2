import assert from 'node:assert/strict'
import type { AuditEvent } from '../../event/event.js'
import { parseEventId } from '../../event/event-id.js'
import { type EventPage, type SuppressedCount, readTuning } from '../../store/store.js'
import { type Microseconds, MINUTE, parseTimestamp, SECOND } from '../../event/timestamp.js'
import { type Case, cases } from './context.js'
import {
  settle,
  draft,
  drafts,
  allEvents,
  numbersOf,
  recordSome,
  rejectsWith,
  suffixesOf,
  throttled,
  timeOf,
  turns,
  unlessAborted,
  range,
} from './helpers.js'

// Appends are aborted after 0 to LAST_TURN turns of the event loop.
const LAST_TURN = 24

const suppressedOnce = (time: Microseconds): SuppressedCount => ({
  key: 'test:event',
  type: 'test:event',
  scope: {},
  period: MINUTE,
  count: 1,
  first: time,
  last: time,
})

export const appendCases: readonly Case[] = cases({
  async 'append: returns events in order, each with a later created_at'({ audit, clock }) {
    const first = await recordSome(audit, 20)
    clock.advance(1)
    const second = await recordSome(audit, 20)
    const times = [...first, ...second].map((event) => event.created_at)
    assert.deepEqual(times, times.toSorted())
    assert.equal(new Set(times).size, 40)
    assert.match(times[0]!, /^2026-01-01T00:00:00\.\d{6}Z$|^2025-12-31T23:59:59\.\d{6}Z$/)
    assert.deepEqual(numbersOf(first), range(0, 19))
  },

  async 'append: an id is a UUID version 7 that contains created_at'({ audit }) {
    for (const event of await recordSome(audit, 3)) {
      assert.match(
        event.id,
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
      assert.equal(parseEventId(event.id)?.time, parseTimestamp(event.created_at))
    }
  },

  async 'append: an id ends with the suffix of its draft'({ store, audit }) {
    const batch = drafts(3)
    const suffixes = batch.map(({ suffix }) => suffix)
    assert.deepEqual(suffixesOf(await store.append(batch)), suffixes)
    assert.deepEqual(suffixesOf(await allEvents(audit)), suffixes)
  },

  async 'append: returns the same events as get, list and pages'({ store, audit }) {
    const batch = [
      draft({ n: 1, list: [{ deep: null }] }, { username: 'ann', source: '/api/projects/acme' }),
      draft({}, { system: true, type: 'api:changes:create' }),
    ]
    const events = await store.append(batch)
    assert.deepEqual(
      events.map(({ username, system, type, source, attributes }) => {
        return { username, system, type, source, attributes }
      }),
      batch.map(({ username, system, type, source, attributes }) => {
        return { username, system, type, source, attributes }
      }),
    )
    for (const event of events) assert.deepEqual(await store.get(event.id), event)
    assert.deepEqual((await audit.list()).events, events)
    assert.deepEqual(await allEvents(audit), events)
  },

  async 'append: mutating a draft or a returned event does not change the log'({ store, audit }) {
    const given = draft({ list: [1] })
    const [event] = await store.append([given])
    const [listed] = (await audit.list()).events
    for (const { attributes } of [given, event!, listed!]) {
      try {
        attributes['added'] = true
        ;(attributes['list'] as unknown[]).push(2)
      } catch (error) {
        assert.ok(error instanceof TypeError, 'frozen, or a copy')
      }
    }
    assert.deepEqual((await store.get(event!.id))?.attributes, { list: [1] })
    assert.deepEqual((await allEvents(audit))[0]?.attributes, { list: [1] })
  },

  async 'append: created_at still increases after the clock steps back'({ audit, clock }) {
    const [before] = await recordSome(audit, 1)
    clock.advance(-3_600_000_000)
    const [after] = await recordSome(audit, 1)
    assert.ok(after!.created_at > before!.created_at)
    clock.advance(7_200_000_000)
    const [later] = await recordSome(audit, 1)
    assert.equal(later!.created_at, '2026-01-01T01:00:00.000000Z')
  },

  async 'append: an empty batch stores nothing'({ store, audit }) {
    assert.deepEqual(await store.append([]), [])
    assert.deepEqual(await allEvents(audit), [])
  },

  async 'append: accepts maxBatch drafts'({ store, audit }) {
    const { maxBatch } = readTuning(store)
    assert.ok(Number.isInteger(maxBatch) && maxBatch >= 1)
    const events = await store.append(drafts(maxBatch))
    assert.deepEqual(numbersOf(events), range(0, maxBatch - 1))
    assert.deepEqual(await allEvents(audit), events)
  },

  async 'append: an aborted signal stores nothing'({ store, audit }) {
    const signal = AbortSignal.abort()
    await rejectsWith(store.append([], { signal }), 'ABORTED')
    await rejectsWith(store.append(drafts(3), { signal }), 'ABORTED')
    await rejectsWith(audit.recordCustom('a:b:c', {}, { signal }), 'ABORTED')
    assert.deepEqual(await allEvents(audit), [])
    await settle()
    assert.deepEqual(await allEvents(audit), [])
  },

  async 'append: aborted while running, it stores all drafts or none, also later'({
    store,
    audit,
  }) {
    const stored: AuditEvent[] = []
    for (const turn of range(0, LAST_TURN)) {
      const controller = new AbortController()
      const { signal } = controller
      const call = unlessAborted(store, drafts(5, 5 * turn), signal)
      await turns(turn)
      controller.abort()
      stored.push(...(await call))
      assert.deepEqual(await allEvents(audit), stored, `aborted after ${turn} turns`)
    }
    await settle()
    assert.deepEqual(await allEvents(audit), stored)
    stored.push(...(await recordSome(audit, 1)))
    assert.deepEqual(await allEvents(audit), stored)
  },

  async 'append: drafts given again after they were aborted are stored once'({ store, audit }) {
    const stored: AuditEvent[] = []
    for (const turn of range(0, LAST_TURN)) {
      const batch = drafts(5, 5 * turn)
      const controller = new AbortController()
      const call = store.append(batch, { signal: controller.signal })
      const events = call.catch(() => store.append(batch))
      await turns(turn)
      controller.abort()
      stored.push(...(await events))
    }
    assert.deepEqual(numbersOf(stored), range(0, 5 * LAST_TURN + 4))
    assert.deepEqual(await allEvents(audit), stored)
  },

  async 'append: stores nothing after the deadline'({ store, audit }) {
    const deadline = performance.now() - 1
    await rejectsWith(store.append(drafts(3), { deadline }), 'ABORTED')
    assert.deepEqual(await allEvents(audit), [])
    const events = await store.append(drafts(3), { deadline: performance.now() + 60_000 })
    assert.deepEqual(await allEvents(audit), events)
  },

  async 'append: drafts stored after `since` are not stored again'({ store, audit, clock }) {
    await store.append(drafts(2, -2))
    const since = timeOf((await allEvents(audit)).at(-1))
    clock.advance(SECOND)
    await store.reportSuppressed({ reporter: 'a', number: 1, counts: [suppressedOnce(since)] })
    const batch = [
      draft({ n: 0 }),
      throttled({ n: 1 }),
      draft({ n: 2 }, { live: true }),
      draft({ n: 3, open: true }, { live: true }),
    ]
    const stored = await store.append(batch)
    assert.equal(stored[1]!.attributes['suppressed_count'], 1)
    clock.advance(SECOND)
    await store.append(drafts(1, -3))
    const closed = await store.closeLive(stored[2]!.id, { revision: 1, json: '{"n":2,"last":1}' })
    const again = [...batch.slice(2), draft({ n: 4 }), ...batch.slice(0, 2), throttled({ n: 5 })]
    const suppressed: unknown[] = []
    const events = await store.append(again, {
      since,
      onSuppressed: (one) => suppressed.push(one.attributes['n']),
    })
    assert.deepEqual(events, [closed, stored[3], events[2], stored[0], stored[1]])
    assert.deepEqual(suppressed, [5])
    assert.deepEqual(numbersOf(await allEvents(audit)), [-2, -1, 0, 1, 2, 3, -3, 4])
    assert.deepEqual(await store.openEvents(), [{ id: stored[3]!.id, revision: 0 }])
  },

  async 'append: with `since`, drafts that were never stored are stored'({ store, audit }) {
    for (const since of [0, 1_767_225_600_000_000]) {
      const batch = drafts(3, since === 0 ? 0 : 3)
      assert.deepEqual(
        suffixesOf(await store.append(batch, { since })),
        batch.map(({ suffix }) => suffix),
      )
    }
    assert.deepEqual(numbersOf(await allEvents(audit)), range(0, 5))
  },

  async 'append: onStored is called once at most, when the events are visible and append has not resolved'({
    store,
    audit,
  }) {
    const controller = new AbortController()
    const order: string[] = []
    let listed: Promise<EventPage> | undefined
    let durable: Promise<void> | undefined
    const listDurable = async (): Promise<void> => {
      const { events } = await audit.list({}, { durable: true })
      if (events.length === 0) return
      // The disk may confirm both batches at the same time.
      await turns(2)
      order.push('listed as durable')
    }
    const onStored = (): void => {
      order.push('stored')
      listed = audit.list()
      durable = listDurable()
      // The signal does not end the call any more.
      controller.abort()
    }
    const events = await store.append(drafts(3), { signal: controller.signal, onStored })
    order.push('resolved')
    await durable
    await turns(2)
    const orders = ['resolved', 'stored, resolved', 'stored, resolved, listed as durable']
    assert.ok(orders.includes(order.join(', ')), order.join(', '))
    if (listed) assert.deepEqual((await listed).events, events)
    assert.deepEqual(await allEvents(audit), events)
  },

  async 'append: events keep username, system, type and source'({ audit }) {
    await audit.recordSystem('api:changes:create', { project_path: '/projects/acme' })
    await audit.recordCustom('own', {}, { username: 'bob' })
    const { events } = await audit.list()
    assert.deepEqual(
      events.map(({ username, system, type, source }) => ({ username, system, type, source })),
      [
        { username: null, system: true, type: 'api:changes:create', source: '/api/projects/acme' },
        { username: 'bob', system: false, type: 'own', source: null },
      ],
    )
  },

  async 'append: concurrent records are stored in call order'({ audit }) {
    const events = await recordSome(audit, 2500)
    assert.deepEqual(numbersOf(events), range(0, 2499))
    const times = events.map((event) => event.created_at)
    assert.deepEqual(times, times.toSorted())
  },

  async 'append: concurrent batches do not interleave'({ store, audit }) {
    const batches = await Promise.all(range(0, 19).map((i) => store.append(drafts(25, 25 * i))))
    for (const [i, batch] of batches.entries())
      assert.deepEqual(numbersOf(batch), range(25 * i, 25 * i + 24))
    const inOrder = batches.toSorted((a, b) => (a[0]!.created_at < b[0]!.created_at ? -1 : 1))
    assert.deepEqual(await allEvents(audit), inOrder.flat())
  },
})
