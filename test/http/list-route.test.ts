import Database from 'better-sqlite3'
import type { AttributeTypes } from 'daybook'
import { listRoute, type ListRouteOptions, type Visible } from 'daybook/koa'
import { postgresTable } from 'daybook/postgres'
import { sqliteTable } from 'daybook/sqlite'
import Router from '@koa/router'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { postgresDatabase } from '../support/database.js'
import {
  errorOf,
  JSON_API,
  listOf,
  type RawRequest,
  type RawResponse,
  send,
} from '../support/http.js'
import { listen, type Listening } from '../support/node-server.js'

type Item = Readonly<Record<string, unknown>>

const attributes = {
  code: 'string',
  name: 'string',
  this_or_that: 'string',
  size: 'number',
  archived: 'boolean',
  created_at: 'timestamp',
  values: 'object',
  steps: 'object',
} as const satisfies AttributeTypes

/** The items. The label of each item is the end of its id. */
const items = [
  {
    id: '00000000-0000-4000-8000-00000000000a',
    code: 'alpha',
    name: 'Web shop',
    this_or_that: 'whole',
    size: 7,
    archived: false,
    created_at: '2026-03-01T12:00:00.000001Z',
    values: { region: 'eu', replicas: '10', db: { host: 'one' } },
    steps: [],
  },
  {
    id: '00000000-0000-4000-8000-00000000000b',
    code: 'Beta',
    name: '100% sure_thing \\ it\'s "quoted"; DROP TABLE items; --',
    this_or_that: null,
    size: -2.5,
    archived: true,
    created_at: '2026-03-01T12:00:00.000002Z',
    values: { region: 'us', replicas: '9', db_host: 'two', on_or_off: 'on' },
    steps: [{ action: 'wait', retry: { max: 3 } }, { action: 'fail' }],
  },
  {
    id: '00000000-0000-4000-8000-00000000000c',
    code: '10 \u212A',
    name: '',
    this_or_that: null,
    size: 1000,
    archived: null,
    created_at: '2026-03-02T00:00:00.000000Z',
    values: { region: null, list: ['x', 'y'] },
    steps: [{ action: 'wait' }],
  },
  {
    id: '00000000-0000-4000-8000-00000000000d',
    code: '😀 Σίσυφος',
    name: null,
    this_or_that: '',
    size: null,
    archived: true,
    created_at: null,
    values: null,
    steps: null,
  },
] as const satisfies readonly Item[]

function serveList(options: ListRouteOptions<Item>): Promise<Listening> {
  const router = new Router()
  const route = listRoute(options)
  router.all('/items', (ctx, next) => route(ctx, next))
  router.all('/items', (ctx) => {
    ctx.body = 'next'
  })
  const app = new Koa()
  app.silent = true
  return listen(app.use(router.routes()).callback())
}

interface TestSource {
  readonly source: ListRouteOptions<Item>['source']
  readonly close?: () => Promise<void>
}

/** JSON text, the form in which databases store nested data. */
const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

const COLUMNS = { id: 'item id', code: 'c?de', created_at: 'inserted' }

async function* oneByOne(): AsyncGenerator<Item> {
  for (const item of items) {
    await Promise.resolve()
    yield item
  }
}

