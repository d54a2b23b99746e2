import assert from 'node:assert/strict'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from 'daybook'
import { failing } from '../fake-store.js'
import { defaultJsonLimits, findUnstorable, toJsonText } from '../../../src/event/json.js'

/**
 * The JSON text of the data. Checks that the returned value equals the text, and that the text is the same without a
 * copy.
 */
function textOf(data: object, limits = defaultJsonLimits): string {
  const { attributes, json } = toJsonText(data, limits)
  assert.equal(toJsonText(data, limits, undefined, 'text').json, json)
  assert.deepStrictEqual(attributes, JSON.parse(json))
  assert.equal(JSON.stringify(attributes), json)
  return json
}

const small = { maxDepth: 64, maxBytes: 1024 }

/** The JSON text of members, with the note about replaced members. */
const noted = (members: string, ...pointers: readonly string[]): string =>
  `{${members},"recording":{"replaced":${JSON.stringify(pointers)},"cut_bytes":0}}`

/** Nested objects of this many levels. */
function nested(levels: number, innermost: object = {}): object {
  let value = innermost
  for (let level = 1; level < levels; level++) value = { o: value }
  return value
}

describe('toJsonText: JSON is unchanged', () => {
  it('keeps values, key order and unusual names', () => {
    const data = {
      zebra: 1,
      apple: { nested: [{ deep: [[], {}, null] }] },
      numbers: [0, -1, 0.1, 1e21, 1e-7, 9_007_199_254_740_991, 5e-324],
      text: 'quote " backslash \\ slash / newline \n bell \u0007 é 😀 \u2028 \\u0000',
      'key with . [0] ~ / " and \\': true,
      '': false,
    }
    expect(textOf(data)).toBe(
      '{"zebra":1,"apple":{"nested":[{"deep":[[],{},null]}]},' +
        '"numbers":[0,-1,0.1,1e+21,1e-7,9007199254740991,5e-324],' +
        '"text":"quote \\" backslash \\\\ slash / newline \\n bell \\u0007 é 😀 \u2028 \\\\u0000",' +
        '"key with . [0] ~ / \\" and \\\\":true,"":false}',
    )
  })

  const shared = { x: 1 }
  const own = { toJSON: (key: string) => `made for ${key}` }

  class Money {
    readonly amount = 5
    toJSON(): this {
      return this
    }
  }

  class Tags extends Array<string> {
    toJSON(): string {
      return this.join(' ')
    }
  }

  it.each<[title: string, data: object, json: string]>([
    ['undefined members left out', { a: undefined, b: 1, c: { d: undefined } }, '{"b":1,"c":{}}'],
    ['-0 as 0', { zero: -0, list: [-0] }, '{"zero":0,"list":[0]}'],
    [
      'dates and URLs by their toJSON',
      { at: new Date(0), url: new URL('http://example.test/a') },
      '{"at":"1970-01-01T00:00:00.000Z","url":"http://example.test/a"}',
    ],
    [
      'objects of the host with toJSON',
      { own, list: [own] },
      '{"own":"made for own","list":["made for 0"]}',
    ],
    ['a toJSON that returns the object itself', { price: new Money() }, '{"price":{"amount":5}}'],
    ['toJSON of a class of arrays', { tags: Tags.of('a', 'b') }, '{"tags":"a b"}'],
    ['toJSON of an array', { own: Object.assign(['a'], { toJSON: () => 'own' }) }, '{"own":"own"}'],
    [
      'boxed numbers, texts and booleans as JSON.stringify does',
      { n: Object(5) as object, s: Object('ab') as object, b: Object(true) as object },
      '{"n":5,"s":"ab","b":true}',
    ],
    [
      'the content of Error, Map and Set',
      {
        error: new TypeError('no such thing'),
        map: new Map<string, unknown>([
          ['b', 1],
          ['a', new Map([['c', 2]])],
        ]),
        set: new Set([1, 'x']),
      },
      '{"error":"TypeError: no such thing","map":{"b":1,"a":{"c":2}},"set":[1,"x"]}',
    ],
    [
      'BigInt up to 2^53 as a number',
      { max: 9_007_199_254_740_991n, min: -9_007_199_254_740_991n, one: 1n },
      '{"max":9007199254740991,"min":-9007199254740991,"one":1}',
    ],
    [
      'a shared value at each place',
      { a: shared, b: [shared, shared] },
      '{"a":{"x":1},"b":[{"x":1},{"x":1}]}',
    ],
    [
      'objects without a prototype',
      Object.assign(Object.create(null) as object, { a: 1 }),
      '{"a":1}',
    ],
    [
      'an attribute named recording if nothing had to be changed',
      { recording: 'tape 1' },
      '{"recording":"tape 1"}',
    ],
  ])('writes %s', (_, data, json) => {
    expect(textOf(data)).toBe(json)
  })

  it('keeps a key named __proto__ as a key', () => {
    const data = JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":2}}') as object
    const { attributes, json } = toJsonText(data)
    expect(json).toBe('{"__proto__":{"a":1},"b":{"__proto__":2}}')
    expect(Object.getPrototypeOf(attributes)).toBe(Object.prototype)
    expect('a' in attributes).toBe(false)
    expect(textOf({ map: new Map([['__proto__', 1]]) })).toBe('{"map":{"__proto__":1}}')
  })
})

