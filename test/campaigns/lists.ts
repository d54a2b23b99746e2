import { isDeepStrictEqual } from 'node:util'
import {
  AuditLog,
  type AuditEvent,
  AuditLogError,
  type EventStore,
  type JsonObject,
  type JsonValue,
  type QueryObject,
} from 'daybook'
import { manualClock } from 'daybook/testing'
import fc from 'fast-check'
import pg from 'pg'
import { createMemoryStore } from '../../adapters/memory/memory-store.js'
import { createPostgresStore } from '../../adapters/postgres/postgres-store.js'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import type { Clock } from '../../src/event/timestamp.js'
import { INDEX_BOUNDS } from '../../src/store-kit/index/index-bounds.js'
import { eventsOf, PREDICATES, query } from '../property/arbitraries.js'
import { startOwnPostgres } from '../support/postgres.js'
import { tempDir } from '../support/temp.js'
import type { Campaign } from './run.js'
import { words } from '../support/words.js'

/*
 * Lists of hostile data. Each round is one random list. The results must be the same in memory without an index, in
 * memory with an index, in SQLite and in Postgres. A log serves for several rounds. In every second log, all events
 * go into small segments with little room for names, values and bytes.
 */

const ROUNDS_PER_LOG = 100
const AT_A_TIME = 10

const PIECES = [
  ...[
    '\0',
    '\t',
    '\n',
    '\u2028',
    '\u200B',
    '\uFEFF',
    '\u007F',
    '\uD83D',
    '\uDE00',
    '\uFFFD',
    '\uFFFF',
  ],
  ...['\\', '%', '_', '"', "'", ...words('` * ? [ ] ^ - { } $ . , : / |')],
  ...['a', 'A', 'k', 'K', '\u212A', ...words('s S ſ ß ẞ Σ σ ς İ i ı I'), '\u0307', 'ﬀ'],
  ...['é', 'e\u0301', '😀', '\u{10FFFF}', '0', '1', '9', '+', '-', '.', 'e', ' '],
]
const TEXTS = [
  ...words('__proto__ constructor toString null true false t f 1 -0 0x10 1e999'),
  ...[...words('9007199254740993 1.0 01 2026-01-01 2026-01-01T00:00:00Z [] {} ""'), "' OR 1=1 --"],
  ...[
    '%%',
    '\\%',
    '\\\\',
    '_%_',
    '{"a":1}',
    '["a"]',
    '1'.repeat(400),
    'ab'.repeat(300),
    'İ'.repeat(180),
  ],
]
const KEYS = [
  ...words('a b a_b n eq a_eq a_or_b a_and_b not a_not in a_any _ __ a_'),
  ...[
    '',
    ' ',
    ...words('0 length source __proto__ constructor hasOwnProperty a.b a[0] "'),
    "'",
    '\\',
  ],
]

const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 4, arbitrary: fc.string({ unit: fc.constantFrom(...PIECES), maxLength: 8 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  // About the maximum length of values in an index, and of patterns in SQLite.
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...PIECES),
        fc.constantFrom(99, 100, 128, 511, 512, 513),
        fc.constantFrom(...PIECES),
      )
      .map(([piece, count, end]) => piece.repeat(count) + end),
  },
)

const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 6, arbitrary: hostileText },
  { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 2, arbitrary: fc.integer({ min: -3, max: 12 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(2 ** 53, 2 ** 53 - 1, -(2 ** 53), 1e21, 1e-7, 5e-324, 1e308),
  },
  { weight: 2, arbitrary: fc.constantFrom(true, false, null) },
)

const key = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...KEYS) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...PIECES), maxLength: 4 }) },
)

/** Also creates the key `__proto__`, which is an attribute like others. */
const objectOf = (entries: readonly (readonly [string, JsonValue])[]): JsonObject =>
  Object.fromEntries(entries)

const { object } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 5 },
    { weight: 6, arbitrary: scalar },
    { weight: 2, arbitrary: tie('object') },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 4 }) },
  ),
  object: fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map(objectOf),
}))

const OWN = new Set(['id', 'type', 'username', 'system', 'created_at'])

const withoutOwn = (attributes: JsonObject): JsonObject =>
  objectOf(Object.entries(attributes).filter(([name]) => !OWN.has(name)))

/** Most attributes are hostile. The names of the others are from a small vocabulary. */
const events: fc.Arbitrary<readonly AuditEvent[]> = fc
  .tuple(
    eventsOf(30, 60),
    fc.array(fc.option(object, { freq: 4 }), { minLength: 60, maxLength: 60, size: 'max' }),
  )
  .map(([events, hostile]) =>
    events.map((event, i) => ({
      ...event,
      attributes: withoutOwn(hostile[i] ?? event.attributes),
      source: i % 5 === 0 ? `/api/changes/${i % 3}` : null,
    })),
  )

