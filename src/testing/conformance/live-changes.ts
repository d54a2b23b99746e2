import assert from 'node:assert/strict'
import type { JsonObject } from '../../event/event.js'
import type { LiveChange } from '../../store/store.js'
import { type Case, cases } from './context.js'
import { everything, exactData, upTo } from './helpers.js'
import { anew, assertIs, more, openLive } from './live-events.js'

const changes = (all: readonly Omit<LiveChange, 'revision'>[]): LiveChange[] =>
  all.map((change, i) => ({ revision: i + 1, ...change }))

export const liveChangeCases: readonly Case[] = cases({
  async 'live: has new attributes once they are changed'({ store, audit }) {
    const event = await openLive(store, { n: 0, stage: 'first' }, { username: 'ann' })
    const all: JsonObject[] = [{ n: 1, stage: 'second' }, exactData, {}, { list: [{ n: 2 }] }]
    for (const [i, attributes] of all.entries()) {
      const change = { revision: i + 1, json: JSON.stringify(attributes) }
      assert.equal(await store.changeLive(event.id, change), true)
      await assertIs(store, event, attributes)
      assert.deepEqual(await store.openEvents(), [{ id: event.id, revision: i + 1 }])
    }
    assert.deepEqual(await everything(audit), [{ ...event, attributes: all[3]! }])
  },

  async 'live: texts grow, and are replaced'({ store }) {
    const event = await openLive(store, { a: '', n: 1, b: 'begun ' })
    const steps: [Omit<LiveChange, 'revision'>, JsonObject][] = [
      [{ texts: [more('a', 'one ')] }, { a: 'one ', n: 1, b: 'begun ' }],
      [{ texts: [more('a', 'two '), more('b', 'on')] }, { a: 'one two ', n: 1, b: 'begun on' }],
      [
        { texts: [more('a', ''), more('a', '3 '), more('a', '4')] },
        { a: 'one two 3 4', n: 1, b: 'begun on' },
      ],
      [{ texts: [anew('a', 'new')] }, { a: 'new', n: 1, b: 'begun on' }],
      [
        { texts: [more('a', ' 😀'), anew('a', 'é'), more('a', '\n"')] },
        { a: 'é\n"', n: 1, b: 'begun on' },
      ],
      [{ texts: [anew('b', '')] }, { a: 'é\n"', n: 1, b: '' }],
      [{ json: '{"b":"","n":2,"a":""}' }, { b: '', n: 2, a: 'é\n"' }],
      [
        { json: '{"n":3,"a":""}', texts: [more('a', '!')] },
        { n: 3, a: 'é\n"!' },
      ],
      [
        { json: '{"a":"","n":4}', texts: [anew('a', 'last')] },
        { a: 'last', n: 4 },
      ],
      [{}, { a: 'last', n: 4 }],
    ]
    for (const [i, [change, attributes]] of steps.entries()) {
      assert.equal(await store.changeLive(event.id, { revision: i + 1, ...change }), true)
      await assertIs(store, event, attributes)
    }
  },

  /** Also what was there before any change is a part of the text that is replaced. */
  async 'live: a text is replaced with all that it was'({ store }) {
    const event = await openLive(store, { a: 'begun' })
    await store.changeLive(event.id, { revision: 1, texts: [anew('a', 'new')] })
    await assertIs(store, event, { a: 'new' })
    await store.changeLive(event.id, { revision: 2, texts: [more('a', 'er')] })
    await assertIs(store, event, { a: 'newer' })
  },

  async 'live: texts under any key'({ store }) {
    const keys = ['', ' ', '__proto__', 'a.b', '$', '"', "'", '\\', '0', 'a b', '😀', 'a\nb', '[0]']
    const attributes = Object.fromEntries([['n', 1] as const, ...keys.map((key) => [key, ''])])
    const event = await openLive(store, attributes)
    for (const [i, text] of ['some ', 'more'].entries()) {
      const texts = keys.map((key) => more(key, text + key))
      await store.changeLive(event.id, { revision: i + 1, texts })
    }
    const entries = keys.map((key) => [key, `some ${key}more${key}`] as const)
    await assertIs(store, event, Object.fromEntries([['n', 1] as const, ...entries]))
  },

  async 'live: a long text grows exactly'({ store }) {
    const event = await openLive(store, { text: '', n: 1 })
    const chunks = upTo(1, 64).map((i) => `${i} é😀\n"\\ ${'x'.repeat(100 * i)}`)
    for (const [i, chunk] of chunks.entries())
      await store.changeLive(event.id, { revision: i + 1, texts: [more('text', chunk)] })
    await assertIs(store, event, { text: chunks.join(''), n: 1 })
    await store.closeLive(event.id, { revision: 65 })
    await assertIs(store, event, { text: chunks.join(''), n: 1 })
  },

  async 'live: a change that has been applied is not applied again'({ store }) {
    const event = await openLive(store, { a: '' })
    for (const change of changes([{ texts: [more('a', 'x')] }, { texts: [more('a', 'y')] }]))
      for (const answer of [1, 2, 3])
        assert.equal(await store.changeLive(event.id, change), true, `time ${answer}`)
    const late = { revision: 1, json: '{"late":true}' }
    assert.equal(await store.changeLive(event.id, late), true)
    await assertIs(store, event, { a: 'xy' })
    assert.deepEqual(await store.openEvents(), [{ id: event.id, revision: 2 }])
  },

  /** There is no code for it: the core makes no such call. */
  async 'live: a change out of turn is refused'({ store }) {
    const event = await openLive(store, { n: 0 })
    await assert.rejects(store.changeLive(event.id, { revision: 2, json: '{"n":2}' }))
    await assert.rejects(store.closeLive(event.id, { revision: 3, json: '{"n":3}' }))
    await assertIs(store, event, { n: 0 })
    assert.deepEqual(await store.openEvents(), [{ id: event.id, revision: 0 }])
    assert.equal(await store.changeLive(event.id, { revision: 1, json: '{"n":1}' }), true)
    await assertIs(store, event, { n: 1 })
  },
})
