import assert from 'node:assert/strict'
import type { AuditLog } from '../../audit-log.js'
import type { CountOptions, EventCounts, Facet } from '../../store/counts.js'
import type { AuditEvent, JsonObject } from '../../event/event.js'
import { parseQuery, type QueryObject } from '../../filter/parse.js'
import { parseVisible, type Visible } from '../../filter/visible-filter.js'
import { type Case, cases } from './context.js'
import { SECOND } from '../../event/timestamp.js'
import { draft, imported, recordSome, rejectsWith, turns, range } from './helpers.js'
import { addText, openLive } from './live-events.js'

/** An event of the past, at a time of 2025. */
type Past = readonly [time: string, type: string, overrides?: Partial<AuditEvent>]

/** Imports the events, with ids that do not contain their times. */
async function importPast(audit: AuditLog, past: readonly Past[]): Promise<void> {
  const events = past.map(([time, type, overrides], n) =>
    imported({
      id: `0196b3c2-0000-4000-8000-${String(n).padStart(12, '0')}`,
      created_at: `2025-${time}`,
      type,
      attributes: {},
      ...overrides,
    }),
  )
  assert.equal((await audit.importEvents(events)).imported, past.length)
}

/** Imports one event per second, with these attributes. */
const importAttributes = (audit: AuditLog, all: readonly JsonObject[]): Promise<void> =>
  importPast(
    audit,
    all.map((attributes, n) => [
      `05-01T10:00:${String(n).padStart(2, '0')}.000000Z`,
      'x',
      { attributes },
    ]),
  )

/** Six events of four levels, by three users and by none. */
const LEVELS: readonly Past[] = [
  ['05-01T10:00:00.000000Z', 'api:things:create', { username: 'ann' }],
  ['05-01T10:00:01.000000Z', 'error:things:create', { username: 'ann' }],
  ['05-01T10:00:02.000000Z', 'warning:disk:full', { username: null }],
  ['05-01T10:00:03.000000Z', 'Warn:disk:full', { username: 'bob' }],
  ['05-01T10:00:04.000000Z', 'api:things:create', { username: 'bob', system: false }],
  ['05-01T10:00:05.000000Z', 'deploy', { username: 'Ann', system: false }],
]

const EXACT = { total: true, levels: true, buckets: true, attributes: true }

async function count(
  audit: AuditLog,
  filter: QueryObject['filter'],
  options: CountOptions = {},
): Promise<EventCounts> {
  return audit.count({ filter }, { within: 60_000, ...options })
}

/** For example `"ann" 2, "bob" 1; 2 different, 1 without`. */
const facetText = ({ values, distinct, missing }: Facet): string => {
  const counts = values.map(({ value, count }) => `${JSON.stringify(value)} ${count}`)
  return `${counts.join(', ')}; ${distinct} different, ${missing} without`
}

const total = async (audit: AuditLog, filter: QueryObject['filter']): Promise<number> =>
  (await count(audit, filter)).total

