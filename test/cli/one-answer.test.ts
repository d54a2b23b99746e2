import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresDatabase, type TestDatabase } from '../support/database.js'
import { serve, type TestServer } from '../support/http.js'
import { tempDir } from '../support/temp.js'
import { type CliResult, runCli } from './run-cli.js'
import service, { config } from './workflow-config.js'

/* The commands print the same for the same events on every kind of log. */

const temp = tempDir()
const file = temp.file('audit.db')
let server: TestServer
let database: TestDatabase
let ids: readonly string[]

beforeAll(async () => {
  server = await serve({ store: sqliteStore({ filename: file }), record: false })
  const { audit } = server
  const name = 'shöp\u202E "日本語"'
  await audit.record('api:projects:create', { name, project_id: 'shop' }, { username: 'ann' })
  await audit.record('error:step:action', { error: 'out of\ndisk', duration: 0.1 })
  const odd = {
    n: [1e21, -0.5, null, true],
    '10': 1,
    '2': { a: 'c,"d"' },
    '=1': '=1+1',
    big: 2 ** 53,
  }
  await audit.recordCustom('deploy:note', odd, { username: 'bob' })
  await audit.recordCustom('deploy:note', {
    source: 'a',
    __proto__: null,
    list: [{ k: 1 }, { k: 2 }],
  })
  const { events } = await audit.list()
  ids = events.map(({ id }) => id)
  database = await postgresDatabase()
  const store = postgresStore({ connectionString: database.url })
  const copy = new AuditLog({ types: service.types, store })
  await copy.importEvents(events)
  await copy.close()
})
afterAll(async () => {
  await server.close()
  await database.remove()
  temp.remove()
})

/** The results of the command on SQLite, on Postgres and over HTTP. */
async function resultsOf(
  command: string,
  args: readonly string[],
  interruptAfter?: number,
): Promise<readonly CliResult[]> {
  const options = interruptAfter === undefined ? {} : { interruptAfter }
  const results: CliResult[] = []
  for (const target of [file, database.url])
    results.push(await runCli([command, target, ...args, '--config', config], options))
  const env = { DAYBOOK_USER: 'ann', DAYBOOK_PASSWORD: 'ann' }
  results.push(await runCli([command, server.url, ...args], { ...options, env }))
  return results
}

describe('on SQLite, Postgres and over HTTP', () => {
  it.each<readonly string[]>([
    ['list'],
    ['list', '--json'],
    ['list', '--json', '--limit', '1', 'filter[type_start]=error:'],
    ['list', '--fields', 'created_at,error,source,n', '--limit', '2'],
    ['list', '-f', 'username_in=ann', '-f', 'username_in=bob', '-q', 'note'],
    ['list', 'filter[sorts][]=type desc', '--limit', '2'],
    ['count'],
    ['count', '--by', 'type', '--json'],
    ['count', 'filter[username_null]=1'],
    ['export'],
    ['export', '--format', 'csv'],
    ['export', '--format', 'csv', '--columns', 'name,list_k,n'],
    ['export', '--format', 'cloudevents', '-f', 'username_not_null=1'],
    ['export', '--format', 'ocsf'],
    ['export', '--format', 'otlp'],
  ])('%s prints the same bytes: %s %s', async (command, ...args) => {
    const [first, ...others] = await resultsOf(command, args)
    expect([first!.exit, first!.stderr]).toEqual([0, ''])
    expect(first!.stdout).not.toBe('')
    for (const other of others) expect(other).toEqual(first)
  })

  it('get prints the same bytes', async () => {
    for (const id of ids) {
      const [first, ...others] = await resultsOf('get', [id])
      expect(JSON.parse(first!.stdout)).toMatchObject({ id })
      for (const other of others) expect(other).toEqual(first)
    }
    for (const { exit, stderr } of await resultsOf('get', [ids[0]!.replace(/.{4}$/, '0000')]))
      expect([exit, stderr]).toEqual([1, expect.stringContaining('there is no event')])
  })

  it('tail prints the same bytes', async () => {
    const args = ['--since', '1h', '-f', 'type_not_eq=error:step:action']
    const [first, ...others] = await resultsOf('tail', args, 3)
    expect(first!.exit).toBe(130)
    expect(first!.stdout.split('\n')).toHaveLength(4)
    for (const other of others) expect(other).toEqual(first)
  })

  it('end in the same way for a wrong input', async () => {
    for (const args of [['filter[created_at_gt]=noon'], ['filter[type_eqq]=a'], ['--limit', '0']]) {
      const [first, ...others] = await resultsOf('list', args)
      expect(first!.exit).toBe(2)
      for (const other of others) expect(other).toEqual(first)
    }
  })
})
