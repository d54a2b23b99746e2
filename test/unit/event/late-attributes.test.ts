import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { AuditLog, withActor } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { expect, it } from 'vitest'
import { stampLate, withLateAttributes } from '../../../src/event/event.js'
import { stampDraft } from '../../../src/event/event.js'
import { draft } from '../../../src/testing/conformance/helpers.js'

const TIME = 1_700_000_000_000_000
const given = draft({ list: [1, { deep: null }], text: 'x' })

it('an event with late attributes equals the plain event in every respect', () => {
  const plain = stampDraft(given, TIME)
  const late = (): typeof plain => stampLate(given, TIME)
  assert.deepStrictEqual(late(), plain)
  expect(late()).toStrictEqual(plain)
  expect({ ...late() }).toStrictEqual(plain)
  expect(structuredClone(late())).toStrictEqual(plain)
  expect(Object.keys(late())).toEqual(Object.keys(plain))
  expect(JSON.stringify(late())).toBe(JSON.stringify(plain))
  expect(inspect(late(), { depth: 9 })).toBe(inspect(plain, { depth: 9 }))
})

it('the attributes are parsed once, and can be changed and replaced', () => {
  const event = withLateAttributes({ id: 1 }, '{"n":1}')
  expect(event.attributes).toBe(event.attributes)
  event.attributes['n'] = 2
  expect(event.attributes).toEqual({ n: 2 })
  Object.assign(event, { attributes: { m: 3 } })
  expect(event).toEqual({ id: 1, attributes: { m: 3 } })
})

it('a store that reads only JSON text gets the data as it was when it was recorded', async () => {
  const store = memoryStore()
  await using audit = new AuditLog({
    store: { ...store, tuning: { appendsText: true } },
    types: { note: {} },
  })
  const data = { list: [1], nested: { text: 'before' } }
  const recording = audit.record('note', data)
  data.list.push(2)
  data.nested.text = 'after'
  expect((await recording)?.attributes).toEqual({ list: [1], nested: { text: 'before' } })
})

it('attributes of the actor are in the JSON text, unless the data has them', async () => {
  const texts: string[] = []
  const store = memoryStore()
  await using audit = new AuditLog({
    store: {
      ...store,
      tuning: { appendsText: true },
      append(drafts, options) {
        texts.push(...drafts.map(({ json }) => json))
        return store.append(drafts, options)
      },
    },
    types: { note: {} },
  })
  await withActor({ username: 'ann', session_id: 's1', on_behalf_of: 'bob' }, async () => {
    await audit.record('note', { session_id: 'own' })
    await audit.record('note', {})
  })
  expect(texts.map((text) => JSON.parse(text) as unknown)).toEqual([
    { session_id: 'own', on_behalf_of: 'bob' },
    { session_id: 's1', on_behalf_of: 'bob' },
  ])
})
