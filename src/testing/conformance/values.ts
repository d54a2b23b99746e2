import assert from 'node:assert/strict'
import type { JsonObject, JsonValue } from '../../event/event.js'
import { type Case, cases, type Context } from './context.js'
import { draft, allEvents, exactData } from './helpers.js'

const TEXTS: readonly string[] = [
  ['', ' ', '  two  ', 'line\nline\r\n', '\t\v\f\b\u0001\u001F\u007F', 'é', 'e\u0301', 'ﬁ'],
  ['\uFFFD', '\uFFFE', '\uFFFF', '\uFEFFx', '\uD7FF', '\uE000', '😀', '\u{10FFFF}', '\u202Ex'],
  ['NULL', 'null', '\\N', '\\', '\\\\', '\\u0041', '\\.', "'", "''", '"', '{}', '{a,b}', '[]'],
  ['a,b', ',', ';', '--', '/*', '%s', '$1', '?', ':a', '$$', '$daybook$', '`', "E'\\n'", '(1,2)'],
  ['true', '0', '-0', '1e3', '2026-01-01T00:00:00.000000Z', 'x'.repeat(5000)],
].flat()

const KEYS: readonly string[] = [
  ['', ' ', '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length'],
  ['?', '$', '$1', '$.a', '$[0]', '.', '..', '"', '\\', "'", '`', ';', '[', ']', '#', '@', '*'],
  ['0', '-1', '01', 'null', 'a b', 'a_b', '_', '__', 'a\nb', '\u0001', '😀', '\uFFFF', 'ключ'],
  ['recording', 'n', 'N', 'attributes', 'k'.repeat(2000)],
].flat()

const NUMBERS: readonly number[] = [
  [0, 1, -1, 0.1, 0.1 + 0.2, 1 / 3, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-7, 1e21, 1e308],
  [Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2],
  [-(2 ** 53), 2 ** 63, 2 ** 64, 1e15, 123_456_789.123_456_78, 1.5e300, 4.35, 9.95, 100],
].flat()

/** Also creates an own key `__proto__`, which an object literal cannot. */
const objectOf = (entries: readonly (readonly [string, JsonValue])[]): JsonObject =>
  Object.fromEntries(entries)

const nested = (levels: number): JsonValue =>
  levels === 0 ? 'bottom' : levels % 2 ? [nested(levels - 1)] : { down: nested(levels - 1) }

// The core's limits: 64 levels, of which the attributes are the first, and 1 MiB of JSON text.
const MAX_LEVELS = 64
const MAX_BYTES = 1_048_576

/** Records the data and checks that it is returned exactly, in the same key order. */
async function assertStoredExactly(
  { store, audit }: Context,
  all: readonly JsonObject[],
): Promise<void> {
  const events = await Promise.all(all.map((data) => audit.recordCustom('test:exact', data)))
  const listed = await allEvents(audit)
  assert.equal(listed.length, all.length)
  for (const [i, data] of all.entries()) {
    const json = JSON.stringify(data)
    const read = await store.get(events[i]!.id)
    for (const event of [events[i], read, listed[i]]) {
      assert.ok(event)
      assert.ok(JSON.stringify(event.attributes) === json, `event ${i} has other attributes`)
      assert.deepEqual(event.attributes, data)
    }
  }
}

