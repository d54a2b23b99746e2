import { type AuditEvent, type JsonObject, type JsonValue, parseQuery } from 'daybook'

import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pushDownEvents } from '../../adapters/postgres/read/pushdown-event.js'
import { numbered } from '../../adapters/postgres/read/sql.js'
import { presenceHash, SERVER_ATTRIBUTES, termsOf } from '../../adapters/postgres/schema/terms.js'
import { eventId, parseEventId } from '../../src/event/event-id.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import type { Sql } from '../../src/store-kit/sql.js'
import { isStorableText } from '../../src/event/json-copy.js'
import { hostileTexts, longTexts } from '../../src/testing/conformance/filter-cases.js'
import { formatTimestamp, parseTimestamp } from '../../src/event/timestamp.js'
import { postgresDatabase, type TestDatabase } from '../support/database.js'
import { events, filter, filterOf, PREDICATES } from './arbitraries.js'

const FOREIGN_IDS = '"odd ? schema".foreign_ids'

const SCHEMA = `
  CREATE SCHEMA "odd ? schema";
  CREATE TABLE events (
    created_at bigint PRIMARY KEY, suffix text COLLATE "C", type text COLLATE "C" NOT NULL,
    username text COLLATE "C", source text, system boolean NOT NULL,
    attributes json NOT NULL, terms int4[] NOT NULL
  );
  CREATE TABLE ${FOREIGN_IDS} (id text COLLATE "C" PRIMARY KEY, created_at bigint);
`

let database: TestDatabase

beforeAll(async () => {
  database = await postgresDatabase()
  await database.pool.query(SCHEMA)
})

afterAll(() => database.remove())

/** Makes an event too large for terms of its values. */
const FILLER = Array.from({ length: 2001 }, (_, i) => i)

/** The stored terms: attributes that the server fills in have only a term for their presence. */
function storedTerms(event: AuditEvent, isLarge: boolean): number[] {
  const attributes = { ...event.attributes }
  const filledIn = SERVER_ATTRIBUTES.filter((name) => attributes[name] !== undefined)
  for (const name of filledIn) delete attributes[name]
  const terms = termsOf(isLarge ? { ...attributes, FILLER } : attributes)
  return [...terms, ...filledIn.map(presenceHash)]
}

