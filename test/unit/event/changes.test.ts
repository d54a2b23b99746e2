import { AuditLog, type JsonObject, type JsonValue } from 'daybook'
import { memoryStore } from 'daybook/memory'
import fc from 'fast-check'
import jsonPatch, { type Operation } from 'fast-json-patch'
import { describe, expect, it } from 'vitest'
import { changeData } from '../../../src/event/changes.js'
import { defaultJsonLimits } from '../../../src/event/json.js'

const limits = defaultJsonLimits

const changesOf = (before: unknown, after: unknown): readonly unknown[] =>
  changeData(before, after, limits).changes

/** Applies the operations to the document, as any JSON Patch library would. */
function patched(before: JsonValue, operations: readonly unknown[]): unknown {
  const copy = structuredClone(before)
  return jsonPatch.applyPatch(copy, operations as Operation[], true, true, false).newDocument
}

describe('changes', () => {
  it('are operations with the previous values', () => {
    const before = { name: 'a', code: 'x', tags: ['p', 'q'], settings: { theme: 'dark' } }
    const after = { name: 'b', tags: ['p'], settings: { theme: 'dark', font: 12 }, archived: null }
    expect(changesOf(before, after)).toEqual([
      { op: 'add', path: '/settings/font', value: 12 },
      { op: 'remove', path: '/tags/1', old_value: 'q' },
      { op: 'remove', path: '/code', old_value: 'x' },
      { op: 'replace', path: '/name', value: 'b', old_value: 'a' },
      { op: 'add', path: '/archived', value: null },
    ])
    expect(changeData({ a: 1 }, { a: 1 }, limits)).toEqual({ changes: [] })
    expect(changesOf({ a: null }, { a: 0 })).toEqual([
      { op: 'replace', path: '/a', value: 0, old_value: null },
    ])
  })

  it('of a created or deleted document name all members', () => {
    const state = { name: 'a', list: [1] }
    expect(changesOf(undefined, state)).toEqual([
      { op: 'add', path: '/name', value: 'a' },
      { op: 'add', path: '/list', value: [1] },
    ])
    expect(changesOf(state, null)).toEqual([
      { op: 'remove', path: '/list', old_value: [1] },
      { op: 'remove', path: '/name', old_value: 'a' },
    ])
    expect(changesOf(undefined, null)).toEqual([])
  })

  it('are computed for any value, as `record` would store it', () => {
    expect(changesOf([1], { a: 1 })).toEqual([
      { op: 'replace', path: '', value: { a: 1 }, old_value: [1] },
    ])
    expect(changesOf({}, JSON.parse('{"__proto__":{"a":1}}'))).toEqual([
      { op: 'add', path: '/__proto__', value: { a: 1 } },
    ])
    expect(changesOf('a', 'b')).toEqual([{ op: 'replace', path: '', value: 'b', old_value: 'a' }])
    const cyclic: Record<string, unknown> = { when: new Date(0), rate: NaN }
    cyclic['self'] = cyclic
    const before = { when: new Date(0), rate: 1, self: null, gone: undefined }
    const expected = [{ op: 'replace', path: '/rate', value: 'NaN', old_value: 1 }]
    expect(changesOf(before, cyclic)).toEqual(expected)
    const throwing = {
      get a() {
        throw new Error('oh')
      },
    }
    expect(changesOf({ a: 1 }, throwing)).toEqual([
      { op: 'replace', path: '/a', value: null, old_value: 1 },
    ])
  })

  it('show only that a secret changed', () => {
    const data = changeData(
      {
        password: 'p1',
        settings: { api_key: 'k1', port: 1 },
        'x/Token~': 't1',
        credentials: { user: 'u1', list: ['l1'] },
        same: { secret: 's' },
        dropped: [{ cookie: 'c1' }],
      },
      {
        password: 'p2',
        settings: { api_key: 'k2', port: 2 },
        'x/Token~': 't2',
        credentials: { user: 'u2', list: [] },
        same: { secret: 's' },
        added: { deep: [{ clientSecret: 'd1', n: 1 }] },
        'access-key': { id: 'i1' },
      },
      limits,
    )
    const hidden = '[redacted]'
    const both = { value: hidden, old_value: hidden }
    expect(data.changes).toEqual([
      { op: 'remove', path: '/dropped', old_value: [{ cookie: hidden }] },
      { op: 'remove', path: '/credentials/list/0', old_value: hidden },
      { op: 'replace', path: '/credentials/user', ...both },
      { op: 'replace', path: '/x~1Token~0', ...both },
      { op: 'replace', path: '/settings/port', value: 2, old_value: 1 },
      { op: 'replace', path: '/settings/api_key', ...both },
      { op: 'replace', path: '/password', ...both },
      { op: 'add', path: '/added', value: { deep: [{ clientSecret: hidden, n: 1 }] } },
      { op: 'add', path: '/access-key', value: hidden },
    ])
    expect(JSON.stringify(data)).not.toMatch(/"[a-z]1"|"[a-z]2"/)
  })

  it('cut long texts, turn large values into cut text, and mark both', () => {
    const long = 'é'.repeat(5000)
    expect(changesOf({ a: long }, { a: `${long}!`, b: { c: [long] } })).toEqual([
      {
        op: 'replace',
        path: '/a',
        value: 'é'.repeat(2048),
        old_value: 'é'.repeat(2048),
        cut_bytes: 2 * (10_000 - 4096) + 1,
      },
      { op: 'add', path: '/b', value: { c: ['é'.repeat(2048)] }, cut_bytes: 10_000 - 4096 },
    ])
    const rows = Array.from({ length: 20_000 }, (_, i) => i)
    const [change] = changeData({}, { rows }, limits).changes
    expect(change!.value).toBe(JSON.stringify(rows).slice(0, 4096))
    expect(change!.cut_bytes).toBe(JSON.stringify(rows).length - 4098)
  })

  it('are at most 1000, and within half the limit', () => {
    const many = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`k${i}`, i]))
    const data = changeData({}, many, limits)
    expect([data.changes.length, data.changes_cut]).toEqual([1000, 500])
    const texts = Object.fromEntries(Object.keys(many).map((key) => [key, 'x'.repeat(4000)]))
    for (const maxBytes of [1024, 100_000, limits.maxBytes]) {
      const data = changeData({}, texts, { ...limits, maxBytes })
      expect(JSON.stringify(data.changes).length).toBeLessThanOrEqual(maxBytes / 2 + 2)
      expect(data.changes.length).toBeGreaterThan(2)
      expect(data.changes.length + data.changes_cut!).toBe(1500)
    }
  })

  it('of large documents are listed, of even larger documents only counted', () => {
    const rows = (count: number, named: string): object[] =>
      Array.from({ length: count }, (_, i) => ({ id: i, name: i === 70_000 ? named : 'n' }))
    expect(changesOf({ rows: rows(100_000, 'a') }, { rows: rows(100_000, 'b') })).toEqual([
      { op: 'replace', path: '/rows/70000/name', value: 'b', old_value: 'a' },
    ])
    expect(changeData({ rows: rows(150_000, 'a') }, {}, limits)).toEqual({
      changes: [],
      changes_cut: 1,
    })
  })
})

