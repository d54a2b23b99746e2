import { type AuditEvent, type JsonObject, type JsonValue, parseQuery } from 'daybook'

import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pushDownEvents } from '../../adapters/postgres/read/pushdown-event.js'
import { numbered } from '../../adapters/postgres/read/sql.js'
import { eventId, parseEventId } from '../../src/event/event-id.js'
import { sql } from '../../src/store-kit/sql.js'
import { isStorableText } from '../../src/event/json-copy.js'
import { hostileTexts, longTexts } from '../../src/testing/conformance/filter-cases.js'
import { formatTimestamp, parseTimestamp } from '../../src/event/timestamp.js'
import { postgresDatabase, type TestDatabase } from '../support/database.js'
import { events, filter, filterOf, PREDICATES } from './arbitraries.js'
import {
  addSelection,
  type Filter,
  noTotals,
  type PushdownTotals,
  rejectedShare,
} from './pushdown-totals.js'

const FOREIGN_IDS = '"odd ? schema".foreign_ids'

const SCHEMA = `
  CREATE SCHEMA "odd ? schema";
  CREATE TABLE events (
    created_at bigint PRIMARY KEY, suffix text COLLATE "C", type text COLLATE "C" NOT NULL,
    username text COLLATE "C", source text, system boolean NOT NULL,
    attributes json NOT NULL
  );
  CREATE TABLE ${FOREIGN_IDS} (id text COLLATE "C" PRIMARY KEY, created_at bigint);
`

let database: TestDatabase

beforeAll(async () => {
  database = await postgresDatabase()
  await database.pool.query(SCHEMA)
})

afterAll(() => database.remove())

