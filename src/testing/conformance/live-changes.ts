import assert from 'node:assert/strict'
import type { JsonObject } from '../../event/event.js'
import type { LiveChange } from '../../store/store.js'
import { type Case, cases } from './context.js'
import { allEvents, exactData, range } from './helpers.js'
import { replaceText, assertAttributes, addText, openLive } from './live-events.js'

const numbered = (all: readonly Omit<LiveChange, 'revision'>[]): LiveChange[] =>
  all.map((change, i) => ({ revision: i + 1, ...change }))

export const liveChangeCases: readonly Case[] = cases({
  async 'live: a change replaces the attributes'({ store, audit }) {
    const event = await openLive(store, { n: 0, stage: 'first' }, { username: 'ann' })
    const all: JsonObject[] = [{ n: 1, stage: 'second' }, exactData, {}, { list: [{ n: 2 }] }]
    for (const [i, attributes] of all.entries()) {
      const change = { revision: i + 1, json: JSON.stringify(attributes) }
      assert.equal(await store.changeLive(event.id, change), true)
      await assertAttributes(store, event, attributes)
      assert.deepEqual(await store.openEvents(), [{ id: event.id, revision: i + 1 }])
    }
    assert.deepEqual(await allEvents(audit), [{ ...event, attributes: all[3]! }])
  },

  async 'live: texts can be appended to and replaced'({ store }) {
    const event = await openLive(store, { a: '', n: 1, b: 'begun ' })
    const steps: [Omit<LiveChange, 'revision'>, JsonObject][] = [
      [{ texts: [addText('a', 'one ')] }, { a: 'one ', n: 1, b: 'begun ' }],
      [
        { texts: [addText('a', 'two '), addText('b', 'on')] },
        { a: 'one two ', n: 1, b: 'begun on' },
      ],
      [
        { texts: [addText('a', ''), addText('a', '3 '), addText('a', '4')] },
        { a: 'one two 3 4', n: 1, b: 'begun on' },
      ],
      [{ texts: [replaceText('a', 'new')] }, { a: 'new', n: 1, b: 'begun on' }],
      [
        { texts: [addText('a', ' 😀'), replaceText('a', 'é'), addText('a', '\n"')] },
        { a: 'é\n"', n: 1, b: 'begun on' },
      ],
      [{ texts: [replaceText('b', '')] }, { a: 'é\n"', n: 1, b: '' }],
      [{ json: '{"b":"","n":2,"a":""}' }, { b: '', n: 2, a: 'é\n"' }],
      [
        { json: '{"n":3,"a":""}', texts: [addText('a', '!')] },
        { n: 3, a: 'é\n"!' },
      ],
      [
        { json: '{"a":"","n":4}', texts: [replaceText('a', 'last')] },
        { a: 'last', n: 4 },
      ],
      [{}, { a: 'last', n: 4 }],
    ]
    for (const [i, [change, attributes]] of steps.entries()) {
      assert.equal(await store.changeLive(event.id, { revision: i + 1, ...change }), true)
      await assertAttributes(store, event, attributes)
    }
  },

  async 'live: replacing a text also replaces its initial value'({ store }) {
    const event = await openLive(store, { a: 'begun' })
    await store.changeLive(event.id, { revision: 1, texts: [replaceText('a', 'new')] })
    await assertAttributes(store, event, { a: 'new' })
    await store.changeLive(event.id, { revision: 2, texts: [addText('a', 'er')] })
    await assertAttributes(store, event, { a: 'newer' })
  },

  async 'live: accepts texts under any key'({ store }) {
    const keys = ['', ' ', '__proto__', 'a.b', '$', '"', "'", '\\', '0', 'a b', '😀', 'a\nb', '[0]']
    const attributes = Object.fromEntries([['n', 1] as const, ...keys.map((key) => [key, ''])])
    const event = await openLive(store, attributes)
    for (const [i, text] of ['some ', 'more'].entries()) {
      const texts = keys.map((key) => addText(key, text + key))
      await store.changeLive(event.id, { revision: i + 1, texts })
    }
    const entries = keys.map((key) => [key, `some ${key}more${key}`] as const)
    await assertAttributes(store, event, Object.fromEntries([['n', 1] as const, ...entries]))
  },

  async 'live: a long text is appended to exactly'({ store }) {
    const event = await openLive(store, { text: '', n: 1 })
    const chunks = range(1, 64).map((i) => `${i} é😀\n"\\ ${'x'.repeat(100 * i)}`)
    for (const [i, chunk] of chunks.entries())
      await store.changeLive(event.id, { revision: i + 1, texts: [addText('text', chunk)] })
    await assertAttributes(store, event, { text: chunks.join(''), n: 1 })
    await store.closeLive(event.id, { revision: 65 })
    await assertAttributes(store, event, { text: chunks.join(''), n: 1 })
  },

  async 'live: a repeated change is not applied again'({ store }) {
    const event = await openLive(store, { a: '' })
    for (const change of numbered([{ texts: [addText('a', 'x')] }, { texts: [addText('a', 'y')] }]))
      for (const attempt of [1, 2, 3])
        assert.equal(await store.changeLive(event.id, change), true, `attempt ${attempt}`)
    const late = { revision: 1, json: '{"late":true}' }
    assert.equal(await store.changeLive(event.id, late), true)
    await assertAttributes(store, event, { a: 'xy' })
    assert.deepEqual(await store.openEvents(), [{ id: event.id, revision: 2 }])
  },

  // The error code is not specified, because the core never makes such a call.
  async 'live: a change that skips a revision is refused'({ store }) {
    const event = await openLive(store, { n: 0 })
    await assert.rejects(store.changeLive(event.id, { revision: 2, json: '{"n":2}' }))
    await assert.rejects(store.closeLive(event.id, { revision: 3, json: '{"n":3}' }))
    await assertAttributes(store, event, { n: 0 })
    assert.deepEqual(await store.openEvents(), [{ id: event.id, revision: 0 }])
    assert.equal(await store.changeLive(event.id, { revision: 1, json: '{"n":1}' }), true)
    await assertAttributes(store, event, { n: 1 })
  },
})