export const valueCases: readonly Case[] = cases({
  async 'values: JSON is stored exactly, including the order of keys'(context) {
    await assertStoredExactly(context, [exactData, {}, { b: { z: 1, a: 2 }, a: [{ z: 1, a: 2 }] }])
  },

  'values: any text': (context) =>
    assertStoredExactly(
      context,
      TEXTS.map((text) => ({ text: [text] })),
    ),

  async 'values: any key'(context) {
    await assertStoredExactly(context, [
      objectOf(KEYS.map((key, i) => [key, i])),
      objectOf([['nested', objectOf(KEYS.map((key) => [key, objectOf([[key, null]])]))]]),
      ...KEYS.map((key) => objectOf([[key, { inner: key }]])),
    ])
  },

  async 'values: any number'(context) {
    await assertStoredExactly(context, [{ numbers: [...NUMBERS] }, ...NUMBERS.map((v) => ({ v }))])
  },

  async 'values: -0 becomes 0'({ audit }) {
    const event = await audit.recordCustom('test:exact', { v: -0, list: [-0] })
    for (const read of [event, await audit.get(event!.id)])
      assert.deepEqual(read?.attributes, { v: 0, list: [0] })
  },

  async 'values: booleans, null and empty values'(context) {
    const values: JsonValue[] = [true, false, null, '', [], {}, [[]], [{}], [null], { a: {} }]
    await assertStoredExactly(context, [{ values }, ...values.map((v) => ({ v }))])
  },

  'values: 64 levels of nesting': (context) =>
    assertStoredExactly(context, [{ deep: nested(MAX_LEVELS - 1) }, { n: 1 }]),

  async 'values: events of 1 MiB'(context) {
    const room = MAX_BYTES - '{"text":""}'.length
    const ascii = { text: 'x'.repeat(room) }
    const astral = { text: '😀'.repeat(room / 4) }
    const escaped = { text: '\n"'.repeat(Math.floor(room / 4)) }
    const many = objectOf(Array.from({ length: 30_000 }, (_, i) => [`attribute_${i}`, i]))
    await assertStoredExactly(context, [ascii, { n: 1 }, astral, escaped, many])
  },

  async 'values: any username, also in filters'({ store, audit }) {
    const texts = ['', ...TEXTS.filter((text) => text.trim() !== '')]
    const events = await store.append(texts.map((username, n) => draft({ n }, { username })))
    assert.deepEqual(await allEvents(audit), events)
    for (const [n, event] of events.entries()) {
      assert.equal(event.username, texts[n])
      if (event.username === '') continue
      const found = await audit.list({ filter: { username_in: [texts[n]!] } })
      assert.deepEqual(found.events, [event], JSON.stringify(texts[n]))
    }
    const withoutUser = await store.append([draft({})])
    assert.deepEqual((await audit.list('filter[username_null]=1')).events, withoutUser)
  },

  async 'values: any type without control characters, also in filters'({ store, audit }) {
    // oxlint-disable-next-line no-control-regex
    const types = TEXTS.filter((text) => /^[^\0-\x1F\x7F]{1,255}$/u.test(text))
    types.push('t'.repeat(255), '😀'.repeat(255), 'a:b:c:d')
    const events = await store.append(types.map((type, n) => draft({ n }, { type })))
    assert.deepEqual(await allEvents(audit), events)
    for (const [n, event] of events.entries()) {
      assert.equal(event.type, types[n])
      if (event.type.trim() === '') continue
      const found = await audit.list({ filter: { type_in: [types[n]!] } })
      assert.deepEqual(found.events, [event], JSON.stringify(types[n]))
    }
  },

  async 'values: any source, or null'({ store, audit }) {
    const sources = [...TEXTS, null]
    const events = await store.append(sources.map((source, n) => draft({ n }, { source })))
    assert.deepEqual(
      events.map((event) => event.source),
      sources,
    )
    assert.deepEqual(await allEvents(audit), events)
  },

  async 'values: imported events are stored exactly'({ audit }) {
    const times = [...TEXTS.entries()].map(([i, text]) => {
      const digits = String(i).padStart(6, '0')
      return {
        id: `0196b3c2-0000-4000-8000-000000${digits}`,
        created_at: `2025-05-01T10:00:00.${digits}Z`,
        username: text,
        system: i % 2 === 0,
        type: 'legacy:thing:done',
        source: text,
        attributes: objectOf([[text, text], ...Object.entries(exactData)]),
      }
    })
    await audit.importEvents(times)
    const events = await allEvents(audit)
    assert.deepEqual(events, times)
    assert.equal(JSON.stringify(events), JSON.stringify(times))
    assert.deepEqual(await audit.importEvents(events), { imported: 0, skipped: events.length })
  },
})
