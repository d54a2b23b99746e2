import Database from 'better-sqlite3'
import { AuditLog, type AttributeTypes } from 'daybook'
import { auditRoutes, listRoute, type ListRouteOptions } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { postgresTable } from 'daybook/postgres'
import { sqliteTable } from 'daybook/sqlite'
import Koa, { type Middleware } from 'koa'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { postgresDatabase, type TestDatabase } from '../support/database.js'
import { listOf, type RawResponse, send } from '../support/http.js'

const attributes = {
  label: 'string',
  values: 'object',
  steps: 'object',
  values_replicas: 'number',
} as const satisfies AttributeTypes

const items = [
  { label: 'a', values: { region: 'eu', replicas: '10', db: { host: 'one' } }, steps: [] },
  {
    label: 'b',
    values: { region: 'us', replicas: '9', db_host: 'two', on_or_off: 'on' },
    steps: [{ action: 'wait', retry: { max: 3 } }, { action: 'fail' }],
  },
  { label: 'c', values: { region: null, list: ['x', 'y'] }, steps: [{ action: 'wait' }] },
  { label: 'd', values: null, steps: null },
].map((item, n) => ({ id: `id-${n}`, ...item }))

const QUERIES = [
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
] as const

describe('nested attributes of a list', () => {
  let database: TestDatabase
  let port: number
  let close: () => Promise<void>

  const mount = (app: Koa, path: string, options: Partial<ListRouteOptions<object>>): void => {
    const route = listRoute({ resource: 'thing', attributes, source: items, ...options })
    app.use((ctx, next) => (ctx.path === path ? route(ctx, next) : next()))
  }

  beforeAll(async () => {
    database = await postgresDatabase()
    const sqlite = new Database(':memory:')
    sqlite.exec('CREATE TABLE things (id TEXT PRIMARY KEY, label TEXT, "values" TEXT, steps TEXT)')
    await database.pool.query(
      'CREATE TABLE things (id text PRIMARY KEY, label text, "values" jsonb, steps json)',
    )
    const audit = new AuditLog({ store: memoryStore(), types: {} })
    const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))
    for (const { id, label, values, steps } of items) {
      const row = [id, label, json(values), json(steps)]
      sqlite.prepare('INSERT INTO things VALUES (?, ?, ?, ?)').run(row)
      await database.pool.query('INSERT INTO things VALUES ($1, $2, $3, $4)', row)
      await audit.recordCustom('thing', { label, values, steps })
    }
    const app = new Koa()
    mount(app, '/array', {})
    mount(app, '/function', { source: () => items })
    mount(app, '/sqlite', { source: sqliteTable({ database: sqlite, table: 'things' }) })
    mount(app, '/postgres', { source: postgresTable({ pool: database.pool, table: 'things' }) })
    app.use(auditRoutes(audit, { path: '/feed', username: () => 'ann' }) as Middleware)
    const server = app.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    port = (server.address() as AddressInfo).port
    close = async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await audit.close()
      sqlite.close()
      await database.remove()
    }
  })
  afterAll(() => close())

  const get = (path: string): Promise<RawResponse> =>
    send(`http://127.0.0.1:${port}`, path.replaceAll(' ', '%20'))

  const labels = (response: RawResponse): string =>
    listOf(response)
      .data.map(({ attributes: read }) => read['label'])
      .join('')

  describe.each(['array', 'function', 'sqlite', 'postgres', 'feed'])('%s', (list) => {
    it.each(QUERIES)('%s', async (query, found) => {
      const response = await get(`/${list}?${query}`)
      expect([response.status, labels(response)]).toEqual([200, found])
    })
  })

  it.each(['array', 'sqlite', 'postgres'])('a path with a type: %s', async (list) => {
    expect(labels(await get(`/${list}?filter[values_replicas_gt]=9`))).toBe('a')
    expect(labels(await get(`/${list}?filter[sorts]=values_replicas&limit=4`))).toMatch(/ba/)
    expectError(await get(`/${list}?filter[values_replicas_gt]=many`), 400, 'INVALID_VALUE')
    const [first] = listOf(await get(`/${list}?filter[label_eq]=a`)).data
    expect(first!.attributes).toEqual({
      label: 'a',
      values: { region: 'eu', replicas: '10', db: { host: 'one' } },
      steps: [],
      values_replicas: 10,
    })
  })

  it('other names are refused', async () => {
    expectError(await get('/array?filter[valus_region_eq]=eu'), 400, 'UNKNOWN_ATTRIBUTE')
  })

  it('objects that are declared as something else are refused', () => {
    const create = (types: AttributeTypes, source: readonly object[]) => () =>
      listRoute({ resource: 'thing', attributes: types, source })
    expect(create({ values: 'string' }, items)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message:
          'the attribute values is declared as string, but an item has an object there; declare it as object',
      }),
    )
    expect(create({ steps: 'string' }, items)).toThrow('declare it as object')
    expect(create({ id: 'object' }, [])).toThrow('the attribute id has the type object')
    expect(create({ values: 'thing' as 'object' }, [])).toThrow('the types are string,')
    const dates = [{ id: 1, at: new Date(0), names: ['x'] }]
    expect(create({ at: 'timestamp', names: 'string' }, dates)).not.toThrow()
  })
})