describe('toJsonText: values that cannot be stored are replaced and listed', () => {
  const replaced: readonly (readonly [title: string, data: object, json: string])[] = [
    ['NaN', { n: NaN }, noted('"n":"NaN"', '/n')],
    [
      'infinities',
      { list: [1, Infinity, -Infinity] },
      noted('"list":[1,"Infinity","-Infinity"]', '/list/1', '/list/2'),
    ],
    [
      'BigInt beyond 2^53',
      { up: 9_007_199_254_740_992n, down: -9_007_199_254_740_992n },
      noted('"up":"9007199254740992","down":"-9007199254740992"', '/up', '/down'),
    ],
    ['U+0000 in a text', { t: 'a\0b' }, noted('"t":"a\uFFFDb"', '/t')],
    [
      'halves of surrogate pairs in a text',
      { t: '\uD83D-\uDE00', whole: '😀' },
      noted('"t":"\uFFFD-\uFFFD","whole":"😀"', '/t'),
    ],
    ['U+0000 in a key', { 'a\0b': 1 }, noted('"a\uFFFDb":1', '/a\uFFFDb')],
    [
      'half a surrogate pair in a nested key',
      { o: { '\uD83D': 1 } },
      noted('"o":{"\uFFFD":1}', '/o/\uFFFD'),
    ],
    ['a function', { f: () => 1 }, noted('"f":null', '/f')],
    ['a symbol', { s: Symbol('s') }, noted('"s":null', '/s')],
    ['undefined as an element', { list: [1, undefined, 3] }, noted('"list":[1,null,3]', '/list/1')],
    [
      'a hole in an array',
      // eslint-disable-next-line no-sparse-arrays
      { list: [1, , 3] },
      noted('"list":[1,null,3]', '/list/1'),
    ],
    [
      'a getter that throws',
      Object.defineProperty({ broken: 0, fine: 1 }, 'broken', {
        get: failing(new Error('not now')),
      }),
      noted('"broken":null,"fine":1', '/broken'),
    ],
    [
      'a toJSON that throws',
      { bad: { toJSON: failing(new Error('not now')) } },
      noted('"bad":null', '/bad'),
    ],
    ['a key that a pointer has to escape', { 'a/b~c': NaN }, noted('"a/b~c":"NaN"', '/a~1b~0c')],
  ]
  it.each(replaced)('%s', (_, data, json) => {
    expect(textOf(data)).toBe(json)
  })

  it('a cycle becomes null at the reference that closes it', () => {
    const node: Record<string, unknown> = { name: 'n' }
    node['self'] = node
    node['list'] = [{ up: node }]
    const cut = '"node":{"name":"n","self":null,"list":[{"up":null}]}'
    expect(textOf({ node })).toBe(noted(cut, '/node/self', '/node/list/0/up'))
  })

  it('a cycle of the data with itself', () => {
    const data: Record<string, unknown> = { a: 1 }
    data['data'] = data
    expect(textOf(data)).toBe(noted('"a":1,"data":null', '/data'))
  })

  it('a revoked proxy', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(textOf({ proxy })).toBe(noted('"proxy":null', '/proxy'))
    expect(textOf(proxy)).toBe('{"recording":{"replaced":[""],"cut_bytes":0}}')
  })

  it('a toJSON that never ends', () => {
    const endless = (): object => ({ toJSON: endless })
    const { attributes } = toJsonText({ endless: endless() })
    // As in JSON.stringify, toJSON is not called on the result of toJSON.
    expect(attributes['endless']).toEqual({ toJSON: null })
  })

  it('lists at most 50 replaced places', () => {
    const { attributes, json } = toJsonText({ list: Array.from({ length: 5000 }, () => NaN) })
    const { replaced } = attributes['recording'] as { replaced: string[] }
    expect(replaced).toHaveLength(50)
    expect(replaced[49]).toBe('/list/49')
    expect(JSON.stringify(attributes['recording']).length).toBeLessThan(1000)
    expect((attributes['list'] as JsonValue[]).length).toBe(5000)
    expect(JSON.parse(json)).toEqual(attributes)
  })

  it('cuts long pointers in the list', () => {
    const { attributes } = toJsonText({ ['k'.repeat(500)]: NaN })
    expect(attributes['recording']).toEqual({ replaced: [`/${'k'.repeat(119)}`], cut_bytes: 0 })
  })

  it('never changes its input', () => {
    const data = {
      type: 'mine',
      text: 'x'.repeat(5000),
      bad: [NaN, '\0'],
      date: new Date(0),
      deep: nested(70),
    }
    const freeze = (value: object): void => {
      Object.freeze(value)
      for (const member of Object.values(value) as unknown[])
        if (typeof member === 'object' && member !== null) freeze(member)
    }
    freeze(data)
    expect(() => toJsonText(data, small)).not.toThrow()
    expect(data.text).toHaveLength(5000)
  })
})