const insert = (client: pg.ClientBase, table: string, rows: readonly object[]): Promise<unknown> =>
  client.query(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`, [
    JSON.stringify(rows),
  ])

/** Inserts the events, calls `use`, and rolls back. */
async function withEvents(
  events: readonly AuditEvent[],
  use: (client: pg.ClientBase) => Promise<void>,
): Promise<void> {
  const client = await database.pool.connect()
  try {
    await client.query('BEGIN')
    const rows = events.map((event) => ({
      ...event,
      created_at: parseTimestamp(event.created_at)!,
    }))
    const foreign = rows.filter(({ id, created_at }) => parseEventId(id)?.time !== created_at)
    await insert(client, 'events', rows)
    await insert(client, FOREIGN_IDS, foreign)
    await use(client)
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

/** Number of filters that one statement measures. Most of the time of a small statement is its round trip. */
const AT_A_TIME = 50

/** Compares the events that the SQL of each filter selects with the events that the filter accepts. */
async function measure(
  totals: PushdownTotals,
  client: pg.ClientBase,
  events: readonly AuditEvent[],
  filters: readonly Filter[],
): Promise<void> {
  const pushdowns = filters.flatMap((filter) => {
    const pushdown = pushDownEvents(parseQuery({ filter }).where, FOREIGN_IDS)
    return pushdown ? [{ filter, ...pushdown }] : []
  })
  for (let at = 0; at < pushdowns.length; at += AT_A_TIME) {
    const some = pushdowns.slice(at, at + AT_A_TIME)
    const columns = some.map(({ text }) => `(${text}) IS TRUE`).join(', ')
    const { rows } = await client.query<boolean[]>({
      text: `SELECT ${numbered(sql(columns))} FROM events ORDER BY created_at`,
      values: some.flatMap(({ params }) => params),
      rowMode: 'array',
    })
    for (const [column, { filter }] of some.entries())
      addSelection(totals, filter, events, (row) => rows[row]![column]!)
  }
}

/** A condition with separate name and predicate, because keys in brackets cannot contain every name. */
const condition = (a: string, p: string, v: string) => ({ c: [{ a, p, v: [v] }] })

const conditions = (
  names: readonly string[],
  predicates: readonly string[],
  values: readonly string[],
): ReturnType<typeof condition>[] =>
  predicates.flatMap((predicate) =>
    names.flatMap((name) => values.map((value) => condition(name, predicate, value))),
  )

describe('the Postgres pushdown of a filter', () => {
  const eventsAndFilters = fc.record({
    events,
    filters: fc.array(filter, { minLength: 60, maxLength: 60, size: 'max' }),
  })

  it('selects every match', () =>
    fc.assert(
      fc.asyncProperty(eventsAndFilters, ({ events, filters }) =>
        withEvents(events, async (client) => {
          const totals = noTotals()
          await measure(totals, client, events, filters)
          expect(totals.lost).toEqual([])
        }),
      ),
      { numRuns: 10, endOnFailure: true },
    ))

  it('selects few events that the filter rejects: less than a fifth', async () => {
    const totals = noTotals()
    // The seed is fixed, because the share of so few runs varies.
    for (const { events, filters } of fc.sample(eventsAndFilters, { numRuns: 10, seed: 42 }))
      await withEvents(events, (client) => measure(totals, client, events, filters))
    expect(rejectedShare(totals), JSON.stringify(totals)).toBeLessThan(1 / 5)
  })

  it('selects every match of every predicate', async () => {
    const totals = noTotals()
    const onePerPredicate = fc.tuple(...PREDICATES.map(filterOf))
    await fc.assert(
      fc.asyncProperty(events, onePerPredicate, (events, filters) =>
        withEvents(events, async (client) => {
          await measure(totals, client, events, filters)
          expect(totals.lost).toEqual([])
        }),
      ),
      { numRuns: 15, endOnFailure: true },
    )
    expect(totals.selected).toBeGreaterThan(0)
  })

  const event = (i: number, attributes: JsonObject): AuditEvent => {
    const time = 1_767_225_600_000_000 + i
    return {
      ...{ id: eventId(time, '8000000000000000'), created_at: formatTimestamp(time), source: null },
      ...{ type: 'note', username: null, system: false, attributes },
    }
  }

  it('takes hostile names and values literally', async () => {
    const texts = hostileTexts.filter(isStorableText)
    const drafts = texts.flatMap((text) => [
      { t: text },
      { [`t_${text}`]: text },
      { t: [{ [text]: [[text]] }] },
    ])
    const events = drafts.map((attributes, i) => event(i, attributes))
    const totals = noTotals()
    const predicates = ['eq', 'not_eq', 'gt', 'cont', 'not_end', 'matches', 'null']
    const filters = hostileTexts.flatMap((text) =>
      conditions(['t', `t_${text}`, text, 'type', 'username', 'id'], predicates, [text]),
    )
    // `*` supports only one of these predicates.
    const valid = filters.filter(({ c: [one] }) => one!.a !== '*' || one!.p === 'cont')
    await withEvents(events, (client) => measure(totals, client, events, valid))
    expect(totals.lost).toEqual([])
    expect(totals.selected).toBeGreaterThan(0)
  })

  it('accepts long texts, long names and long lists', async () => {
    const keys = ['part_'.repeat(40), 'x'.repeat(2000), 'a_b_c_d_e_f_g_h', 't']
    const texts = ['x'.repeat(129), 'x'.repeat(5000)]
    const list = Array.from({ length: 10_000 }, (_, i) => String(i))
    const events = keys.flatMap((key, i) =>
      [...texts, '7'].map((text, j) => event(i * 10 + j, { [key]: text })),
    )
    const totals = noTotals()
    const predicates = ['eq', 'not_eq', 'gt', 'cont', 'not_cont', 'matches']
    const filters = [
      ...conditions(keys, predicates, [texts[0]!]),
      ...conditions(['a_b_c_d_e_f_g_h', 'type'], predicates, longTexts),
    ]
    const lists = ['in', 'not_in', 'eq_any', 'not_eq_all', 'cont_any', 'gt_all'].flatMap((name) =>
      ['t', 'type'].map((key) => ({ [`${key}_${name}`]: list })),
    )
    await withEvents(events, async (client) => {
      await measure(totals, client, events, filters)
      // The filters run one by one, because a statement takes at most 65,535 parameters.
      for (const filter of lists) await measure(totals, client, events, [filter])
    })
    expect(totals.lost).toEqual([])
    expect(totals.selected).toBeGreaterThan(0)
  })

  it('finds deeply nested values, values in nested arrays, and events with many names', async () => {
    const nest = (value: JsonValue, times: number, wrap: (value: JsonValue) => JsonValue) =>
      Array.from({ length: times }).reduce<JsonValue>(wrap, value)
    const inArrays = nest('x', 60, (value) => [value])
    const inObjects = nest('x', 60, (value) => ({ a: value }))
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`k${i}`, i]))
    const events = [
      { a: inArrays },
      { a: [[{ b: [[{ c: 'x' }]] }]] },
      { a: { b: nest({ c: 1 }, 30, (value) => [value]) } },
      { a: inObjects },
      { ...many, a: { b: { c: 'x' } } },
      { a: [[]], a_b: [null], a_b_c: {} },
    ].map((attributes, i) => event(i, attributes as JsonObject))
    const totals = noTotals()
    const names = ['a', 'a_b', 'a_b_c', 'a_a_a_a_a_a_a_a', 'k7']
    const filters = conditions(names, PREDICATES, ['x', '1'])
    await withEvents(events, (client) => measure(totals, client, events, filters))
    expect(totals.lost).toEqual([])
    expect(totals.selected).toBeGreaterThan(0)
  })

  it('finds values as triggers write them', async () => {
    const events = [event(0, { after: { n: 5, text: 'x', none: null } })]
    const totals = noTotals()
    const filters = conditions(['after_n', 'after_text', 'after_none'], PREDICATES, ['5', 'x'])
    await withEvents(events, async (client) => {
      const written = '{"after": {"n": 5.00, "text": "x", "none": null}}'
      await client.query('UPDATE events SET attributes = $1', [written])
      await measure(totals, client, events, filters)
    })
    expect(totals.lost).toEqual([])
    expect(totals.selected).toBeGreaterThan(0)
  })

  it('finds attributes that the server fills in', async () => {
    const since = '2026-01-01T00:00:00.000001Z'
    const events = [
      { a: 1 },
      { a: 1, suppressed_count: 1, suppressed_since: since },
      { suppressed_count: 20, suppressed_since: since, 'a b': 'x' },
      { suppressed: { count: 1, since: 'x' } },
    ].map((attributes, i) => event(i, attributes))
    const totals = noTotals()
    const names = ['suppressed_count', 'suppressed_since', 'suppressed', 'a']
    const filters = conditions(names, PREDICATES, ['1', '20', since, '2026'])
    await withEvents(events, (client) => measure(totals, client, events, filters))
    expect(totals.lost).toEqual([])
    expect(totals.selected).toBeGreaterThan(0)
  })
})