type Scalar = string | number | boolean | null
type Place = readonly [name: string, value: Scalar]

/** The names by which queries find values, with the values. */
export function placesIn(value: JsonValue, name = ''): Place[] {
  if (value === null || typeof value !== 'object') return name === '' ? [] : [[name, value]]
  if (Array.isArray(value)) return value.flatMap((one: JsonValue) => placesIn(one, name))
  return Object.entries(value).flatMap(([key, one]) =>
    placesIn(one, name === '' ? key : `${name}_${key}`),
  )
}

/** The value as a filter writes it, or a change of it. */
const filterValue = (value: Scalar): fc.Arbitrary<string> => {
  const text = String(value)
  const middle = Math.floor(text.length / 2)
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(text, text.toUpperCase(), text.toLowerCase()) },
    { weight: 2, arbitrary: fc.constantFrom(text.slice(0, middle), text.slice(middle)) },
    { weight: 1, arbitrary: fc.constantFrom(`%${text}`, `${text}%`, `_${text.slice(1)}`) },
    { weight: 2, arbitrary: hostileText },
  )
}

function hostileQuery(places: readonly Place[]): fc.Arbitrary<QueryObject> {
  const place = fc.constantFrom<Place>(...places, ['a', 'a'], ['source', '/api/changes/1'])
  const condition = fc
    .tuple(place, fc.constantFrom(...PREDICATES))
    .chain(([[name, value], predicate]) =>
      fc.tuple(
        fc.constant(name),
        fc.constant(predicate),
        fc.array(filterValue(value), { minLength: 1, maxLength: 4 }),
        place,
      ),
    )
    .map(([name, p, values, [other]]) => {
      const isList = /(?:^in|^not_in|_any|_all)$/.test(p)
      const a = values.length === 3 ? [name, other] : [name]
      return { a, p, v: isList ? values : values[0], ...(a.length > 1 && { m: 'or' }) }
    })
  const grouping = fc
    .tuple(fc.constantFrom('and', 'or'), fc.array(condition, { minLength: 1, maxLength: 3 }))
    .map(([m, c]) => ({ m, c }))
  const sort = fc
    .tuple(place, fc.constantFrom('asc', 'desc'))
    .map(([[name], dir]) => ({ name, dir }))
  return fc
    .record({
      outer: grouping,
      g: fc.array(grouping, { maxLength: 2 }),
      s: fc.option(fc.array(sort, { maxLength: 3 }), { freq: 2, nil: [] }),
      limit: fc.constantFrom(1, 3, 20, 1000),
    })
    .map(({ outer, g, s, limit }) => ({ filter: { ...outer, g, s }, limit }) as QueryObject)
}

interface Plan {
  readonly events: readonly AuditEvent[]
  readonly queries: readonly QueryObject[]
}

const plan: fc.Arbitrary<Plan> = events.chain((events) => {
  const places = events.flatMap(({ attributes }) => placesIn(attributes))
  const queries = fc.array(
    fc.oneof({ weight: 4, arbitrary: hostileQuery(places) }, { weight: 1, arbitrary: query }),
    { minLength: ROUNDS_PER_LOG, maxLength: ROUNDS_PER_LOG, size: 'max' },
  )
  return fc.record({ events: fc.constant(events), queries })
})

interface Subject {
  readonly name: string
  readonly store: EventStore
  settle(): Promise<void>
}

const FEW = { ...INDEX_BOUNDS, names: 10, values: 4, bytes: 4000, unsealedBytes: 12_000 }
const SMALL = { segmentSize: 12, fanOut: 3, minGramChunks: 1, bounds: FEW }
// A query that takes long on a busy machine is no disagreement.
const queryTimeoutMs = 600_000

function subjectsOf(
  clock: Clock,
  filename: string,
  database: pg.Pool,
  schema: string,
  isSmall: boolean,
): Subject[] {
  const tuning = isSmall ? { tuning: SMALL } : {}
  const probe = isSmall ? { firstProbe: 0 } : {}
  const options = { clock, queryTimeoutMs }
  const sqlite = createSqliteStore({ filename, ...options }, tuning, probe)
  const postgres = createPostgresStore({ pool: database, schema, ...options }, tuning, probe)
  const indexed = createMemoryStore(options, { minIndexed: 0, probe: 0 })
  return [
    { name: 'memory, indexed', store: indexed, settle: () => Promise.resolve() },
    { name: 'sqlite', store: sqlite.store, settle: () => sqlite.sealer.settled() },
    { name: 'postgres', store: postgres.store, settle: () => postgres.sealer.settled() },
  ]
}

