import {
  AuditLog,
  type AuditEvent,
  type HistoryEntry,
  type HistoryOptions,
  type HistoryResource,
  type JsonObject,
  type JsonValue,
  revertPatch,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import fc from 'fast-check'
import jsonPatch, { type Operation } from 'fast-json-patch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const types = {
  'api:orders:create': {},
  'api:orders:update': {},
  'api:orders:destroy': {},
  'audit:orders:create': {},
  'audit:orders:update': {},
  'audit:orders:destroy': {},
}

let audit: AuditLog<typeof types>

beforeEach(() => {
  audit = new AuditLog({
    store: memoryStore(),
    types,
    links: [
      { attribute: 'project_id', kind: 'uuid', path: '/api/projects/{project_id}', rank: 1 },
      { attribute: 'shop_code', kind: 'code', path: '/api/shops/{shop_code}', rank: 2 },
    ],
  })
})
afterEach(() => audit.close())

type Action = 'create' | 'update' | 'destroy'

/** Records the change of the order `A-17`. */
async function change(
  action: Action,
  before: JsonValue,
  after: JsonValue,
  data: object = {},
): Promise<AuditEvent> {
  const options = { data: { order_id: 'A-17', ...data } }
  return (await audit.recordChange(`api:orders:${action}`, before, after, options))!
}

async function historyOf(
  resource: HistoryResource = { order_id: 'A-17' },
  options?: HistoryOptions,
): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = []
  for await (const entry of audit.history(resource, options)) entries.push(entry)
  return entries
}

const statesOf = async (options?: HistoryOptions): Promise<unknown[]> =>
  (await historyOf(undefined, options)).map(({ state }) => state)

/** States without anything that looks like a secret. */
const anyState = fc.object({
  key: fc.constantFrom('a', 'b', 'c/d', '~1'),
  values: [fc.integer(), fc.boolean(), fc.constant(null), fc.constantFrom('x', 'y')],
}) as fc.Arbitrary<JsonObject>

const patched = (state: JsonValue, patch: readonly Operation[]): unknown =>
  jsonPatch.applyPatch(state, patch, true, false).newDocument