/** Inserts the events, calls `use`, and rolls back. With `largeOnes`, every other event has the terms of a large one. */
async function withEvents(
  events: readonly AuditEvent[],
  use: (client: pg.ClientBase) => Promise<void>,
  largeOnes = false,
): Promise<void> {
  const client = await database.pool.connect()
  try {
    await client.query('BEGIN')
    for (const [i, event] of events.entries()) {
      const time = parseTimestamp(event.created_at)!
      await client.query('INSERT INTO events VALUES ($1, NULL, $2, $3, $4, $5, $6, $7)', [
        ...[time, event.type, event.username, event.source, event.system],
        ...[JSON.stringify(event.attributes), storedTerms(event, largeOnes && i % 2 === 0)],
      ])
      if (parseEventId(event.id)?.time !== time)
        await client.query(`INSERT INTO ${FOREIGN_IDS} VALUES ($1, $2)`, [event.id, time])
    }
    await use(client)
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

interface PushdownTotals {
  /** Events that the SQL selects. */
  selected: number
  /** Selected events that the filter rejects. */
  rejected: number
  /** Matching events that the SQL does not select; must stay empty. */
  readonly lost: string[]
}

const noTotals = (): PushdownTotals => ({ selected: 0, rejected: 0, lost: [] })

/** Compares the events that the SQL selects with those that the filter accepts. */
async function measure(
  totals: PushdownTotals,
  client: pg.ClientBase,
  events: readonly AuditEvent[],
  filter: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { where } = parseQuery({ filter })
  const pushdown: Sql | undefined = pushDownEvents(where, FOREIGN_IDS)
  if (!pushdown) return
  const { rows } = await client.query<{ created_at: string }>(
    `SELECT created_at FROM events WHERE ${numbered(pushdown)}`,
    [...pushdown.params],
  )
  const selected = new Set(rows.map((row) => Number(row.created_at)))
  const accepts = compileFilter(where)
  for (const event of events) {
    const isSelected = selected.has(parseTimestamp(event.created_at)!)
    const isMatch = accepts(event)
    if (isSelected) totals.selected++
    if (isSelected && !isMatch) totals.rejected++
    if (!isSelected && isMatch)
      totals.lost.push(`${JSON.stringify(filter)} does not select ${JSON.stringify(event)}`)
  }
}

/** A condition with separate name and predicate, because keys in brackets cannot contain every name. */
const condition = (a: string, p: string, v: string): Readonly<Record<string, unknown>> => ({
  c: [{ a, p, v: [v] }],
})

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
          for (const filter of filters) await measure(totals, client, events, filter)
          expect(totals.lost).toEqual([])
        }),
      ),
      { numRuns: 10, endOnFailure: true },
    ))

  it('selects few events that the filter rejects: less than a fifth', async () => {
    const totals = noTotals()
    // The seed is fixed, because the share of so few runs varies.
    for (const { events, filters } of fc.sample(eventsAndFilters, { numRuns: 10, seed: 42 }))
      await withEvents(events, async (client) => {
        for (const filter of filters) await measure(totals, client, events, filter)
      })
    const { rejected, selected } = totals
    const share = rejected / selected
    expect(share, `the filter rejected ${rejected} of ${selected} selected events`).toBeLessThan(
      1 / 5,
    )
  })

  it('selects every match of every predicate, also of events that are too large for terms of their values', async () => {
    const totals = noTotals()
    const onePerPredicate = fc.tuple(...PREDICATES.map(filterOf))
    await fc.assert(
      fc.asyncProperty(events, onePerPredicate, (events, filters) =>
        withEvents(
          events,
          async (client) => {
            for (const filter of filters) await measure(totals, client, events, filter)
            expect(totals.lost).toEqual([])
          },
          true,
        ),
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
    await withEvents(events, async (client) => {
      for (const text of hostileTexts)
        for (const predicate of ['eq', 'not_eq', 'gt', 'cont', 'not_end', 'matches', 'null'])
          for (const name of ['t', `t_${text}`, text, 'type', 'username', 'id'])
            // Of these predicates, * takes one.
            if (name !== '*' || predicate === 'cont')
              await measure(totals, client, events, condition(name, predicate, text))
    })
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
    await withEvents(events, async (client) => {
      for (const predicate of ['eq', 'not_eq', 'gt', 'cont', 'not_cont', 'matches']) {
        for (const key of keys)
          await measure(totals, client, events, condition(key, predicate, texts[0]!))
        for (const text of longTexts)
          for (const key of ['a_b_c_d_e_f_g_h', 'type'])
            await measure(totals, client, events, condition(key, predicate, text))
      }
      for (const predicate of ['in', 'not_in', 'eq_any', 'not_eq_all', 'cont_any', 'gt_all'])
        for (const key of ['t', 'type'])
          await measure(totals, client, events, { [`${key}_${predicate}`]: list })
    })
    expect(totals.lost).toEqual([])
    expect(totals.selected).toBeGreaterThan(0)
  })

  it('finds deeply nested values, values in nested arrays, and events with too many terms', async () => {
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
    await withEvents(events, async (client) => {
      for (const predicate of PREDICATES)
        for (const name of ['a', 'a_b', 'a_b_c', 'a_a_a_a_a_a_a_a', 'k7'])
          for (const value of ['x', '1'])
            await measure(totals, client, events, condition(name, predicate, value))
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
    await withEvents(events, async (client) => {
      for (const predicate of PREDICATES)
        for (const name of ['suppressed_count', 'suppressed_since', 'suppressed', 'a'])
          for (const value of ['1', '20', since, '2026'])
            await measure(totals, client, events, condition(name, predicate, value))
    })
    expect(totals.lost).toEqual([])
    expect(totals.selected).toBeGreaterThan(0)
  })
})