const key = fc.constantFrom('a', 'b', 'c/d', '~', '', '0', 'constructor')
const { document } = fc.letrec<{ value: JsonValue; document: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonValue>(null, true, 0, 1, 'x', 'y', ''),
    tie('document'),
    fc.array(tie('value'), { maxLength: 4 }),
  ),
  document: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
}))

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('changes of any documents', () => {
  it('convert one document to the other, also after they were stored', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        const { changes } = changeData(before, after, limits)
        expect(plain(patched(before, plain(changes) as unknown[]))).toEqual(plain(after))
      }),
      { numRuns: 500 },
    )
  })

  it('can be reverted', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        const back = changeData(before, after, limits)
          .changes.toReversed()
          .map(({ op, path, old_value }): object => {
            if (op === 'add') return { op: 'remove', path }
            return { op: op === 'remove' ? 'add' : 'replace', path, value: old_value }
          })
        expect(plain(patched(after, plain(back) as unknown[]))).toEqual(plain(before))
      }),
      { numRuns: 500 },
    )
  })
})

it('events are found by changed paths and values', async () => {
  await using audit: AuditLog = new AuditLog({ store: memoryStore(), types: {} })
  const record = (type: string, before: object, after: object): Promise<unknown> =>
    audit.recordCustom(type, changeData(before, after, audit.limits))
  await record('name', { name: 'old', n: 1 }, { name: 'new', n: 1 })
  await record('theme', { settings: { theme: 'old' } }, { settings: { theme: 'dark' } })
  await record('none', { a: 1 }, { a: 1 })
  const found = async (query: string): Promise<string> => {
    const { events } = await audit.list(query)
    return events.map(({ type }) => type).join(' ')
  }
  expect(await found('filter[changes_path_eq]=/name')).toBe('name')
  expect(await found('filter[changes_path_start]=/settings')).toBe('theme')
  expect(await found('filter[changes_value_eq]=new')).toBe('name')
  expect(await found('filter[changes_old_value_eq]=old')).toBe('name theme')
  expect(await found('filter[changes_op_eq]=replace')).toBe('name theme')
  expect(await found('filter[changes_null]=1')).toBe('none')
})