describe('history', () => {
  it('has the states of a resource, oldest first, each with its event and its patch', async () => {
    const created = await change('create', null, { total: 1 })
    await audit.recordChange('api:orders:create', null, { total: 7 }, { data: { order_id: 'B-1' } })
    await audit.record('api:orders:update', { order_id: 'A-17', note: 'no change' })
    const updated = await change('update', { total: 1 }, { total: 2, paid: true })
    const removed = await change('destroy', { total: 2, paid: true }, null)
    expect(await historyOf()).toEqual([
      { event: created, patch: [{ op: 'add', path: '/total', value: 1 }], state: { total: 1 } },
      {
        event: updated,
        patch: [
          { op: 'replace', path: '/total', value: 2 },
          { op: 'add', path: '/paid', value: true },
        ],
        state: { total: 2, paid: true },
      },
      {
        event: removed,
        patch: [
          { op: 'remove', path: '/paid' },
          { op: 'remove', path: '/total' },
        ],
        state: null,
      },
    ])
  })

  it('finds a resource by its source, or by several attributes', async () => {
    const project_id = '0190b6a4-64a1-7000-8000-000000000001'
    await change('create', null, { a: 1 }, { project_id, primary_key: { day: '2026-03-01', n: 7 } })
    const found = async (resource: HistoryResource): Promise<number> =>
      (await historyOf(resource)).length
    expect(await found(`/api/projects/${project_id}`)).toBe(1)
    expect(await found({ primary_key_day: '2026-03-01', primary_key_n: 7 })).toBe(1)
    expect(await found({ primary_key_day: '2026-03-01', primary_key_n: 8 })).toBe(0)
  })

  it('ends at the time `asOf`', async () => {
    const first = await change('create', null, { n: 1 })
    await change('update', { n: 1 }, { n: 2 })
    expect(await statesOf({ asOf: first.created_at })).toEqual([{ n: 1 }])
    expect(await statesOf({ asOf: '2000-01-01' })).toEqual([])
  })

  it('has the states of events with `before` and `after`', async () => {
    const record = (action: Action, data: object): Promise<unknown> =>
      audit.record(`audit:orders:${action}`, { order_id: 'A-17', ...data })
    await record('update', { before: { n: 1, list: [1] }, after: { n: 2, list: [1] } })
    await record('destroy', { before: { n: 2, list: [1] } })
    await record('create', { after: { n: 3 } })
    await record('create', { before: 'yesterday' })
    const entries = await historyOf()
    expect(entries.map(({ state }) => state)).toEqual([{ n: 2, list: [1] }, null, { n: 3 }])
    expect(entries[0]!.patch).toEqual([{ op: 'replace', path: '/n', value: 2 }])
    expect(patched({ n: 2, list: [1] }, entries[1]!.patch!)).toEqual({})
  })

  describe('of a captured row with a changed key', () => {
    interface Row {
      readonly id: string
      readonly n?: number
      readonly more?: number
    }
    type Step = readonly [before: Row | null, after: Row | null, cut?: 'cut']

    /** Records the change as triggers do. */
    async function capture([before, after, cut]: Step): Promise<void> {
      const action = before && after ? 'update' : after ? 'create' : 'destroy'
      const [from, to] = [before?.id, (after ?? before)!.id]
      await audit.record(`audit:orders:${action}`, {
        table: 'orders',
        order_id: to,
        ...(from !== undefined && from !== to && { previous_order_id: from }),
        ...(cut
          ? { recording: { replaced: ['/before', '/after'], cut_bytes: 9 } }
          : { ...(before && { before }), ...(after && { after }) }),
      })
    }

    const row = (id: string, n: number): Row => ({ id, n })
    const [A, B, P, Q] = [row('A', 1), row('B', 1), row('P', 1), row('Q', 2)]
    const gone = null

    it.each<[string, readonly Step[], Readonly<Record<string, readonly unknown[]>>]>([
      [
        'continues under the new key, and another row can get the old key',
        [
          [gone, A],
          [A, B],
          [gone, row('A', 9)],
          [B, row('B', 3)],
          [row('B', 3), gone],
        ],
        { A: [A, gone, row('A', 9)], B: [B, row('B', 3), gone] },
      ],
      [
        'is right if two rows exchange their keys',
        [
          [gone, P],
          [gone, Q],
          [P, row('Q', 1)],
          [Q, row('P', 2)],
        ],
        { P: [P, gone, row('P', 2)], Q: [Q, row('Q', 1), row('Q', 1)] },
      ],
      [
        'is right if two equal rows exchange their keys',
        [
          [gone, P],
          [gone, row('Q', 1)],
          [P, row('Q', 1)],
          [row('Q', 1), P],
        ],
        { P: [P, gone, P], Q: [row('Q', 1), row('Q', 1), row('Q', 1)] },
      ],
      [
        'is right if rows of before the log exchange their keys',
        [
          [P, row('Q', 1)],
          [Q, row('P', 2)],
        ],
        { P: [gone, row('P', 2)], Q: [row('Q', 1), row('Q', 1)] },
      ],
      [
        'is right if three rows exchange their keys',
        [
          [gone, A],
          [gone, P],
          [gone, Q],
          [A, row('P', 1)],
          [P, row('Q', 1)],
          [Q, row('A', 2)],
        ],
        {
          A: [A, gone, row('A', 2)],
          P: [P, row('P', 1), row('P', 1)],
          Q: [Q, row('Q', 1), row('Q', 1)],
        },
      ],
      [
        'ends though a column was added',
        [
          [gone, { id: 'A' }],
          [
            { id: 'A', more: 1 },
            { id: 'B', more: 1 },
          ],
        ],
        { A: [{ id: 'A' }, gone] },
      ],
      [
        'is not known if the row was changed without an event',
        [
          [gone, A],
          [row('A', 5), row('B', 5)],
        ],
        { A: [A, undefined], B: [row('B', 5)] },
      ],
    ])('%s', async (_, steps, states) => {
      for (const step of steps) await capture(step)
      for (const [order_id, expected] of Object.entries(states)) {
        for (const resource of [{ order_id }, { order_id, table: 'orders' }])
          expect((await historyOf(resource)).map(({ state }) => state)).toEqual(expected)
      }
      expect(await historyOf({ order_id: 'A', table: 'other' })).toEqual([])
    })

    it('is found by its source and by a key of several columns', async () => {
      const id = (digit: number): string => `0190b6a4-64a1-7000-8000-00000000000${digit}`
      const [before, after] = [{ n: 1 }, { n: 2 }]
      const keys = { primary_key: { day: 'x', n: 2 }, previous_primary_key: { day: 'x', n: 1 } }
      const project_id = id(2)
      const previous_project_id = id(1).toUpperCase()
      const data = { table: 'lines', project_id, previous_project_id, ...keys, before, after }
      await audit.record('audit:orders:update', data)
      const states = async (resource: HistoryResource): Promise<unknown[]> =>
        (await historyOf(resource)).map(({ state }) => state)
      expect(await states(`/api/projects/${id(1)}`)).toEqual([null])
      expect(await states(`/api/projects/${id(2)}`)).toEqual([after])
      await audit.record('audit:orders:update', {
        shop_code: 'B',
        previous_shop_code: 'A',
        before,
        after,
      })
      expect(await states('/api/shops/A')).toEqual([null])
      // Unlike a UUID, a code in upper case is another one.
      expect(await states('/api/shops/a')).toEqual([])
      expect(await states({ primary_key_day: 'x', primary_key_n: 1 })).toEqual([null])
      expect(await states({ primary_key_day: 'x', primary_key_n: 2 })).toEqual([after])
      expect(await states({ primary_key_day: 'y', primary_key_n: 1 })).toEqual([])
    })

    const statesOfA = async (): Promise<unknown[]> =>
      (await historyOf({ order_id: 'A' })).map(({ state }) => state)

    it('does not end by other events with such an attribute', async () => {
      await capture([gone, A])
      const data = { order_id: 'B', previous_order_id: 'A', before: { ...A }, after: { ...B } }
      await audit.recordCustom('audit:orders:update', data)
      await audit.record('api:orders:update', data)
      await audit.record('audit:orders:create', data)
      expect(await statesOfA()).toEqual([A])
    })

    it('is not known after an update of a large row, except that it ends', async () => {
      for (const step of [
        [gone, A],
        [A, A, 'cut'],
        [A, B, 'cut'],
      ] as const)
        await capture(step)
      expect(await statesOfA()).toEqual([A, undefined, null])
    })
  })

  it('has no state before the first complete one, and after a change that does not fit', async () => {
    await change('update', { n: 1 }, { n: 2 })
    await change('update', [1], { n: 5 })
    await change('update', { n: 5 }, { n: 6 })
    await change('update', { n: 7 }, { n: 8 })
    await change('create', null, { n: 9 })
    await change('update', { n: 9, text: '' }, { n: 9, text: 'a'.repeat(5000) })
    await change('update', { n: 9 }, { n: 10 })
    const entries = await historyOf()
    const unknown = undefined
    expect(entries.map(({ state }) => state)).toEqual([
      unknown,
      { n: 5 },
      { n: 6 },
      unknown,
      { n: 9 },
      unknown,
      unknown,
    ])
    expect(entries.map(({ patch }) => patch === undefined)).toEqual([
      ...[false, false, false, false, false],
      true,
      false,
    ])
  })

  it('shows secrets as redacted, and goes on', async () => {
    await change('create', null, { n: 1, password: 'a' })
    await change('update', { n: 1, password: 'a' }, { n: 1, password: 'b' })
    await change('update', { n: 1, password: 'b' }, { n: 2, password: 'b' })
    const password = '[redacted]'
    expect(await statesOf()).toEqual([
      { n: 1, password },
      { n: 1, password },
      { n: 2, password },
    ])
  })

  it('reads page by page', async () => {
    const events = 1100
    for (let n = 0; n < events; n++) void change('update', { n }, { n: n + 1 })
    await audit.flush()
    let entries = 0
    for await (const { patch } of audit.history({ order_id: 'A-17' })) {
      entries++
      expect(patch).toEqual([{ op: 'replace', path: '/n', value: entries }])
    }
    expect(entries).toBe(events)
  })

  it('has the states of any sequence of changes', async () => {
    let orders = 0
    await fc.assert(
      fc.asyncProperty(fc.array(anyState, { maxLength: 5 }), async (recorded) => {
        const order_id = ++orders
        let before: JsonObject | null = null
        const stored: unknown[] = []
        for (const after of recorded) {
          const type = before ? 'api:orders:update' : 'api:orders:create'
          const options = { data: { order_id, n: stored.length } }
          const event = (await audit.recordChange(type, before, after, options))!
          if ((event.attributes['changes'] as JsonValue[]).length > 0) stored.push(after)
          else if (!before) return
          before = after
        }
        const found = await historyOf({ order_id })
        expect(JSON.stringify(found.map(({ state }) => sorted(state)))).toBe(
          JSON.stringify(stored.map(sorted)),
        )
      }),
      { numRuns: 100 },
    )
  })

  it.each<[unknown, HistoryOptions, string]>([
    ['A-17', {}, "resource must be a path such as /api/orders/1; it is 'A-17'"],
    [{}, {}, 'resource must have at least one attribute'],
    [7, {}, 'resource must be a source path or attributes; it is 7'],
    [['/api'], {}, "resource must be a source path or attributes; it is [ '/api' ]"],
    [{ id: null }, {}, 'resource id must be a text, a number or a boolean; it is null'],
    [{ a: 1 }, { asOf: 'now' }, "asOf must be a time such as 2026-03-01T12:00:00Z; it is 'now'"],
  ])('of %o with %o is refused', async (resource, options, message) => {
    await expect(historyOf(resource as string, options)).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      message,
    })
  })
})