describe('toJsonText: depth', () => {
  it('keeps 64 levels', () => {
    expect(textOf(nested(64))).toBe(`${'{"o":'.repeat(63)}{}${'}'.repeat(63)}`)
    expect(textOf({ o: nested(63, [1, 'x']) })).toBe(
      `${'{"o":'.repeat(63)}[1,"x"]${'}'.repeat(63)}`,
    )
  })

  it('replaces the 65th level by null', () => {
    const { attributes, json } = toJsonText(nested(65))
    expect(json.startsWith(`${'{"o":'.repeat(64)}null${'}'.repeat(63)},"recording":`)).toBe(true)
    // A pointer is at most 120 characters long.
    expect(attributes['recording']).toEqual({ replaced: ['/o'.repeat(60)], cut_bytes: 0 })
  })

  it('applies a lower limit', () => {
    expect(textOf({ a: { b: { c: 1 } }, list: [[1]] }, { ...small, maxDepth: 2 })).toBe(
      noted('"a":{"b":null},"list":[null]', '/a/b', '/list/0'),
    )
  })

  it('does not count a value that is written as text', () => {
    const data = { o: { at: new Date(0), error: new Error('e'), own: { toJSON: () => 'text' } } }
    expect(textOf(data, { ...small, maxDepth: 2 })).toBe(
      '{"o":{"at":"1970-01-01T00:00:00.000Z","error":"Error: e","own":"text"}}',
    )
  })

  it('counts the result of toJSON, a Map and a Set once', () => {
    const data = { own: { toJSON: () => ({ x: 1 }) }, map: new Map([['x', 1]]), set: new Set([1]) }
    expect(textOf(data, { ...small, maxDepth: 2 })).toBe('{"own":{"x":1},"map":{"x":1},"set":[1]}')
  })
})

describe('toJsonText: reserved names', () => {
  it('renames attributes with names of own fields, in place', () => {
    const data = { a: 1, type: 't', id: 2, username: 'u', system: true, created_at: 'c', z: 3 }
    expect(textOf(data)).toBe(
      '{"a":1,"attributes_type":"t","attributes_id":2,"attributes_username":"u",' +
        '"attributes_system":true,"attributes_created_at":"c","z":3,' +
        '"recording":{"replaced":["/attributes_type","/attributes_id","/attributes_username",' +
        '"/attributes_system","/attributes_created_at"],"cut_bytes":0}}',
    )
  })

  it.each([
    ['leaves nested keys alone', { o: { type: 't', id: 1 } }, '{"o":{"type":"t","id":1}}'],
    [
      'does not overwrite an attribute that has the new name already',
      { type: 1, attributes_type: 2 },
      noted('"attributes_attributes_type":1,"attributes_type":2', '/attributes_attributes_type'),
    ],
    [
      'renames an attribute named recording if it needs the name',
      { recording: 'tape 1', n: NaN },
      noted('"attributes_recording":"tape 1","n":"NaN"', '/n', '/attributes_recording'),
    ],
  ])('%s', (_, data, json) => {
    expect(textOf(data)).toBe(json)
  })

  it('uses the new name in pointers', () => {
    const { attributes } = toJsonText({ type: { a: NaN }, recording: [NaN] })
    const { replaced } = attributes['recording'] as { replaced: string[] }
    expect(replaced.toSorted()).toEqual([
      '/attributes_recording',
      '/attributes_recording/0',
      '/attributes_type',
      '/attributes_type/a',
    ])
  })
})