export const countCases: readonly Case[] = cases({
  async 'count: counts the matching events and their levels'({ audit }) {
    await importPast(audit, LEVELS)
    const { took_ms, ...counts } = await count(audit, {})
    assert.ok(Number.isInteger(took_ms) && took_ms >= 0)
    assert.deepEqual(counts, {
      total: 6,
      levels: { error: 1, warn: 2, api: 2, custom: 1 },
      buckets: undefined,
      facets: {},
      attributes: undefined,
      exact: EXACT,
    })
    const expected: readonly (readonly [QueryObject['filter'], number])[] = [
      [{ type_eq: 'api:things:create' }, 2],
      [{ type_start: 'WARN' }, 2],
      [{ type_start_any: ['warn:', 'warning:'] }, 2],
      [{ type_cont: 'things', username_eq: 'ann' }, 2],
      [{ username_eq: 'Ann' }, 1],
      [{ username_not_eq: 'ann' }, 3],
      [{ username_null: '1' }, 1],
      [{ system_false: '1' }, 2],
      [{ system_true: '1', type_end: 'FULL' }, 2],
      [{ m: 'or', username_null: '1', system_false: '1' }, 3],
      [{ type_or_name_eq: 'deploy' }, 1],
      [{ created_at_gteq: '2025-05-01T10:00:02Z' }, 4],
      [{ created_at_lt: '2025-05-01T10:00:02Z', type_start: 'error:' }, 1],
      [{ created_at_not_eq: '2025-05-01T10:00:02Z' }, 5],
      [{ created_at_cont: ':03.' }, 1],
      [{ id_in: ['0196b3c2-0000-4000-8000-000000000004', 'none'] }, 1],
      [{ g: [{ created_at_gt: '2025-05-01T10:00:01Z' }, { type_cont: 'disk' }] }, 2],
      [{ created_at_gt: '2025-06-01' }, 0],
      [{ created_at_gt: '2025-05-01T10:00:05Z', created_at_lt: '2025-05-01T10:00:00Z' }, 0],
    ]
    for (const [filter, matching] of expected)
      assert.equal(await total(audit, filter), matching, JSON.stringify(filter))
  },

  async 'count: all counts of an empty log are zero'({ audit }) {
    const options = { buckets: {}, facets: ['level', 'type', 'name'], attributes: true }
    const { took_ms: _, ...counts } = await count(audit, {}, options)
    const none = { values: [], distinct: 0, missing: 0, exact: true }
    assert.deepEqual(counts, {
      total: 0,
      levels: {},
      buckets: { width: 1, zone: 'UTC', buckets: [] },
      facets: { level: none, type: none, name: none },
      attributes: [],
      exact: EXACT,
    })
  },

  async 'count: filters on attributes'({ audit }) {
    await importAttributes(audit, [
      { name: 'Alpha', n: 7 },
      { name: 'beta', n: '7' },
      { name: null, list: [{ code: 'x' }, { code: 'y' }] },
      { list_code: 'x' },
    ])
    assert.equal(await total(audit, { name_cont: 'ALPHA' }), 1)
    assert.equal(await total(audit, { n_eq: '7' }), 2)
    assert.equal(await total(audit, { name_null: '1' }), 2)
    assert.equal(await total(audit, { name_not_eq: 'beta' }), 1)
    assert.equal(await total(audit, { list_code_eq: 'x' }), 2)
    assert.equal(await total(audit, { list_code_eq: 'x', type_eq: 'x' }), 2)
    assert.equal(await total(audit, { name_or_list_code_eq: 'y' }), 1)
  },

  async 'count: an attribute with the name of a facet'({ audit }) {
    await importAttributes(audit, [{ level: 5 }, { level: 6 }, { type: 'x' }, {}])
    assert.equal((await count(audit, { level_eq: 5 })).total, 1)
    assert.equal((await count(audit, { level_gt: 1 }, { facets: ['level'] })).total, 2)
    assert.equal((await count(audit, { level_null: true })).total, 2)
  },

  async 'count: buckets from the oldest event to the present'({ audit, clock }) {
    clock.advance(5.5 * SECOND)
    await recordSome(audit, 3)
    clock.advance(25 * SECOND)
    await recordSome(audit, 1)
    clock.advance(4 * SECOND)
    const { buckets } = await count(audit, {}, { buckets: { count: 4 } })
    assert.deepEqual(
      buckets?.buckets.map(({ from, to, total }) => [from.slice(17, 19), to.slice(17, 19), total]),
      [
        ['00', '10', 3],
        ['10', '20', 0],
        ['20', '30', 0],
        ['30', '40', 1],
      ],
    )
    assert.equal(buckets?.width, 10)
  },

  async 'count: buckets start at round times in the zone and have no gaps'({ audit }) {
    await importPast(audit, [
      ['10-25T21:59:59.999999Z', 'api:a:b'],
      ['10-25T22:00:00.000000Z', 'error:a:b'],
      ['10-26T22:59:59.999999Z', 'api:a:b'],
      ['10-28T00:00:00.000000Z', 'info:a:b'],
    ])
    const filter = {
      created_at_gteq: '2025-10-24T22:00:00Z',
      created_at_lt: '2025-10-28T22:00:00Z',
    }
    const { buckets } = await count(audit, filter, { buckets: { count: 5, zone: 'Europe/Berlin' } })
    const day = (from: string, to: string, levels: EventCounts['levels'], total: number) => ({
      from: `2025-10-${from}:00:00.000000Z`,
      to: `2025-10-${to}:00:00.000000Z`,
      total,
      levels,
    })
    assert.deepEqual(buckets, {
      width: 86_400,
      zone: 'Europe/Berlin',
      buckets: [
        day('24T22', '25T22', { api: 1 }, 1),
        // Daylight saving time ends.
        day('25T22', '26T23', { error: 1, api: 1 }, 2),
        day('26T23', '27T23', {}, 0),
        day('27T23', '28T23', { info: 1 }, 1),
      ],
    })
    const none = await count(audit, { ...filter, type_eq: 'none' }, { buckets: { count: 5 } })
    assert.deepEqual(none.buckets?.buckets, [])
  },

  async 'count: facets are counted without their own conditions'({ audit }) {
    await importPast(audit, LEVELS)
    const facets = ['level', 'type', 'username', 'system']
    const query = async (filter: QueryObject['filter']): Promise<unknown[]> => {
      const counts = await count(audit, filter, { facets })
      return [counts.total, ...facets.map((name) => facetText(counts.facets[name]!))]
    }
    assert.deepEqual(await query({}), [
      6,
      '"api" 2, "warn" 2, "custom" 1, "error" 1; 4 different, 0 without',
      '"api:things:create" 2, "Warn:disk:full" 1, "deploy" 1, "error:things:create" 1, "warning:disk:full" 1; 5 different, 0 without',
      '"ann" 2, "bob" 2, "Ann" 1; 3 different, 1 without',
      'true 4, false 2; 2 different, 0 without',
    ])
    assert.deepEqual(await query({ username_eq: 'ann' }), [
      2,
      '"api" 1, "error" 1; 2 different, 0 without',
      '"api:things:create" 1, "error:things:create" 1; 2 different, 0 without',
      '"ann" 2, "bob" 2, "Ann" 1; 3 different, 1 without',
      'true 2; 1 different, 0 without',
    ])
    assert.deepEqual(await query({ type_start_any: ['warn:', 'WARNING:'], username_eq: 'bob' }), [
      1,
      '"api" 1, "warn" 1; 2 different, 0 without',
      '"Warn:disk:full" 1; 1 different, 0 without',
      '"bob" 1; 1 different, 1 without',
      'true 1; 1 different, 0 without',
    ])
    assert.deepEqual(await query({ type_eq: 'deploy', type_not_start: 'error:' }), [
      1,
      '"custom" 1; 1 different, 0 without',
      '"api:things:create" 2, "Warn:disk:full" 1, "deploy" 1, "warning:disk:full" 1; 4 different, 0 without',
      '"Ann" 1; 1 different, 0 without',
      'false 1; 1 different, 0 without',
    ])
    assert.deepEqual(await query({ m: 'or', username_eq: 'bob', username_null: '1' }), [
      3,
      '"warn" 2, "api" 1; 2 different, 0 without',
      '"Warn:disk:full" 1, "api:things:create" 1, "warning:disk:full" 1; 3 different, 0 without',
      '"ann" 2, "bob" 2, "Ann" 1; 3 different, 1 without',
      'true 2, false 1; 2 different, 0 without',
    ])
    const top = await count(audit, {}, { top: 1, facets: ['level', 'username'] })
    assert.equal(facetText(top.facets['level']!), '"api" 2; 4 different, 0 without')
    assert.equal(facetText(top.facets['username']!), '"ann" 2; 3 different, 1 without')
  },

  async 'count: `visible` restricts every facet'({ audit }) {
    await importPast(audit, LEVELS)
    const { where: visible } = parseQuery('filter[username_in][]=ann&filter[username_in][]=bob')
    const counts = await count(
      audit,
      { username_eq: 'ann' },
      { visible, facets: ['username', 'level'] },
    )
    assert.equal(counts.total, 2)
    assert.equal(facetText(counts.facets['username']!), '"ann" 2, "bob" 2; 2 different, 0 without')
    assert.equal(facetText(counts.facets['level']!), '"api" 1, "error" 1; 2 different, 0 without')
    for (const nothing of [{ id_null: true }, { id_in: [] }]) {
      const hidden = await count(audit, {}, { visible: parseVisible(nothing) })
      assert.equal(hidden.total, 0)
    }
  },

  async 'count: `visible` holds for every value of an attribute'({ audit }) {
    await importAttributes(audit, [
      { tenant_id: 'acme' },
      { tenant: { id: 'acme' } },
      { tenant_id: 'umbrella', tenant: { id: 'acme' } },
      { tenant_id: ['acme', 'umbrella'] },
      { tenant_id: ['acme', 'initech'] },
      { tenant_id: { name: 'umbrella' }, tenant: { id: 'acme' } },
      { tenant_id: null, tenant: { id: 'acme' } },
      {},
    ])
    const totals: readonly (readonly [Visible, total: number])[] = [
      [{ tenant_id_eq: 'acme' }, 3],
      [{ tenant_id_eq_any: ['acme', 'initech'] }, 4],
      [{ tenant_id_in: ['acme', 'initech', 'umbrella'] }, 6],
      [{ tenant_id_not_eq: 'acme' }, 0],
      [{ tenant_id_present: '1' }, 7],
    ]
    for (const [filter, total] of totals) {
      const visible = parseVisible(filter)
      const facets = ['tenant_id']
      assert.equal((await count(audit, {}, { visible, facets })).total, total)
      const { events } = await audit.list({ where: visible, sorts: [], limit: 100 })
      assert.equal(events.length, total)
      assert.equal((await audit.groups({}, { by: facets, visible })).total, total)
    }
  },

  async 'count: facet values are those that filters match'({ audit }) {
    await importAttributes(audit, [
      { v: 'b', deep: { v: 1 } },
      { v: 'B', deep: [{ v: 1 }, { v: 2 }] },
      { v: ['b', 'b', [true, null], 7], deep_v: 1 },
      { v: '7', deep: { v: null } },
      { v: 7.5, deep: { v: [] } },
      { v: null, deep: { v: { x: 1 } } },
      { v: [], deep: [] },
      { v: '', deep: { v: ['x', 1e21] } },
      { v: '😀' },
      { v: '\uFFFD' },
    ])
    const facets = ['v', 'deep_v', 'none', 'level']
    const counts = await count(audit, {}, { facets, top: 100 })
    assert.deepEqual(
      facets.map((name) => facetText(counts.facets[name]!)),
      [
        '"b" 2, true 1, 7 1, 7.5 1, "" 1, "7" 1, "B" 1, "\uFFFD" 1, "😀" 1; 9 different, 2 without',
        '1 3, 2 1, 1e+21 1, "x" 1; 4 different, 6 without',
        '; 0 different, 10 without',
        '"custom" 10; 1 different, 0 without',
      ],
    )
    const b = await count(audit, { v_eq: 'b', deep_v_not_null: '1' }, { facets, top: 100 })
    assert.equal(b.total, 2)
    assert.deepEqual(
      facets.map((name) => facetText(b.facets[name]!)),
      [
        '"b" 2, true 1, 7 1, "" 1, "B" 1; 5 different, 1 without',
        '1 2; 1 different, 0 without',
        '; 0 different, 2 without',
        '"custom" 2; 1 different, 0 without',
      ],
    )
  },

  async 'count: facets named like a member of every object'({ audit }) {
    const names = ['toString', 'constructor', '__proto__']
    const given = JSON.parse('{"toString":"a","constructor":"b","__proto__":"c"}') as JsonObject
    await importAttributes(audit, [given, {}])
    const { facets } = await count(audit, {}, { facets: names })
    assert.deepEqual(
      Object.entries(facets).map(([name, facet]) => [name, facetText(facet)]),
      names.map((name, i) => [name, `"${'abc'[i]}" 1; 1 different, 1 without`]),
    )
  },

  async 'count: attribute names with their types and most frequent values'({ audit }) {
    const long = 'x'.repeat(101)
    await importAttributes(audit, [
      { name: 'a', deep: { n: 1, list: [{ code: 'p' }, { code: 'q' }, 5] }, empty: {} },
      { name: 'a', deep: { n: 'one' }, none: null, created: { at: 1 } },
      { name: ['a', 'b', true], deep_n: 1, long },
      { name: null, list: [], long: 'short' },
    ])
    const { attributes } = await count(audit, {}, { attributes: true })
    assert.deepEqual(attributes, [
      {
        name: 'name',
        types: ['string', 'boolean', 'null'],
        count: 4,
        values: [
          { value: 'a', count: 3 },
          { value: true, count: 1 },
          { value: 'b', count: 1 },
        ],
      },
      {
        name: 'deep_n',
        types: ['number', 'string'],
        count: 3,
        values: [
          { value: 1, count: 2 },
          { value: 'one', count: 1 },
        ],
      },
      { name: 'long', types: ['string'], count: 2, values: [{ value: 'short', count: 1 }] },
      { name: 'deep_list', types: ['number'], count: 1, values: [{ value: 5, count: 1 }] },
      {
        name: 'deep_list_code',
        types: ['string'],
        count: 1,
        values: [
          { value: 'p', count: 1 },
          { value: 'q', count: 1 },
        ],
      },
      { name: 'none', types: ['null'], count: 1, values: [] },
    ])
    const some = await count(audit, { name_eq: 'b' }, { attributes: true, facets: ['name'] })
    assert.deepEqual(
      some.attributes?.map(({ name, count }) => [name, count]),
      [
        ['deep_n', 1],
        ['long', 1],
        ['name', 1],
      ],
    )
  },

  async 'count: live events count with their current attributes'({ store, audit }) {
    await store.append([draft({ stage: 'first' }, { username: 'ann', type: 'info:a:b' })])
    const live = await openLive(
      store,
      { stage: 'first', log: '' },
      { username: 'ann', type: 'info:a:b' },
    )
    const read = async (): Promise<unknown[]> => {
      const { total, levels, attributes, facets } = await count(
        audit,
        { username_eq: 'ann' },
        { attributes: true, facets: ['stage', 'log'] },
      )
      const names = attributes?.map(({ name, count }) => `${name} ${count}`)
      const byName = ['stage', 'log'].map((name) => facetText(facets[name]!))
      const grouped = await count(audit, {}, { buckets: { count: 1 }, facets: ['username'] })
      assert.equal(grouped.buckets?.buckets[0]?.total, 2)
      assert.equal(facetText(grouped.facets['username']!), '"ann" 2; 1 different, 0 without')
      return [total, levels, names?.join(), ...byName]
    }
    assert.deepEqual(await read(), [
      2,
      { info: 2 },
      'stage 2,log 1',
      '"first" 2; 1 different, 0 without',
      '"" 1; 1 different, 1 without',
    ])
    const json = JSON.stringify({ stage: 'second', log: '' })
    await store.changeLive(live.id, { revision: 1, json, texts: [addText('log', 'on')] })
    const changed = [
      2,
      { info: 2 },
      'stage 2,log 1',
      '"first" 1, "second" 1; 2 different, 0 without',
      '"on" 1; 1 different, 1 without',
    ]
    assert.deepEqual(await read(), changed)
    await store.closeLive(live.id, { revision: 2 })
    assert.deepEqual(await read(), changed)
  },

  async 'count: counts each event once while live events close'({ store, audit }) {
    const live = await store.append(
      range(0, 59).map((n) => draft({ n }, n % 2 === 0 ? { live: true } : {})),
    )
    let isDone = false
    const close = async (): Promise<void> => {
      for (const [n, { id }] of live.entries()) {
        if (n % 2 === 0) await store.closeLive(id, { revision: 1 })
        await turns(n % 3)
      }
    }
    const read = async (): Promise<void> => {
      for (let rounds = 0; !isDone || rounds < 2; rounds++) {
        assert.equal((await count(audit, {})).total, 60)
        assert.equal((await count(audit, { n_gteq: 0 })).total, 60)
        await turns(1)
      }
    }
    await Promise.all([close().finally(() => (isDone = true)), read()])
  },

  async 'count: with no time it returns lower bounds, always the same, with consistent sums'({
    audit,
  }) {
    const levels = ['api:a:b', 'error:a:b', 'info:a:b']
    const past = range(0, 1999).map((n): Past => {
      const time = new Date(Date.UTC(2025, 4, 1) + n * 60_000).toISOString().slice(5, -1)
      const attributes = { n: n % 4, even: n % 2 === 0 }
      return [`${time}000Z`, levels[n % 3]!, { username: n % 2 === 0 ? 'ann' : 'bob', attributes }]
    })
    await importPast(audit, past)
    const filter = { created_at_lt: '2025-05-02T10:00:00Z', username_eq: 'ann' }
    const options = {
      within: 0,
      buckets: { count: 20 },
      facets: ['level', 'username', 'n'],
      attributes: true,
    }
    const { took_ms: _, ...sample } = await count(audit, filter, options)
    const none = { total: false, levels: false, buckets: false, attributes: false }
    assert.deepEqual(sample.exact, none)
    for (const facet of Object.values(sample.facets)) assert.equal(facet.exact, false)
    const sum = (counts: EventCounts['levels']): number =>
      Object.values(counts).reduce((all, count) => all + count, 0)
    assert.equal(sum(sample.levels), sample.total)
    const buckets = sample.buckets!.buckets
    for (const bucket of buckets) assert.equal(sum(bucket.levels), bucket.total)
    assert.equal(
      buckets.reduce((all, bucket) => all + bucket.total, 0),
      sample.total,
    )
    const { took_ms: __, ...again } = await count(audit, filter, options)
    assert.deepEqual(again, sample)
    const all = await count(audit, filter, { ...options, within: 60_000 })
    assert.deepEqual([all.total, all.exact], [1000, EXACT])
    assert.ok(sample.total > 0 && sample.total < all.total)
    for (const [i, { total, share = 1 }] of buckets.entries()) {
      assert.ok(share > 0 && share < 1)
      assert.ok(total <= all.buckets!.buckets[i]!.total)
      assert.equal(all.buckets!.buckets[i]!.share, undefined)
    }
    for (const [name, { values, missing }] of Object.entries(sample.facets)) {
      const whole = all.facets[name]!
      assert.ok(missing <= whole.missing)
      for (const { value, count } of values)
        assert.ok(count <= whole.values.find((one) => one.value === value)!.count)
    }
  },

  async 'count: an aborted signal rejects'({ audit }) {
    await importPast(audit, LEVELS)
    const signal = AbortSignal.abort()
    await rejectsWith(count(audit, {}, { signal }), 'ABORTED')
    await rejectsWith(count(audit, { name_eq: 'x' }, { signal, attributes: true }), 'ABORTED')
  },
})
