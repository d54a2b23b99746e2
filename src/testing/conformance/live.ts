import assert from 'node:assert/strict'
import type { AuditEvent } from '../../event/event.js'
import { type Case, cases } from './context.js'
import { SECOND } from '../../event/timestamp.js'
import {
  draft,
  drafts,
  allEvents,
  exactData,
  FAR,
  imported,
  numbersOf,
  rejectsWith,
  throttled,
  timeOf,
  turns,
  unlessAborted,
  range,
} from './helpers.js'
import { assertAttributes, addText, openLive } from './live-events.js'

// Appends are aborted after 0 to LAST_TURN turns of the event loop.
const LAST_TURN = 24

export const liveCases: readonly Case[] = [
  ...cases({
    async 'live: visible at once, at its place in the order'({ store, audit, clock }) {
      const batch = [draft({ n: 0 }), draft({ n: 1 }, { live: true }), draft({ n: 2 })]
      const first = await store.append(batch)
      clock.advance(SECOND)
      const live = await openLive(store, exactData)
      const events = [...first, live, ...(await store.append(drafts(2, 3)))]
      assert.deepEqual(await allEvents(audit), events)
      assert.deepEqual((await audit.list({ limit: 6 })).events, events)
      for (const event of events) assert.deepEqual(await store.get(event.id), event)
      assert.deepEqual(await store.openEvents(), [
        { id: events[1]!.id, revision: 0 },
        { id: live.id, revision: 0 },
      ])
    },

    async 'live: a closed event keeps the last change'({ store, audit }) {
      const before = await store.append(drafts(2))
      const event = await openLive(store, { a: '', n: 2 })
      const after = await store.append(drafts(2, 3))
      await store.changeLive(event.id, { revision: 1, texts: [addText('a', 'x')] })
      const last = {
        revision: 2,
        json: '{"n":2,"a":"","done":true}',
        texts: [addText('a', 'y')],
      }
      const closed = { ...event, attributes: { n: 2, a: 'xy', done: true } }
      for (const attempt of [1, 2]) {
        assert.deepEqual(await store.closeLive(event.id, last), closed, `attempt ${attempt}`)
        assert.deepEqual(await store.openEvents(), [])
        assert.deepEqual(await allEvents(audit), [...before, closed, ...after])
        assert.deepEqual(await store.get(event.id), closed)
      }
      assert.equal(await store.changeLive(event.id, { revision: 3, json: '{}' }), false)
      assert.equal(await store.changeLive(event.id, last), false)
      await assertAttributes(store, event, closed.attributes)
    },

    async 'live: closes with only the next revision, or with the last change repeated'({ store }) {
      for (const revision of [1, 2]) {
        const event = await openLive(store, { a: '' })
        const change = { revision: 1, texts: [addText('a', 'x')] }
        await store.changeLive(event.id, change)
        const last = revision === 1 ? change : { revision }
        const closed = { ...event, attributes: { a: 'x' } }
        assert.deepEqual(await store.closeLive(event.id, last), closed)
        await assertAttributes(store, event, { a: 'x' })
      }
      const untouched = await openLive(store, exactData)
      assert.deepEqual(await store.closeLive(untouched.id, { revision: 1 }), untouched)
    },

    async 'live: an event that is not open cannot be changed'({ store, audit }) {
      const [event] = await store.append(drafts(1))
      await audit.importEvents([imported()])
      const change = { revision: 1, json: '{"n":9}' }
      const unknown = event!.id.slice(0, -1) + (event!.id.endsWith('0') ? '1' : '0')
      for (const id of [event!.id, imported().id, unknown, '', 'nonsense', '\u0000'])
        assert.equal(await store.changeLive(id, change), false, id)
      for (const id of [unknown, '', 'nonsense', '\u0000'])
        assert.equal(await store.closeLive(id, change), undefined, id)
      assert.deepEqual(await store.closeLive(event!.id, change), event)
      assert.deepEqual(await allEvents(audit), [imported(), event])
      await store.touchLive([event!.id, unknown, 'nonsense'])
      await store.touchLive([])
    },

    async 'live: a heartbeat does not change it'({ store }) {
      const event = await openLive(store, { n: 1 })
      await store.touchLive([event.id])
      await store.touchLive([event.id])
      await assertAttributes(store, event, { n: 1 })
      assert.deepEqual(await store.openEvents(), [{ id: event.id, revision: 0 }])
    },

    async 'live: removals leave open events'({ store, audit }) {
      const events = await store.append(
        range(0, 9).map((n) => draft({ n }, n % 3 === 0 ? { live: true } : {})),
      )
      assert.equal(await store.removeBefore(timeOf(events[5])), 3)
      assert.equal(await store.remove([events[6]!.id, events[7]!.id]), 1)
      assert.equal(await store.removeBefore(FAR), 2)
      assert.equal(await store.removeBefore(FAR), 0)
      assert.deepEqual(numbersOf(await allEvents(audit)), [0, 3, 6, 9])
      for (const i of [0, 3]) await store.closeLive(events[i]!.id, { revision: 1 })
      assert.equal(await store.remove([events[0]!.id]), 1)
      assert.equal(await store.removeBefore(FAR), 1)
      assert.deepEqual(numbersOf(await allEvents(audit)), [6, 9])
      const change = { revision: 1, json: '{"n":66}' }
      assert.equal(await store.changeLive(events[6]!.id, change), true)
      assert.deepEqual(numbersOf(await allEvents(audit)), [66, 9])
      const [next] = await store.append(drafts(1))
      assert.ok(next!.created_at > events[9]!.created_at)
    },

    async 'live: an import cannot take its id or time'({ store, audit, clock }) {
      const event = await openLive(store, { n: 0 })
      clock.advance(SECOND)
      const conflicts = [
        imported({ created_at: event.created_at }),
        imported({ id: event.id }),
        { ...event, type: 'other' },
        { ...event, attributes: { n: 1 } },
      ]
      for (const conflict of conflicts)
        await rejectsWith(audit.importEvents([conflict]), 'IMPORT_CONFLICT')
      assert.deepEqual(await allEvents(audit), [event])
      await store.closeLive(event.id, { revision: 1 })
      assert.deepEqual(await audit.importEvents([event]), { imported: 0, skipped: 1 })
    },

    async 'live: throttled like any other draft'({ store, audit, clock }) {
      const first = throttled({ n: 0 }, {}, { live: true })
      const [event] = await store.append([first, throttled({ n: 1 }, {}, { live: true })])
      const count = { key: 'test:event', type: 'test:event', scope: {}, period: SECOND }
      const counts = [{ ...count, count: 1, first: clock(), last: clock() }]
      await store.reportSuppressed({ reporter: 'a', number: 1, counts })
      assert.deepEqual(await store.append([throttled({ n: 2 })]), [])
      assert.deepEqual(await store.openEvents(), [{ id: event!.id, revision: 0 }])
      clock.advance(60 * SECOND)
      const [next] = await store.append([throttled({ n: 3 }, {}, { live: true })])
      assert.equal(next!.attributes['suppressed_count'], 1)
      assert.deepEqual(await allEvents(audit), [event, next])
    },

    async 'live: an append repeated after an abort opens the event once'({ store, audit }) {
      const stored: AuditEvent[] = []
      for (const turn of range(0, LAST_TURN)) {
        const batch = [draft({ n: turn }, { live: true })]
        const controller = new AbortController()
        const call = store.append(batch, { signal: controller.signal })
        const events = call.catch(() => store.append(batch))
        await turns(turn)
        controller.abort()
        stored.push(...(await events))
      }
      assert.deepEqual(await allEvents(audit), stored)
      const open = await store.openEvents()
      assert.deepEqual(
        open.map(({ id }) => id),
        stored.map(({ id }) => id),
      )
    },

    async 'live: an append aborted while running opens the event only if it stores it'({
      store,
      audit,
    }) {
      const stored: AuditEvent[] = []
      for (const turn of range(0, LAST_TURN)) {
        const controller = new AbortController()
        const { signal } = controller
        const call = unlessAborted(store, [draft({}, { live: true })], signal)
        await turns(turn)
        controller.abort()
        stored.push(...(await call))
        const ids = stored.map(({ id }) => id)
        assert.deepEqual(
          (await allEvents(audit)).map(({ id }) => id),
          ids,
        )
        const open = await store.openEvents()
        assert.deepEqual(
          open.map(({ id }) => id),
          ids,
        )
      }
    },

    async 'live: an aborted signal changes nothing'({ store }) {
      const event = await openLive(store, { n: 0 })
      const options = { signal: AbortSignal.abort() }
      const change = { revision: 1, json: '{"n":1}' }
      await rejectsWith(store.changeLive(event.id, change, options), 'ABORTED')
      await rejectsWith(store.closeLive(event.id, change, options), 'ABORTED')
      await rejectsWith(store.touchLive([event.id], options), 'ABORTED')
      await rejectsWith(store.openEvents(options), 'ABORTED')
      await assertAttributes(store, event, { n: 0 })
      assert.deepEqual(await store.openEvents(), [{ id: event.id, revision: 0 }])
    },
  }),

  ...cases(
    {
      async 'live: opened, changed and closed by several stores'({ store, reopen }) {
        const other = (await reopen()).store
        const event = await openLive(store, { a: '' })
        assert.deepEqual(await other.openEvents(), [{ id: event.id, revision: 0 }])
        for (const [i, one] of [other, store, other, store].entries()) {
          const texts = [addText('a', String(i))]
          assert.equal(await one.changeLive(event.id, { revision: i + 1, texts }), true)
          for (const reader of [store, other])
            await assertAttributes(reader, event, { a: '0123'.slice(0, i + 1) })
        }
        await other.touchLive([event.id])
        const closed = await other.closeLive(event.id, { revision: 5 })
        assert.deepEqual(await store.closeLive(event.id, { revision: 5 }), closed)
        assert.equal(await store.changeLive(event.id, { revision: 6, json: '{}' }), false)
        for (const reader of [store, other]) await assertAttributes(reader, event, { a: '0123' })
      },

      async 'live: stays open after its store is closed'({ store, audit, reopen }) {
        const event = await openLive(store, { a: '', n: 0 })
        await store.changeLive(event.id, { revision: 1, texts: [addText('a', 'x')] })
        await audit.close()
        const again = (await reopen()).store
        assert.deepEqual(await again.openEvents(), [{ id: event.id, revision: 1 }])
        await assertAttributes(again, event, { a: 'x', n: 0 })
        await again.changeLive(event.id, { revision: 2, texts: [addText('a', 'y')] })
        const closed = await again.closeLive(event.id, { revision: 3 })
        assert.deepEqual(closed?.attributes, { a: 'xy', n: 0 })
      },

      async 'live: concurrent calls with the same change apply it once'({ store, reopen }) {
        const stores = [store, (await reopen()).store]
        const event = await openLive(store, { a: '' })
        for (const revision of range(1, 10)) {
          const texts = [addText('a', 'x')]
          const calls = range(0, 5).map((i) =>
            stores[i % 2]!.changeLive(event.id, { revision, texts }),
          )
          assert.deepEqual(new Set(await Promise.all(calls)), new Set([true]))
        }
        await assertAttributes(store, event, { a: 'x'.repeat(10) })
        const last = { revision: 11, texts: [addText('a', 'y')] }
        const closed = await Promise.all(
          range(0, 5).map((i) => stores[i % 2]!.closeLive(event.id, last)),
        )
        for (const one of closed) assert.deepEqual(one?.attributes, { a: 'xxxxxxxxxxy' })
        await assertAttributes(store, event, { a: 'xxxxxxxxxxy' })
      },
    },
    'reopen',
  ),

  ...cases(
    {
      async 'live: opened, changed and closed once when acknowledgements are lost'({
        store,
        audit,
        loseAcknowledgement,
      }) {
        await store.append(drafts(1))
        await loseAcknowledgement('append')
        const batch = [draft({ n: 1, a: '' }, { live: true })]
        const [event] = await store.append(batch).catch(() => store.append(batch))
        for (const revision of range(1, 3)) {
          const change = { revision, texts: [addText('a', 'x')] }
          await loseAcknowledgement('changeLive')
          const answer = store.changeLive(event!.id, change)
          assert.equal(await answer.catch(() => store.changeLive(event!.id, change)), true)
        }
        await assertAttributes(store, event!, { n: 1, a: 'xxx' })
        await loseAcknowledgement('closeLive')
        const last = { revision: 4, texts: [addText('a', 'y')] }
        const answer = store.closeLive(event!.id, last)
        const closed = await answer.catch(() => store.closeLive(event!.id, last))
        assert.deepEqual(closed, { ...event, attributes: { n: 1, a: 'xxxy' } })
        assert.deepEqual(numbersOf(await allEvents(audit)), [0, 1])
        assert.deepEqual(await store.openEvents(), [])
      },
    },
    'loseAcknowledgement',
  ),
]