interface Figures {
  lists: number
  /** Lists with some events, but not all. */
  selective: number
  refused: number
}

/** The parts of a list that a client sees. */
async function answerOf(audit: AuditLog, query: QueryObject): Promise<unknown> {
  try {
    const { events, truncated } = await audit.list(query)
    return { ids: events.map(({ id }) => id), truncated }
  } catch (error) {
    if (!(error instanceof AuditLogError)) return String(error)
    return { code: error.code, message: error.message }
  }
}

const isShown = (answer: unknown): answer is { readonly ids: readonly string[] } =>
  answer !== null && typeof answer === 'object' && 'ids' in answer

async function runLog(
  { events, queries }: Plan,
  subjects: readonly Subject[],
  clock: Clock,
  report: (what: string) => void,
): Promise<Figures> {
  const figures = { lists: 0, selective: 0, refused: 0 }
  const plain = createMemoryStore({ clock, queryTimeoutMs }, { minIndexed: Infinity, probe: 0 })
  const right: AuditLog = new AuditLog({ store: plain, types: {} })
  const others = subjects.map((subject) => ({
    ...subject,
    audit: new AuditLog({ store: subject.store, types: {} }) as AuditLog,
  }))
  const askOne = async (query: QueryObject): Promise<void> => {
    const [expected, ...found] = await Promise.all(
      [right, ...others.map(({ audit }) => audit)].map((audit) => answerOf(audit, query)),
    )
    figures.lists += 1
    if (!isShown(expected)) figures.refused += 1
    else if (expected.ids.length > 0 && expected.ids.length < events.length) figures.selective += 1
    for (const [i, answer] of found.entries())
      if (!isDeepStrictEqual(answer, expected))
        report(`${others[i]!.name}: ${JSON.stringify({ query, answer, expected })}`)
  }
  try {
    const half = Math.floor(events.length / 2)
    for (const part of [events.slice(0, half), events.slice(half)]) {
      await Promise.all(
        [right, ...others.map(({ audit }) => audit)].map((audit) => audit.importEvents(part)),
      )
      // The second half is in no segment.
      if (part[0] === events[0]) await Promise.all(others.map(({ settle }) => settle()))
    }
    for (let at = 0; at < queries.length; at += AT_A_TIME)
      await Promise.all(queries.slice(at, at + AT_A_TIME).map(askOne))
    const all = (audit: AuditLog) => audit.list({ limit: 1000 })
    const [expected, ...found] = await Promise.all(
      [right, ...others.map(({ audit }) => audit)].map(all),
    )
    for (const [i, page] of found.entries())
      if (!isDeepStrictEqual(page.events, expected!.events))
        report(`${others[i]!.name}: the events differ from those that were imported`)
  } finally {
    await Promise.all([right, ...others.map(({ audit }) => audit)].map((audit) => audit.close()))
  }
  return figures
}

export const campaign: Campaign = {
  rounds: 10_000,
  async run({ seed, from, rounds, failed }) {
    const server = await startOwnPostgres()
    const database = new pg.Pool({ connectionString: server.url })
    const figures: Figures = { lists: 0, selective: 0, refused: 0 }
    for (let first = from; first < rounds; first += ROUNDS_PER_LOG) {
      const number = Math.floor(first / ROUNDS_PER_LOG)
      const [one] = fc.sample(plan, { seed: seed + number, numRuns: 1 })
      const queries = one!.queries.slice(0, rounds - first)
      const temp = tempDir()
      const clock = manualClock('2026-06-01T00:00:00Z')
      const isSmall = number % 2 === 1
      const subjects = subjectsOf(
        clock,
        temp.file('audit.db'),
        database,
        `lists_${number}`,
        isSmall,
      )
      try {
        const some = await runLog({ ...one!, queries }, subjects, clock, (what) =>
          failed(`rounds from ${first}, ${what}`),
        )
        for (const name of ['lists', 'selective', 'refused'] as const) figures[name] += some[name]
      } catch (error) {
        failed(`rounds from ${first}: ${(error as Error).stack}`)
      }
      await database.query(`DROP SCHEMA IF EXISTS lists_${number} CASCADE`)
      temp.remove()
      if (number % 10 === 9)
        console.log(`${first + queries.length} rounds of ${rounds}, seed ${seed}`, figures)
    }
    await database.end()
    await server.stop()
    return { ...figures }
  },
}