/** The value with sorted keys, because a patch need not restore the order. */
function sorted(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(sorted)
  const members = Object.entries(value).map(([key, member]) => [key, sorted(member)] as const)
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

describe('revertPatch', () => {
  it('has the inverse operations in reverse order', async () => {
    const before = { name: 'a', tags: ['p', 'q', 'r'], gone: null }
    const after = { name: 'b', tags: ['p'], extra: { deep: 1 } }
    const event = await change('update', before, after)
    const patch = revertPatch(event)
    expect(patched(after, patch)).toEqual(before)
    expect(patch[0]).toEqual({ op: 'remove', path: '/extra' })
    expect(patch.every((operation) => !('old_value' in operation))).toBe(true)
  })

  it('of a creation removes every member, and of a deletion adds them', async () => {
    const state = { a: 1, list: [{ b: 2 }] }
    expect(patched(state, revertPatch(await change('create', null, state)))).toEqual({})
    expect(patched({}, revertPatch(await change('destroy', state, null)))).toEqual(state)
    const after = { attributes: { after: state } }
    expect(patched(state, revertPatch(after))).toEqual({})
    expect(patched({}, revertPatch({ attributes: { before: state } }))).toEqual(state)
  })

  it('with `test` fails if the value was changed again', async () => {
    const event = await change('update', { n: 1, m: 1 }, { n: 2, m: 2 })
    const patch = revertPatch(event, { test: true })
    expect(patched({ n: 2, m: 2, other: 1 }, patch)).toEqual({ n: 1, m: 1, other: 1 })
    expect(() => patched({ n: 2, m: 3 }, patch)).toThrow('Test operation failed')
    expect(patched({ n: 2, m: 3 }, revertPatch(event))).toEqual({ n: 1, m: 1 })
  })

  it('undoes any change', async () => {
    await fc.assert(
      fc.asyncProperty(anyState, anyState, async (before, after) => {
        const event = await change('update', before, after)
        for (const test of [false, true])
          expect(patched(after, revertPatch(event, { test }))).toEqual(before)
      }),
      { numRuns: 100 },
    )
  })

  it('needs nothing of a secret that was added', async () => {
    const event = await change('update', {}, { password: 'a' })
    expect(revertPatch(event, { test: true })).toEqual([{ op: 'remove', path: '/password' }])
  })

  it('has numbers that are recorded as texts', () => {
    const attributes = {
      before: { a: '-9007199254740993' },
      recording: { replaced: ['/before/a'] },
    }
    expect(patched({}, revertPatch({ attributes }))).toEqual(attributes.before)
  })

  it.each<[string, JsonObject]>([
    ['it holds no change: it has no attribute changes, before or after', { name: 'x' }],
    ['some of its changes are left out (changes_cut)', { changes: [], changes_cut: 1 }],
    ['its attributes are cut', { before: { a: 1 }, recording: { replaced: [], cut_bytes: 9 } }],
    [
      'the values of changes/0 are cut',
      { changes: [{ op: 'replace', path: '/a', value: '', old_value: '', cut_bytes: 1 }] },
    ],
    [
      'the old value of /a is redacted',
      { changes: [{ op: 'remove', path: '/a', old_value: { b: ['Bearer [redacted]'] } }] },
    ],
    [
      'only the number of bytes of the old value of /a is recorded',
      { before: { a: { bytes: 2 } }, after: { a: null } },
    ],
    [
      'the old value of /a is not recorded as it was',
      { before: { a: { b: '9007199254740993' } }, recording: { replaced: ['/before/a/b'] } },
    ],
    [
      'the old value of /a is not recorded as it was',
      { before: { a: '\ufffd' }, recording: { replaced: ['/after/a', '/before/a'] } },
    ],
    [
      'the old value of /a is not recorded as it was',
      { before: { a: [1] }, recording: { replaced: Array(50).fill('/before/b/c') } },
    ],
    ['changes/0 (remove /a) has no old_value', { changes: [{ op: 'remove', path: '/a' }] }],
    [
      'changes/1 is not an operation that recordChange writes',
      {
        changes: [
          { op: 'add', path: '/a', value: 1 },
          { op: 'move', path: '/b', from: '/a' },
        ],
      },
    ],
  ])('throws NOT_REVERTIBLE: %s', (reason, attributes) => {
    expect(() => revertPatch({ attributes })).toThrow(
      expect.objectContaining({
        code: 'NOT_REVERTIBLE',
        message: `the event cannot be undone: ${reason}`,
      }),
    )
  })
})