/** The same items in four sources. */
const sources: Readonly<Record<string, () => TestSource | Promise<TestSource>>> = {
  'an array': () => ({ source: items }),
  'an async source': () => ({ source: oneByOne }),
  'an SQLite table': () => {
    const database = new Database(':memory:')
    database.exec(`CREATE TABLE items ("item id" TEXT PRIMARY KEY, "c?de" TEXT COLLATE NOCASE, name TEXT,
      this_or_that TEXT, size REAL, archived INTEGER, inserted TEXT, "values" TEXT, steps TEXT)`)
    const insert = database.prepare('INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
    for (const { archived, values, steps, ...item } of items) {
      const { id, code, name, this_or_that, size, created_at } = item
      const bit = archived === null ? null : Number(archived)
      insert.run(id, code, name, this_or_that, size, bit, created_at, json(values), json(steps))
    }
    return {
      source: sqliteTable({ database, table: 'items', columns: COLUMNS }),
      close: () => Promise.resolve(void database.close()),
    }
  },
  'a Postgres table': async () => {
    const { pool, remove } = await postgresDatabase()
    await pool.query(`CREATE SCHEMA "my ""schema"`)
    await pool.query(`CREATE TABLE "my ""schema".items ("item id" uuid PRIMARY KEY, "c?de" text, name varchar(100),
      this_or_that text, size numeric, archived boolean, inserted timestamptz, "values" jsonb, steps json)`)
    for (const { values, steps, ...item } of items)
      await pool.query(
        `INSERT INTO "my ""schema".items VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [...Object.values(item), json(values), json(steps)],
      )
    const schema = 'my "schema'
    return {
      source: postgresTable({ pool, schema, table: 'items', columns: COLUMNS }),
      close: remove,
    }
  },
}

/** Encodes the characters that a URL requires. Percent signs stay unchanged. */
const encoded = (query: string): string =>
  query.replaceAll(/[^!-~]|["\\]/gu, (char) => encodeURIComponent(char))

const labels = (response: RawResponse): string =>
  listOf(response)
    .data.map(({ id }) => id.at(-1))
    .join('')

const queries: readonly (readonly [query: string, found: string])[] = [
  ['', 'abcd'],
  ['filter[code_eq]=alpha', 'a'],
  ['filter[code_eq]=Alpha', ''],
  ['filter[code_eq]=beta', ''],
  ['filter[code_not_eq]=beta', 'abcd'],
  ['filter[code_in][]=alpha&filter[code_in][]=Beta', 'ab'],
  ['filter[code_not_in][]=alpha&filter[code_not_in][]=Beta', 'cd'],
  ['filter[code_cont]=LPH', 'a'],
  ['filter[code_end]=k', 'c'],
  ['filter[code_end]=\u212A', 'c'],
  ['filter[code_start]=😀', 'd'],
  ['filter[code_cont]=ΣΊΣ', 'd'],
  ['filter[code_lt]=Beta', 'c'],
  ['filter[code_gteq]=Beta', 'abd'],
  ['filter[name_cont]=0%25', 'b'],
  ['filter[name_matches]=%25sure\\_%25', 'b'],
  ['filter[name_matches]=web_shop', 'a'],
  ['filter[name_cont]=\\', 'b'],
  ['filter[name_does_not_match]=%25', ''],
  ['filter[name_not_cont]=e', 'c'],
  ["filter[name_cont]='; drop", ''],
  ['filter[name_cont]="; drop', 'b'],
  ['filter[name_null]=1', 'd'],
  ['filter[name_not_null]=1', 'abc'],
  ['filter[name_blank]=1', 'cd'],
  ['filter[name_present]=1', 'ab'],
  ['filter[this_or_that_eq]=whole', 'a'],
  ['filter[this_or_that_blank]=1', 'bcd'],
  ['filter[name_or_code_cont]=shop', 'a'],
  ['filter[name_or_code_start]=BETA', 'b'],
  ['filter[name_and_code_present]=1', 'ab'],
  ['filter[size_eq]=007', 'a'],
  ['filter[size_eq]=1e3', 'c'],
  ['filter[size_lt]=7', 'b'],
  ['filter[size_lteq]=7', 'ab'],
  ['filter[size_gt]=7', 'c'],
  ['filter[size_gteq]=7', 'ac'],
  ['filter[size_not_eq]=7', 'bc'],
  ['filter[size_in][]=7&filter[size_in][]=-2.50', 'ab'],
  ['filter[size_cont]=7', ''],
  ['filter[size_not_cont]=7', ''],
  ['filter[size_present]=1', 'abc'],
  ['filter[archived_eq]=T', 'bd'],
  ['filter[archived_true]=yes', 'bd'],
  ['filter[archived_true]=0', 'a'],
  ['filter[archived_not_true]=1', 'a'],
  ['filter[archived_false]=1', 'a'],
  ['filter[archived_not_false]=1', 'bd'],
  ['filter[archived_null]=1', 'c'],
  ['filter[archived_lt]=true', 'a'],
  ['filter[created_at_eq]=2026-03-01T13:00:00.000001%2B01:00', 'a'],
  ['filter[created_at_gt]=2026-03-01T12:00:00.000001Z', 'bc'],
  ['filter[created_at_lteq]=20260302', 'abc'],
  ['filter[created_at_not_eq]=2026-03-02', 'ab'],
  ['filter[created_at_start]=2026-03-02T00:00:00.000000Z', 'c'],
  ['filter[created_at_null]=1', 'd'],
  ['filter[id_eq]=00000000-0000-4000-8000-00000000000b', 'b'],
  ['filter[id_eq]=nothing', ''],
  ['filter[id_in][]=00000000-0000-4000-8000-00000000000d&filter[id_in][]=x', 'd'],
  ['filter[id_end]=C', 'c'],
  ['filter[m]=or&filter[size_eq]=7&filter[archived_true]=1', 'abd'],
  [
    'filter[g][0][m]=or&filter[g][0][size_eq]=7&filter[g][0][name_blank]=1&filter[archived_true]=1',
    'd',
  ],
  ['filter[c][0][a]=code&filter[c][0][p]=eq&filter[c][0][v]=alpha', 'a'],
  ['filter[code_eq]=%00', ''],
  ['filter[code_not_eq]=%00', 'abcd'],
  ['filter[code_eq]=', 'abcd'],
  ['filter[code_matches]=' + '%25x'.repeat(30), ''],
  ['filter[sorts]=code', 'cbad'],
  ['filter[sorts]=code desc', 'dabc'],
  ['filter[sorts]=size', 'bacd'],
  ['filter[sorts]=size desc', 'dcab'],
  ['filter[sorts]=archived', 'abdc'],
  ['filter[sorts][]=archived desc&filter[sorts][]=size', 'cbda'],
  ['filter[sorts]=created_at desc', 'dcba'],
  ['filter[sorts]=id desc', 'dcba'],
  ['filter[sorts]=size&limit=2', 'ba'],
  ['limit=2', 'ab'],
  ['filter[archived_true]=1&limit=1', 'b'],
  ['filter[values_region_eq]=eu', 'a'],
  ['filter[values_region_not_eq]=eu', 'b'],
  ['filter[values_region_null]=1', 'cd'],
  ['filter[values_db_host_in][]=one&filter[values_db_host_in][]=two', 'ab'],
  ['filter[values_list_eq]=y', 'c'],
  ['filter[steps_action_eq]=wait', 'bc'],
  ['filter[steps_retry_max_gteq]=3', 'b'],
  ['filter[values_region_or_steps_action_eq]=wait', 'bc'],
  ['filter[values_on_or_off_eq]=on', 'b'],
  ['filter[values_present]=1', 'abc'],
  ['filter[values_none_eq]=1', ''],
  ['filter[values_region_not_null]=1&filter[sorts]=values_region desc', 'ba'],
]

const refused: readonly (readonly [query: string, code: string, parameter: string])[] = [
  ['filter[cde_eq]=x', 'UNKNOWN_ATTRIBUTE', 'filter[cde_eq]'],
  ['filter[valus_region_eq]=eu', 'UNKNOWN_ATTRIBUTE', 'filter[valus_region_eq]'],
  ['filter[__proto___eq]=x', 'UNKNOWN_ATTRIBUTE', 'filter[__proto___eq]'],
  ['filter[constructor_null]=1', 'UNKNOWN_ATTRIBUTE', 'filter[constructor_null]'],
  ['filter[code_or_that_eq]=x', 'UNKNOWN_ATTRIBUTE', 'filter[code_or_that_eq]'],
  ['filter[inserted_eq]=x', 'UNKNOWN_ATTRIBUTE', 'filter[inserted_eq]'],
  ['filter[sorts]=username', 'UNKNOWN_ATTRIBUTE', 'filter[sorts]'],
  [
    'filter[c][0][a]=zz&filter[c][0][p]=eq&filter[c][0][v]=1',
    'UNKNOWN_ATTRIBUTE',
    'filter[c][0][a]',
  ],
  ['filter[size_eq]=many', 'INVALID_VALUE', 'filter[size_eq]'],
  ['filter[size_in][]=7&filter[size_in][]=x', 'INVALID_VALUE', 'filter[size_in]'],
  ['filter[archived_eq]=yes', 'INVALID_VALUE', 'filter[archived_eq]'],
  ['filter[created_at_gt]=2026-02-30', 'INVALID_VALUE', 'filter[created_at_gt]'],
  ['filter[created_at_gt]=', 'INVALID_VALUE', 'filter[created_at_gt]'],
  ['filter[code_equals]=x', 'UNKNOWN_PREDICATE', 'filter[code_equals]'],
  ['filter[sorts]=code sideways', 'INVALID_VALUE', 'filter[sorts]'],
  ['filter[code_eq]=x&sort=code', 'UNKNOWN_PARAMETER', 'sort'],
  ['limit=0', 'INVALID_VALUE', 'limit'],
]

describe.each(Object.entries(sources))('a list route over %s', (_name, open) => {
  let source: TestSource
  let list: Listening

  beforeAll(async () => {
    source = await open()
    list = await serveList({ resource: 'item', attributes, source: source.source })
  })
  afterAll(async () => {
    await list.close()
    await source.close?.()
  })

  const get = (query: string): Promise<RawResponse> => send(list.url, `/items?${encoded(query)}`)

  it.each(queries)('selects by %s', async (query, found) => {
    const response = await get(query)
    expect(response.status, response.body).toBeLessThan(300)
    expect(labels(response)).toBe(found)
  })

  it.each(refused)('refuses %s', async (query, code, parameter) => {
    const response = await get(query)
    expectError(response, 400, code, { parameter })
  })

  it('gives resources of the declared attributes', async () => {
    const response = await get('filter[code_eq]=alpha')
    expect(response.headers['content-type']).toBe(JSON_API)
    expect(response.headers['x-content-type-options']).toBe('nosniff')
    const { id, ...rest } = items[0]
    expect(JSON.parse(response.body)).toEqual({
      jsonapi: { version: '1.1' },
      data: [{ type: 'item', id, attributes: rest }],
      links: { self: '/items?filter[code_eq]=alpha' },
    })
  })

  it('reads a path of nested data as the type that it is declared as', async () => {
    const typed = { ...attributes, values_replicas: 'number' } as const
    const { url, close } = await serveList({
      resource: 'item',
      attributes: typed,
      source: source.source,
    })
    onTestFinished(close)
    const getTyped = (query: string) => send(url, `/items?${query}`)
    expect(labels(await getTyped('filter[values_replicas_gt]=9'))).toBe('a')
    expect(labels(await getTyped('filter[sorts]=values_replicas&limit=4'))).toMatch(/ba/)
    expectError(await getTyped('filter[values_replicas_gt]=many'), 400, 'INVALID_VALUE')
    const [first] = listOf(await getTyped('filter[code_eq]=alpha')).data
    const { id: _, ...rest } = items[0]
    expect(first!.attributes).toEqual({ ...rest, values_replicas: 10 })
  })

  it('responds 206 if the limit cut the list, else 200', async () => {
    expect((await get('limit=3')).status).toBe(206)
    expect((await get('limit=4')).status).toBe(200)
    expect((await get('filter[sorts]=size&limit=3')).status).toBe(206)
    expect((await get('limit=100000')).status).toBe(200)
  })

  it('never changes the items', async () => {
    expect(listOf(await get('')).data.map((item) => ({ id: item.id, ...item.attributes }))).toEqual(
      items,
    )
  })
})

/** A list that is closed at the end of the test. */
async function listFor(options: Partial<ListRouteOptions<Item>>): Promise<string> {
  const { url, close } = await serveList({
    resource: 'item',
    attributes,
    source: items,
    ...options,
  })
  onTestFinished(close)
  return url
}

const sendWith = async (
  options: Partial<ListRouteOptions<Item>>,
  path: string,
  request?: RawRequest,
): Promise<RawResponse> => send(await listFor(options), path, request)

describe('a list route', () => {
  it('responds to HEAD without a body, and passes other methods on', async () => {
    const head = await sendWith({}, '/items', { method: 'HEAD' })
    expect([head.status, head.body]).toEqual([200, ''])
    expect((await sendWith({}, '/items', { method: 'POST' })).body).toBe('next')
  })

  it('responds 406 to media types other than JSON:API', async () => {
    const response = await sendWith({}, '/items', { headers: { accept: 'text/html' } })
    expectError(response, 406, 'NOT_ACCEPTABLE')
  })

  it('with filtering: false refuses any parameter', async () => {
    const options = { filtering: false } as const
    expect((await sendWith(options, '/items')).status).toBe(200)
    for (const parameter of ['filter[id_eq]', 'filter[sorts]', 'limit', 'x']) {
      const response = await sendWith(options, `/items?${parameter}=1`)
      expectError(response, 400, 'UNKNOWN_PARAMETER', { parameter })
    }
  })

  it('suggests the nearest attribute', async () => {
    const response = await sendWith({}, '/items?filter[archivd_true]=1')
    expect(errorOf(response).detail).toContain('did you mean archived?')
  })

  it('gives at most maxLimit items, and accepts a smaller limit', async () => {
    const options = { maxLimit: 2 }
    const all = await sendWith(options, '/items')
    expect([all.status, labels(all)]).toEqual([206, 'ab'])
    expect(labels(await sendWith(options, '/items?limit=1'))).toBe('a')
    expect(labels(await sendWith(options, '/items?limit=9'))).toBe('ab')
  })

  it('shows only visible items for any query', async () => {
    const visible: ListRouteOptions<Item>['visible'] = (ctx) =>
      Promise.resolve({ archived_true: true, name_or_code_not_null: ctx.method === 'GET' })
    expect(labels(await sendWith({ visible }, '/items'))).toBe('bd')
    const anything = '/items?filter[m]=or&filter[size_eq]=7&filter[code_eq]=Beta'
    expect(labels(await sendWith({ visible }, anything))).toBe('b')
  })

  it('shows no concealed attributes, and refuses queries that name them', async () => {
    const conceal = () => ['name', 'values']
    const response = await sendWith({ conceal, resource: 'item' }, '/items')
    const [first] = listOf(response).data as unknown as [{ attributes: object }]
    expect(Object.keys(first.attributes)).toEqual(
      Object.keys(attributes).filter((name) => name !== 'name' && name !== 'values'),
    )
    const visible = () => ({ name_eq: 'Web shop' })
    expect(labels(await sendWith({ conceal, visible, resource: 'item' }, '/items'))).toBe('a')
    for (const query of [
      'filter[name_eq]=Web%20shop',
      'filter[values_region_eq]=eu',
      'filter[code_or_name_cont]=a',
      'filter[sorts]=name',
    ]) {
      const refused = await sendWith({ conceal, resource: 'item' }, `/items?${query}`)
      expect([refused.status, errorOf(refused).code], query).toEqual([400, 'UNKNOWN_ATTRIBUTE'])
    }
  })

  it('conceals all attributes that lead to the same data', async () => {
    const types = { change: 'object', change_name: 'string', size: 'number' } as const
    for (const name of ['change', 'change_name']) {
      const response = await sendWith(
        {
          attributes: types,
          resource: 'item',
          source: () => [{ id: '1', size: 1, change: { name: 'x' } }],
          conceal: () => [name],
        },
        '/items',
      )
      expect(listOf(response).data).toMatchObject([{ attributes: { size: 1 } }])
      expect(response.body).not.toContain('change')
    }
  })

  it.each([undefined, null, 'name', ['nme'], ['values_region'], ['id'], [7]])(
    'fails if conceal returns %j',
    async (names) => {
      const conceal = () => names as string[]
      expect((await sendWith({ conceal, resource: 'item' }, '/items')).status).toBe(500)
    },
  )

  it('takes conceal as a function only, and with a resource that is a type', () => {
    const list = { attributes, source: [], resource: 'item' } as const
    expect(() => listRoute({ ...list, conceal: ['name'] as never })).toThrow(
      'conceal must be a function',
    )
    const resource = (item: object) => item
    expect(() => listRoute({ ...list, resource, conceal: () => [] })).toThrow('a function chooses')
  })

  it('shows everything only if visible says all or is absent', async () => {
    expect(labels(await sendWith({ visible: () => 'all' }, '/items'))).toBe('abcd')
    expect(labels(await sendWith({}, '/items'))).toBe('abcd')
    const empty = [undefined, null, {}, { m: 'and' }, { sorts: 'code' }, { g: [{ m: 'or' }] }]
    for (const visible of empty) {
      const response = await sendWith({ visible: () => visible as Visible }, '/items')
      expect(response.status, JSON.stringify(visible)).toBe(500)
    }
    // Items need not have an id, so a condition on the id alone could match them.
    const source = [{ code: 'alpha' }]
    const options = { source, resource: () => ({ type: 'thing', id: 'a' }) }
    for (const [expected, visible] of [
      ['a', { id_null: true }],
      ['', { id_in: [] }],
      ['', { code_not_in: [] }],
      ['', { code_eq: 'alpha', size_in: [] }],
    ] satisfies [string, Visible][])
      expect(labels(await sendWith({ ...options, visible: () => visible }, '/items'))).toBe(
        expected,
      )
    for (const visible of [null, { code_eq: 'alpha' }])
      expect(() =>
        listRoute({ resource: 'thing', attributes: {}, source: [], visible: visible as never }),
      ).toThrow('visible must be a function, or be left out')
  })

  it('passes errors in the visible filter to the host, not to the client', async () => {
    const response = await sendWith({ visible: () => ({ owner_eq: 'ann' }) }, '/items')
    expect(response.status).toBe(500)
    expect(response.body).not.toContain('owner')
  })

  it('rethrows errors of the source', async () => {
    const source = (): never => {
      throw Object.assign(new Error('no such project'), { status: 404, expose: true })
    }
    const response = await sendWith({ source }, '/items')
    expect([response.status, response.body]).toEqual([404, 'no such project'])
  })

  it('uses the resource function of the host', async () => {
    const resource = ({ id, code }: Item) => ({ type: 'thing', id, attributes: { CODE: code } })
    const { data } = listOf(await sendWith({ resource }, '/items?filter[code_eq]=alpha'))
    expect(data).toEqual([{ type: 'thing', id: items[0].id, attributes: { CODE: 'alpha' } }])
  })

  it('converts items in any stored form to the declared types', async () => {
    const source = [
      { id: 1n, size: '10', archived: 0, created_at: new Date('2026-03-01T12:00:00.5Z'), code: 5 },
      { id: 2n, size: 9n, archived: 1, created_at: Date.UTC(2026, 2, 2), code: true },
      { id: 3n, size: [1, '20'], archived: true, created_at: '20260303', code: ['x', 'y'] },
      { id: 4n, size: Number.NaN, created_at: 'some day', code: { deep: 1 } },
    ]
    // A function, because undeclared nested data of a source is noticed too late to refuse the source.
    const url = await listFor({ source: () => source })
    const found = async (query: string): Promise<string> =>
      labels(await send(url, `/items?${query}`))
    expect(await found('filter[size_gt]=9.5')).toBe('13')
    expect(await found('filter[sorts]=size')).toBe('3214')
    expect(await found('filter[archived_true]=1')).toBe('23')
    expect(await found('filter[created_at_gt]=2026-03-01T12:00:00.499Z')).toBe('1234')
    expect(await found('filter[created_at_eq]=2026-03-02')).toBe('2')
    expect(await found('filter[code_in][]=5&filter[code_in][]=true&filter[code_in][]=y')).toBe(
      '123',
    )
    expect(await found('filter[code_null]=1')).toBe('')
    expect(await found('filter[name_null]=1')).toBe('1234')
    expect(await found('filter[id_gt]=2')).toBe('34')
    const [first] = listOf(await send(url, '/items')).data
    expect(first).toEqual({
      type: 'item',
      id: '1',
      attributes: {
        code: '5',
        name: null,
        this_or_that: null,
        size: 10,
        archived: false,
        created_at: '2026-03-01T12:00:00.500000Z',
        values: null,
        steps: null,
      },
    })
  })

  it('reads only one item more than the limit', async () => {
    let read = 0
    const source = async function* (): AsyncGenerator<Item> {
      for await (const item of oneByOne()) {
        read++
        yield item
      }
    }
    expect(labels(await sendWith({ source }, '/items?limit=1'))).toBe('a')
    expect(read).toBe(2)
  })

  it('is refused with a wrong attribute type', () => {
    const create = (types: AttributeTypes, source: readonly object[]) => () =>
      listRoute({ resource: 'thing', attributes: types, source })
    const message =
      'the attribute values is declared as string, but an item has an object there; declare it as object'
    expect(create({ values: 'string' }, items)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message }),
    )
    expect(create({ steps: 'string' }, items)).toThrow('declare it as object')
    expect(create({ id: 'object' }, [])).toThrow('the attribute id has the type object')
    expect(create({ values: 'thing' as 'object' }, [])).toThrow('the types are string,')
    const dates = [{ id: 1, at: new Date(0), names: ['x'] }]
    expect(create({ at: 'timestamp', names: 'string' }, dates)).not.toThrow()
  })
})

/** Numbers beside the numbers that doubles print. The label of each row is its name. */
const exactRows = [
  ['a', '9007199254740992', '0.1'],
  ['b', '9007199254740993', '0.1000000000000000055511151231257827'],
  ['c', '9223372036854775807', '12345678901234567890.123456789'],
  ['d', '-9007199254740993', '-0.3333333333333333333'],
  ['e', '5', '5.0000000000000000001'],
] as const

const exactTables: Readonly<Record<string, () => TestSource | Promise<TestSource>>> = {
  'an array': () => ({
    source: exactRows.map(([name, big, price]) => ({ name, big: BigInt(big), price })),
  }),
  // SQLite has no decimals, so a host keeps them as text.
  'an SQLite table': () => {
    const database = new Database(':memory:')
    database.exec(
      'CREATE TABLE items (name TEXT, big INTEGER PRIMARY KEY, price TEXT, nested TEXT)',
    )
    const insert = database.prepare('INSERT INTO items VALUES (?, ?, ?, ?)')
    for (const [name, big, price] of exactRows)
      insert.run(name, BigInt(big), price, `{"price":[${price}]}`)
    return {
      source: sqliteTable({ database, table: 'items', columns: { id: 'big' } }),
      close: () => Promise.resolve(void database.close()),
    }
  },
  'a Postgres table': async () => {
    const { pool, remove } = await postgresDatabase()
    await pool.query(
      'CREATE TABLE items (name text, big bigint PRIMARY KEY, price numeric, nested jsonb)',
    )
    for (const row of exactRows)
      await pool.query('INSERT INTO items VALUES ($1, $2, $3, $4)', [
        ...row,
        `{"price":[${row[2]}]}`,
      ])
    return {
      source: postgresTable({ pool, table: 'items', columns: { id: 'big' } }),
      close: remove,
    }
  },
}

describe.each(Object.entries(exactTables))('exact numbers of %s', (name, open) => {
  it('are compared, sorted and answered exactly', async () => {
    const { source, close } = await open()
    onTestFinished(() => close?.())
    const isTable = name.endsWith('table')
    const types = {
      name: 'string',
      big: 'number',
      price: 'number',
      ...(isTable && { id: 'number', nested: 'object' }),
    }
    const url = await listFor({ source, attributes: types as AttributeTypes })
    const get = async (query: string) => listOf(await send(url, `/items?${encoded(query)}`)).data
    const cases = {
      'filter[big_eq]=9007199254740993': 'b',
      'filter[big_eq]=9007199254740992': 'a',
      'filter[big_not_eq]=9007199254740992': 'bcde',
      'filter[big_in][]=9007199254740993&filter[big_in][]=+9223372036854775807': 'bc',
      'filter[big_not_in][]=9007199254740993&filter[big_not_in][]=9223372036854775808': 'acde',
      'filter[big_gt]=9007199254740992': 'bc',
      'filter[big_lt]=9007199254740993': 'ade',
      'filter[big_lteq]=9007199254740992.5': 'ade',
      'filter[big_gteq]=9007199254740993': 'bc',
      'filter[big_lteq]=-9007199254740993': 'd',
      'filter[big_cont]=9': '',
      'filter[big_not_cont]=9': '',
      'filter[big_present]=1': 'abcde',
      'filter[price_eq]=0.1': 'a',
      'filter[price_eq]=.10000000000000000555111512312578270': 'b',
      'filter[price_eq]=5': '',
      'filter[price_not_eq]=5': 'abcde',
      'filter[price_lt]=5': 'abd',
      'filter[price_gt]=5': 'ce',
      'filter[price_gt]=0.1': 'bce',
      'filter[price_lteq]=0.1': 'ad',
      'filter[price_lt]=1e400': 'abcde',
      'filter[price_gt]=-1e400': 'abcde',
      'filter[price_gteq]=1e400': '',
      'filter[sorts]=big': 'deabc',
      'filter[sorts]=big desc': 'cbaed',
      'filter[sorts]=price': 'dabec',
      'filter[sorts]=price desc': 'cebad',
      ...(isTable && {
        'filter[sorts]=id&filter[id_gt]=9007199254740992&limit=1': 'b',
        'filter[nested_price_eq]=12345678901234567890.123456789': 'c',
        'filter[nested_price_eq]=0.1': 'a',
      }),
    }
    const found = Object.fromEntries(
      await Promise.all(
        Object.keys(cases).map(async (query) => {
          const rows = await get(query)
          const names = rows.map(({ attributes: { name: label } }) => String(label))
          return [query, (query.includes('sorts') ? names : names.toSorted()).join('')]
        }),
      ),
    )
    expect(found).toEqual(cases)
    const inOrder = await get('filter[sorts]=name')
    expect(inOrder.map(({ attributes: { big, price } }) => [big, price])).toEqual([
      [9007199254740992, 0.1],
      ['9007199254740993', '0.1000000000000000055511151231257827'],
      ['9223372036854775807', '12345678901234567890.123456789'],
      ['-9007199254740993', '-0.3333333333333333333'],
      [5, '5.0000000000000000001'],
    ])
  })
})

/** Tables of `count` rows in both databases, with ids beyond 2^53. */
const manyRows: Readonly<Record<string, (count: number) => Promise<TestSource>>> = {
  async SQLite(count) {
    const database = new Database(':memory:')
    database.exec(`CREATE TABLE items (id INTEGER PRIMARY KEY, code TEXT);
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
      INSERT INTO items SELECT 9007199254740993 + i, 'c' || (i % 10) FROM n`)
    return Promise.resolve({
      source: sqliteTable({ database, table: 'items', schema: 'main' }),
      close: () => Promise.resolve(void database.close()),
    })
  },
  async Postgres(count) {
    const { pool, remove } = await postgresDatabase()
    await pool.query(`CREATE TABLE items (id bigint PRIMARY KEY, code text);
      INSERT INTO items SELECT 9007199254740993 + i, 'c' || (i % 10) FROM generate_series(0, ${count - 1}) AS i`)
    return { source: postgresTable({ pool, table: 'items' }), close: remove }
  },
}

describe.each(Object.entries(manyRows))('a large table of %s', (_name, open) => {
  const COUNT = 7003
  let opened: TestSource
  let url: string

  beforeAll(async () => {
    opened = await open(COUNT)
    const { source } = opened
    const list = await serveList({ resource: 'item', attributes: { code: 'string' }, source })
    url = list.url
    return list.close
  })
  afterAll(() => opened.close?.())

  const idsOf = async (query: string): Promise<string[]> =>
    listOf(await send(url, `/items?${query}`)).data.map(({ id }) => id)

  it('gives every row once, in order of id', async () => {
    const expected = Array.from({ length: COUNT }, (_, i) => String(9007199254740993n + BigInt(i)))
    expect(await idsOf('')).toEqual(expected)
    expect(await idsOf('filter[code_eq]=c9')).toEqual(expected.filter((_, i) => i % 10 === 9))
    expect(await idsOf('filter[id_eq]=9007199254740994')).toEqual(['9007199254740994'])
    expect(
      await idsOf('filter[sorts][]=code desc&filter[sorts][]=id desc&limit=2'.replaceAll(' ', '+')),
    ).toEqual(['9007199254747992', '9007199254747982'])
  })

  it('reports a failed query without details', async () => {
    const { source, close } = await open(1)
    onTestFinished(() => close?.())
    const list = await serveList({ resource: 'item', attributes: { nope: 'string' }, source })
    onTestFinished(list.close)
    const response = await send(list.url, '/items')
    expectError(response, 503, 'STORE_FAILED')
    expect(response.body).not.toContain('nope')
  })
})