describe('toJsonText: size', () => {
  const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

  /** The remaining attributes without `recording`. Also checks its `cut_bytes`. */
  function cut(data: object, limits = small): { kept: JsonObject; replaced: string[] } {
    const json = textOf(data, limits)
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(limits.maxBytes)
    const { recording, ...kept } = JSON.parse(json) as JsonObject
    const { replaced, cut_bytes } = recording as { replaced: string[]; cut_bytes: number }
    expect(cut_bytes).toBe(bytes(data) - bytes(kept))
    return { kept, replaced }
  }

  it('keeps data that fits exactly', () => {
    // {"t":"…"} has 8 bytes around the text.
    expect(textOf({ t: 'x'.repeat(1016) }, small)).toHaveLength(1024)
    expect(textOf({ t: 'é'.repeat(508) }, small)).toHaveLength(516)
  })

  it('cuts a text that is a byte too long', () => {
    const { kept, replaced } = cut({ t: 'x'.repeat(1017) })
    expect(kept['t']).toMatch(/^x{100,}$/)
    expect(replaced).toEqual(['/t'])
  })

  it('cuts the longest texts and keeps the short attributes', () => {
    const { kept, replaced } = cut({
      name: 'nightly',
      log: 'x'.repeat(5000),
      request: { body: 'y'.repeat(3000), action: 'start' },
      note: 'z'.repeat(60),
      count: 7,
      list: [1, 2],
    })
    expect(kept).toEqual({
      name: 'nightly',
      log: expect.stringMatching(/^x{64,}$/),
      request: { body: expect.stringMatching(/^y{64,}$/), action: 'start' },
      note: 'z'.repeat(60),
      count: 7,
      list: [1, 2],
    })
    expect(replaced).toEqual(['/log', '/request/body'])
  })

  it('keeps shorter texts whole if another text is much too long', () => {
    const { kept } = cut({ long: 'x'.repeat(50_000), middle: 'y'.repeat(300) })
    expect(kept['middle']).toBe('y'.repeat(300))
    expect(kept['long']).toMatch(/^x{64,}$/)
  })

  it('cuts between characters, never within one', () => {
    const { kept } = cut({ smiles: '😀'.repeat(1000), accents: `a${'é'.repeat(1000)}` })
    expect(kept['smiles']).toMatch(/^(?:😀)+$/u)
    expect(kept['accents']).toMatch(/^aé+$/u)
  })

  it('stops at the size limit if an object is referenced many times', () => {
    let twice: object = { x: 1 }
    for (let level = 0; level < 40; level++) twice = { left: twice, right: twice }
    const { attributes, json } = toJsonText({ name: 'n', twice }, small)
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(1024)
    expect(attributes['name']).toBe('n')
    expect(attributes['recording']).toBeDefined()
  })

  it('cuts to 1 MiB by default', () => {
    const { kept } = cut({ log: 'x'.repeat(3_000_000), name: 'n' }, defaultJsonLimits)
    expect(kept['name']).toBe('n')
    expect((kept['log'] as string).length).toBeGreaterThan(500_000)
  })

  it('drops the largest attributes if there is no text to cut', () => {
    const { kept, replaced } = cut({
      name: 'nightly',
      big: Array.from({ length: 1000 }, (_, i) => i),
      few: [1, 2, 3],
    })
    expect(kept).toEqual({ name: 'nightly', few: [1, 2, 3] })
    expect(replaced).toEqual(['/big'])
  })

  it('fits if many small attributes are too large together', () => {
    for (const value of [(i: number) => i, (i: number) => `v${i}`, () => null])
      cut(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`key_${i}`, value(i)])))
  })

  it('fits if names are too large', () => {
    const { kept } = cut({ ['k'.repeat(5000)]: 1, name: 'nightly' })
    expect(kept).toEqual({ name: 'nightly' })
    cut({ o: { ['k'.repeat(5000)]: 1 }, name: 'nightly' })
    cut(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${'k'.repeat(800)}${i}`, 1])))
  })

  it('counts the size of its own note', () => {
    // 1,020 bytes of attributes would fit without the note.
    expect(Buffer.byteLength(textOf({ t: 'x'.repeat(1000), n: NaN }, small))).toBeLessThanOrEqual(
      1024,
    )
    const list = Array.from({ length: 60 }, () => NaN)
    expect(Buffer.byteLength(textOf({ list }, small))).toBeLessThanOrEqual(1024)
    const long = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`${'\u0001'.repeat(150)}${i}`, NaN]),
    )
    const limits = { maxDepth: 64, maxBytes: 65_536 }
    expect(Buffer.byteLength(textOf(long, limits))).toBeLessThanOrEqual(65_536)
  })

  it('stays within the limit for any data', () => {
    const run = (longest: number): fc.Arbitrary<string> =>
      fc
        .tuple(fc.constantFrom('x', 'é', '漢', '😀', '\0', '\u0001', '"'), fc.nat(longest))
        .map(([char, length]) => char.repeat(length))
    const value = fc.oneof(
      run(3000),
      fc.constantFrom<unknown>(null, true, NaN, 1e-7),
      fc.nat(300).map((length) => Array.from({ length }, (_, i) => (i % 2 ? i : NaN))),
    )
    const name = fc.tuple(run(400), fc.nat(999)).map((parts) => parts.join(''))
    const member = fc.oneof(value, fc.dictionary(name, value, { maxKeys: 5 }))
    const data = fc.oneof(
      fc.dictionary(name, member, { maxKeys: 40, size: 'max' }),
      fc.nat(2000).map((length) => Object.fromEntries(Array.from({ length }, (_, i) => [i, i]))),
    )
    fc.assert(
      fc.property(data, fc.integer({ min: 1024, max: 8192 }), (given, maxBytes) => {
        const { json } = toJsonText(given, { maxDepth: 64, maxBytes })
        expect(Buffer.byteLength(json)).toBeLessThanOrEqual(maxBytes)
      }),
      { numRuns: 150 },
    )
  })
})

describe('toJsonText: any value', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\uD83D', '\uDE00x', 'a\0b', '__proto__', 'toJSON', 'type', 'recording'),
  )
  const anything = fc.anything({
    key: text,
    values: [
      text,
      fc.double(),
      fc.bigInt(),
      fc.boolean(),
      fc.constant(null),
      fc.constant(undefined),
    ],
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  })

  it('becomes JSON text and an equal value', () => {
    fc.assert(
      fc.property(anything, anything, (member, whole) => {
        textOf({ member })
        const { attributes, json } = toJsonText(whole as object)
        assert.deepStrictEqual(attributes, JSON.parse(json))
        expect(json.isWellFormed()).toBe(true)
        // After an even number of backslashes it would be literal text.
        expect(json).not.toMatch(/(?<!\\)(?:\\\\)*\\u0000/)
      }),
      { numRuns: 500 },
    )
  })

  it('is kept exactly if it is already JSON', () => {
    const reserved = ['id', 'type', 'username', 'system', 'created_at']
    const data = fc
      .dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' }))
      .filter((given) => !reserved.some((name) => Object.hasOwn(given, name)))
    fc.assert(
      fc.property(data, (given) => {
        fc.pre(!JSON.stringify(given).includes('\\u0000'))
        expect(textOf(given)).toBe(JSON.stringify(given))
      }),
      { numRuns: 500 },
    )
  })
})

describe('findUnstorable', () => {
  const storable: readonly (readonly [title: string, value: JsonValue])[] = [
    ['null', null],
    ['a number', 1],
    ['a text', 'text 😀 \uFFFD'],
    ['a structure', { a: [1, { b: 'x' }] }],
    ['64 levels', nested(64) as JsonValue],
  ]
  it.each(storable)('accepts %s', (_, value) => {
    expect(findUnstorable(value, 64)).toBeUndefined()
  })

  const found: readonly (readonly [
    title: string,
    value: JsonValue,
    pointer: string,
    reason: string,
  ])[] = [
    ['U+0000', 'a\0', '', 'contains U+0000 or half of a surrogate pair'],
    ['half a pair', { a: ['x', '\uD83D'] }, '/a/1', 'contains U+0000 or half of a surrogate pair'],
    [
      'half a pair in a name',
      { a: { '\uDE00': 1 } },
      '/a/\uDE00',
      'has a name with U+0000 or half of a surrogate pair',
    ],
    [
      'names that a pointer escapes',
      { 'a/b': { 'c~d': '\0' } },
      '/a~1b/c~0d',
      'contains U+0000 or half of a surrogate pair',
    ],
    [
      'a number beyond IEEE doubles',
      { a: JSON.parse('1e999') as number },
      '/a',
      'is too large for a number',
    ],
    ['65 levels', nested(65) as JsonValue, '/o'.repeat(64), 'is nested deeper than 64 levels'],
  ]
  it.each(found)('finds the first %s', (_, value, pointer, reason) => {
    expect(findUnstorable(value, 64)).toEqual({ pointer, reason })
  })

  it('agrees with toJsonText about storable values', () => {
    const value = fc.jsonValue({ stringUnit: fc.constantFrom('a', '\0', '\uD83D', '😀') })
    fc.assert(
      fc.property(value, (given) => {
        const data = { member: given }
        const listed = 'recording' in toJsonText(data, { ...small, maxDepth: 4 }).attributes
        expect(findUnstorable(data as JsonObject, 4) !== undefined).toBe(listed)
      }),
      { numRuns: 500 },
    )
  })
})

describe('toJsonText with further members', () => {
  const more = { request_id: 'r1', trace_id: 't1' }

  it.each<[given: object, json: string, added: string[]]>([
    [{ n: 1 }, '{"n":1,"request_id":"r1","trace_id":"t1"}', ['request_id', 'trace_id']],
    [{ trace_id: null }, '{"trace_id":null,"request_id":"r1"}', ['request_id']],
    [{ trace_id: undefined }, '{"request_id":"r1","trace_id":"t1"}', ['request_id', 'trace_id']],
    [{ request_id: 'x', trace_id: 1 }, '{"request_id":"x","trace_id":1}', []],
    [
      JSON.parse('{"__proto__":{"n":1}}') as object,
      '{"__proto__":{"n":1},"request_id":"r1","trace_id":"t1"}',
      ['request_id', 'trace_id'],
    ],
    [[1], noted('"request_id":"r1","trace_id":"t1"', ''), ['request_id', 'trace_id']],
  ])('%j', (given, json, added) => {
    const before = JSON.stringify(given)
    expect(toJsonText(given, defaultJsonLimits, more)).toEqual({
      attributes: JSON.parse(json),
      json,
      added,
    })
    expect(JSON.stringify(given)).toBe(before)
  })

  it('keeps the limit', () => {
    const { json, added } = toJsonText({ text: 'x'.repeat(2000) }, small, more)
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(1024)
    expect(json).toContain('"request_id":"r1","trace_id":"t1"')
    expect(added).toEqual(['request_id', 'trace_id'])
  })
})

describe('toJsonText in a hostile environment', () => {
  it('reads errors, maps, sets and boxed values of another realm', () => {
    const data = runInNewContext(`({
      error: new Error('boom', { cause: new TypeError('inner') }),
      tags: new Set([1]), sums: new Map([['a', 1]]), n: new Number(5), yes: new Boolean(true), at: new Date(0), list: [null],
    })`) as object
    expect(textOf(data)).toBe(
      '{"error":"Error: boom: TypeError: inner","tags":[1],"sums":{"a":1},"n":5,"yes":true,"at":"1970-01-01T00:00:00.000Z","list":[null]}',
    )
  })

  it('keeps names that the host has made read-only in all objects', () => {
    const names = ['toString', 'constructor', 'valueOf'] as const
    const data = JSON.parse('{"toString":"a","constructor":{"valueOf":1}}') as object
    const text = '{"toString":"a","constructor":{"valueOf":1}'
    const setWritable = (writable: boolean): void => {
      for (const name of names) Reflect.defineProperty(Object.prototype, name, { writable })
    }
    setWritable(false)
    try {
      expect(textOf(data)).toBe(`${text}}`)
      expect(textOf({ ...data, at: new Date(0) })).toBe(`${text},"at":"1970-01-01T00:00:00.000Z"}`)
      expect(toJsonText(data, defaultJsonLimits, { valueOf: 'x' }).json).toBe(
        `${text},"valueOf":"x"}`,
      )
    } finally {
      setWritable(true)
    }
  })
})
