import assert from 'node:assert/strict'
import { formatTimestamp } from '../../event/timestamp.js'
import { openLive } from './live-events.js'
import { type Case, cases } from './context.js'
import { FAR, numbersOf, range, recordSome, rejectsWith } from './helpers.js'

export const consistencyCases: readonly Case[] = cases({
  async 'consistencyToken: reads with the created_at of an event have it and all before it'({
    audit,
  }) {
    const events = await recordSome(audit, 3)
    const { id, created_at: consistencyToken } = events.at(-1)!
    const options = { consistencyToken }
    assert.deepEqual(numbersOf((await audit.list({}, options)).events), range(0, 2))
    assert.equal((await audit.get(id, options))!.id, id)
    assert.equal((await audit.count({}, options)).total, 3)
    for await (const page of audit.pages({}, options))
      assert.deepEqual(numbersOf(page), range(0, 2))
  },

  async 'consistencyToken: reads with a token of the log have what was stored before'({
    audit,
    store,
  }) {
    const empty = await audit.consistencyToken()
    assert.deepEqual((await audit.list({}, { consistencyToken: empty })).events, [])
    await recordSome(audit, 2)
    const live = await openLive(store, { n: 2 })
    const consistencyToken = await audit.consistencyToken()
    for (const token of [empty, consistencyToken])
      assert.deepEqual(
        numbersOf((await audit.list({}, { consistencyToken: token })).events),
        range(0, 2),
      )
    const opened = await audit.store.openEvents({ consistencyToken })
    assert.deepEqual(
      opened.map(({ id }) => id),
      [live.id],
    )
  },

  async 'consistencyToken: a token stays valid when its event is removed'({ audit, store }) {
    const events = await recordSome(audit, 3)
    const newest = events.at(-1)!
    assert.equal(await store.remove([newest.id]), 1)
    const { events: left } = await audit.list({}, { consistencyToken: newest.created_at })
    assert.deepEqual(numbersOf(left), [0, 1])
  },

  async 'consistencyToken: a token that the log has not reached is refused'({ audit }) {
    const [event] = await recordSome(audit, 1)
    const options = { consistencyToken: formatTimestamp(FAR) }
    await rejectsWith(audit.list({}, options), 'NOT_REACHED')
    await rejectsWith(audit.get(event!.id, options), 'NOT_REACHED')
    await rejectsWith(audit.count({}, options), 'NOT_REACHED')
    await rejectsWith(audit.store.openEvents(options), 'NOT_REACHED')
  },

  async "consistencyToken: 'newest' reads what was stored before, and is never refused"({
    audit,
    store,
  }) {
    const options = { consistencyToken: 'newest' }
    assert.deepEqual((await audit.list({}, options)).events, [])
    const events = await recordSome(audit, 2)
    await openLive(store, { n: 2 })
    assert.deepEqual(numbersOf((await audit.list({}, options)).events), range(0, 2))
    assert.equal((await audit.get(events[0]!.id, options))!.id, events[0]!.id)
    assert.equal((await audit.count({}, options)).total, 3)
    assert.equal((await audit.store.openEvents(options)).length, 1)
  },

  async 'consistencyToken: a text that is no token is refused'({ audit }) {
    const [event] = await recordSome(audit, 1)
    const wrong: unknown[] = ['', ' ', 'x', '1', event!.id, `${event!.created_at}_`]
    wrong.push(`${event!.created_at}_1`, `${event!.created_at}_1_0-1`, 1, null, {})
    for (const token of wrong) {
      const options = { consistencyToken: token as string }
      await rejectsWith(audit.list({}, options), 'INVALID_VALUE')
      await rejectsWith(audit.get(event!.id, options), 'INVALID_VALUE')
      await rejectsWith(audit.count({}, options), 'INVALID_VALUE')
      await rejectsWith(audit.pages({}, options).next(), 'INVALID_VALUE')
      await rejectsWith(audit.tail({}, options).next(), 'INVALID_VALUE')
    }
  },
})
