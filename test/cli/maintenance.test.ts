import fs from 'node:fs'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { postgresDatabase } from '../support/database.js'
import { type FileLog, openFileLog } from './logs.js'
import { runCli } from './run-cli.js'

let log: FileLog
/** Gives each test of a group a log with three events. */
function useLog(): void {
  beforeEach(async () => {
    log = openFileLog()
    await log.audit.record('api:projects:create', { name: 'shop' }, { username: 'ann' })
    await log.audit.recordCustom('debug', { step: 1 })
    await log.audit.recordCustom('debug', { step: 2 })
  })
  afterEach(() => log.close())
}

/** Converts the log to version 1, which has no blocks. */
function makeOlder(file: string): void {
  const database = new Database(file)
  database.exec(
    `UPDATE daybook_schema SET version = 1;
     DROP TABLE daybook_dictionaries; DROP TABLE daybook_dictionary_copies; DROP TABLE daybook_packing;
     ALTER TABLE daybook_events DROP COLUMN packed; ALTER TABLE daybook_chunks DROP COLUMN packed`,
  )
  database.close()
}

describe('daybook migrate', () => {
  useLog()

  it('is needed before another command works on an older log', async () => {
    await log.audit.close()
    makeOlder(log.file)
    const bytes = fs.readFileSync(log.file)
    const refused = await runCli(['list', log.file])
    expect(refused.exit).toBe(1)
    expect(refused.stderr).toContain('has schema version 1, not 2: run daybook migrate')
    const dry = await runCli(['migrate', log.file, '--dry-run'])
    expect(dry.stdout).toContain('CREATE TABLE daybook_dictionaries')
    expect(fs.readFileSync(log.file).equals(bytes)).toBe(true)
    expect(await runCli(['migrate', log.file])).toEqual({
      exit: 0,
      stdout: 'version 1 to 2\n',
      stderr: '',
    })
    expect((await runCli(['migrate', log.file])).stdout).toBe('version 2: nothing to do\n')
    expect((await runCli(['count', log.file])).stdout).toBe('3\n')
  })

  it('begins the ledger of the configuration, as doctor advises', async () => {
    const config = log.file.replace('audit.db', 'config.mjs')
    const key = `audit.example.com/a+8fd05c8d+AQkZV0oQtQoBMc6q2mQU5jWMSvyPHtSlZ2P5zFdwrWlL`
    fs.writeFileSync(
      config,
      `export default { types: {}, ledger: { origin: 'audit.example.com/a', key: '${key}' } }`,
    )
    const withConfig = (command: string, ...others: readonly string[]) =>
      runCli([command, log.file, '--config', config, ...others])
    expect((await withConfig('doctor')).stdout).toMatch(
      /^warn\tschema\t.*no tables of a ledger; run daybook migrate.*--config/m,
    )
    const dry = await withConfig('migrate', '--dry-run')
    expect(dry.stdout).toContain('CREATE TABLE daybook_ledger_rows')
    expect(dry.stdout).toContain('INSERT INTO daybook_ledger\n')
    expect(await withConfig('migrate')).toMatchObject({
      exit: 0,
      stdout: 'the log has a ledger now\n',
    })
    expect((await withConfig('migrate')).stdout).toBe('version 2: nothing to do\n')
    expect((await withConfig('doctor')).stdout).toMatch(/^pass\tschema\t/m)
    await expect(log.audit.store.removeBefore(1)).rejects.toMatchObject({ code: 'SIGNER_REQUIRED' })
  })

  it('refuses a log of a newer version', async () => {
    const database = new Database(log.file)
    database.exec('UPDATE daybook_schema SET version = 99')
    database.close()
    for (const command of ['migrate', 'count', 'doctor']) {
      const { exit, stdout, stderr } = await runCli([command, log.file])
      expect([exit, (stdout + stderr).includes('update daybook')]).toEqual([1, true])
    }
  })

  it('creates the tables of a log on Postgres', async () => {
    const { url, pool, name, remove } = await postgresDatabase()
    onTestFinished(remove)
    expect((await runCli(['list', url])).stderr).toContain('run daybook migrate')
    const dry = await runCli(['migrate', url, '--dry-run'])
    expect(dry.stdout).toContain('CREATE TABLE')
    expect((await runCli(['count', url])).exit).toBe(1)
    expect((await runCli(['migrate', url])).exit).toBe(0)
    expect((await runCli(['count', url])).stdout).toBe('0\n')
    const checked = await runCli(['doctor', url])
    expect(checked.stdout).toContain('notifications arrive')
    // The server of the tests runs with fsync = off.
    expect(checked.stdout).toMatch(/^fail\tfsync\t/m)
    expect(checked.exit).toBe(1)
    const role = `without_rights_${name}`.slice(0, 63)
    await pool.query(`CREATE ROLE ${role} LOGIN`)
    const other = new URL(url)
    other.username = role
    const denied = await runCli(['doctor', other.href])
    // The role may read the version, but no events.
    await pool.query(`GRANT USAGE ON SCHEMA daybook TO ${role}`)
    await pool.query(`GRANT SELECT ON daybook.schema_version TO ${role}`)
    const partly = await runCli(['doctor', other.href])
    await pool.query(`REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`)
    const outside = await runCli(['doctor', other.href])
    await pool.query(`DROP OWNED BY ${role}`)
    await pool.query(`DROP ROLE ${role}`)
    expect(partly.stdout).toMatch(
      /^pass\tNode\t[^]*^fail\trights\t[^]*^pass\tschema\t[^]*^fail\tstore\t/m,
    )
    expect([partly.exit, partly.stderr]).toEqual([1, ''])
    expect(outside.stdout).toMatch(/^pass\tNode\t.*\nfail\trights\t.*permission denied.*CONNECT/)
    expect([outside.exit, outside.stderr]).toEqual([4, ''])
    expect(denied.stdout).toContain(`GRANT USAGE ON SCHEMA daybook TO ${role}`)
    expect(denied.stdout).toMatch(/^fail\tschema\tpermission denied/m)
    expect(denied.exit).toBe(1)
  })
})

describe('daybook verify and rebuild', () => {
  useLog()

  it('find damage, and list the affected answers', async () => {
    const sound = await runCli(['verify', log.file])
    expect(sound.stdout).toMatch(/^3 events and \d+ segments of the index read: no damage\n$/)
    expect(sound.exit).toBe(0)
    const database = new Database(log.file)
    database.exec(
      `UPDATE daybook_events SET attributes = CAST('{"name":"shoq"}' AS BLOB) WHERE username = 'ann'`,
    )
    database.close()
    const damaged = await runCli(['verify', log.file, '--json'])
    const [first, last] = damaged.stdout.trimEnd().split('\n')
    expect(JSON.parse(first!)).toMatchObject({ kind: 'event' })
    expect(JSON.parse(last!)).toMatchObject({ damaged: 1 })
    expect(damaged.exit).toBe(1)
  })

  it('build the index while the log is in use', async () => {
    expect((await runCli(['rebuild', log.file])).stdout).toMatch(
      /^the index was built in [\d.]+ s\n$/,
    )
    expect((await log.audit.list('filter[type_eq]=debug')).events).toHaveLength(2)
  })

  it('work on stored logs only', async () => {
    for (const command of ['verify', 'rebuild', 'migrate', 'doctor', 'clean'])
      expect(await runCli([command, 'http://127.0.0.1:1/api/events'])).toMatchObject({
        exit: 2,
        stderr: `error: ${command} works on sqlite and postgres, not on http\n`,
      })
  })
})

describe('an address of Postgres', () => {
  it.each(['postgres://[', 'postgresql://a:b@localhost/%', 'postgres://localhost:99999/x'])(
    'is refused if it is not a connection string: %s',
    async (address) => {
      expect(await runCli(['subscriptions', 'list', address])).toEqual({
        exit: 2,
        stdout: '',
        stderr: 'error: the address of Postgres is not valid\n',
      })
    },
  )

  it('is refused with the reason if one of several hosts is not valid', async () => {
    expect(await runCli(['list', 'postgres://a:b@127.0.0.1:1,:2/x'])).toEqual({
      exit: 2,
      stdout: '',
      stderr:
        'error: host 2 of the Postgres store must be a name or an address, with or without a port; it is :2\n',
    })
  })

  it('may have several hosts', async () => {
    const { exit, stderr } = await runCli(['list', 'postgres://127.0.0.1:1,127.0.0.1:2/x'])
    expect(exit).toBe(3)
    expect(stderr).toContain('127.0.0.1:2: connect ECONNREFUSED')
  })

  it.each(['postgres://a%z:b@127.0.0.1:1/x', 'postgres://ann@/x?host=/none'])(
    'is parsed as the driver parses it: %s',
    async (address) => {
      expect((await runCli(['list', address])).exit).toBe(3)
    },
  )
})

describe('a log on Postgres that is out of reach', () => {
  it.each([
    ['verify'],
    ['rebuild'],
    ['migrate'],
    ['doctor'],
    ['stats'],
    ['subscriptions', 'list'],
    ['subscriptions', 'pause'],
  ])('ends %s %s with 3', async (...words) => {
    const rest = words.includes('pause') ? ['search'] : []
    const { exit, stdout, stderr } = await runCli([...words, 'postgres://127.0.0.1:1/x', ...rest])
    expect([exit, stdout]).toEqual([3, ''])
    expect(stderr).toContain('ECONNREFUSED')
  })
})

describe('daybook doctor', () => {
  useLog()

  it('reports the rights of the file', async () => {
    fs.chmodSync(log.file, 0o644)
    const { exit, stdout } = await runCli(['doctor', log.file])
    expect(stdout).toContain('all users can read it; let only the service read it: chmod 600')
    expect(stdout).toMatch(/^pass\tschema\tthe schema has version 2, its events are in form 1$/m)
    expect(exit).toBe(0)
  })

  it('says how to write a condition of visible on an attribute with several values', async () => {
    const audit = new AuditLog({ store: sqliteStore({ filename: log.file }), types: {} })
    const record = (data: object) => audit.recordSystem('info:a', data)
    for (let n = 0; n < 40; n++) await record({ tenant: { id: 'acme' }, roles: ['a', 'b'], n })
    await record({ tenant_id: ['acme', 'umbrella', 'acme'], n: 1 })
    const other = await record({ tenant_id: 'umbrella', tenant: { id: 'acme' }, n: 1 })
    await record({ tenant_id: ['acme', 'acme'], n: 1 })
    await audit.close()
    const { exit, stdout } = await runCli(['doctor', log.file])
    expect(stdout.split('\n').filter((line) => line.includes('\tvisible\t'))).toEqual([
      expect.stringContaining(`warn\tvisible\ttenant_id has several values in 2 of the newest`),
    ])
    expect(stdout).toContain(`such as ${other!.id}`)
    expect(stdout).toContain("{ m: 'or', tenant_id_eq: …, shared_true: true }")
    expect(exit).toBe(0)
  })

  it.each([
    [/^daybook_events$/, /^fail\tlog\t.*tables of the log are gone.*restore a backup/m],
    [/^daybook/, /^fail\tschema\tthere is no log; .*dropped its tables: restore a backup$/m],
  ])('reports that another program has dropped %s', async (dropped, report) => {
    const database = new Database(log.file)
    const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck()
    for (const table of tables.all())
      if (dropped.test(String(table))) database.exec(`DROP TABLE ${String(table)}`)
    database.close()
    const { exit, stdout } = await runCli(['doctor', log.file])
    expect(stdout).toMatch(report)
    expect(exit).toBe(1)
  })
})

it('daybook doctor names the unreadable file', async () => {
  const { file, close } = openFileLog()
  onTestFinished(close)
  // The user of the tests may be one who reads every file.
  const denied = Object.assign(new Error('permission denied'), { code: 'EACCES' })
  vi.spyOn(fs, 'accessSync').mockImplementation(() => {
    throw denied
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const { exit, stdout } = await runCli(['doctor', file])
  expect(stdout).toMatch(
    /^pass\tNode\t.*\nfail\trights\tthis user cannot read .*let this user read/,
  )
  expect(exit).toBe(1)
})

describe('daybook clean', () => {
  useLog()

  it.each([
    [
      '{ cleanning: { rules: [] } }',
      'the default export has no option cleanning; did you mean cleaning?',
    ],
    ['{ cleaning: { rles: [] } }', 'clean needs the rules'],
    [`{ cleaning: { rules: [{ target: 'events', maxRow: 1 }] } }`, 'did you mean maxRows?'],
  ])('refuses the configuration %s', async (options, message) => {
    const config = log.temp.file('config.mjs')
    fs.writeFileSync(config, `export default ${options}\n`)
    const { exit, stderr } = await runCli(['clean', log.file, '--config', config, '--yes'])
    expect(stderr).toContain(message)
    expect(exit).toBe(2)
  })

  it('refuses --yes with --dry-run', async () => {
    const config = log.temp.file('config.mjs')
    fs.writeFileSync(config, `export default { cleaning: { rules: [] } }\n`)
    const args = ['clean', log.file, '--config', config, '--yes', '--dry-run']
    expect(await runCli(args)).toMatchObject({
      exit: 2,
      stderr: 'error: --yes and --dry-run cannot be used together\n',
    })
  })

  it('removes nothing without --yes', async () => {
    const config = log.temp.file('config.mjs')
    const rule = `{ name: 'debug', target: 'events', filter: 'filter[type_eq]=debug', maxRows: 1, every: { seconds: 1 } }`
    fs.writeFileSync(config, `export default { cleaning: { rules: [${rule}] } }\n`)
    const args = ['clean', log.file, '--config', config]
    const preview = await runCli(args)
    expect(await runCli([...args, '--dry-run'])).toEqual(preview)
    expect(preview.stdout).toMatch(/^debug: would remove 1 event, from \S+ to \S+\n$/)
    expect(preview.stderr).toBe('nothing was removed; --yes runs the rules\n')
    expect((await runCli(['count', log.file])).stdout).toBe('3\n')
    const json = await runCli([...args, '--json'])
    expect(JSON.parse(json.stderr)).toEqual({ notice: 'nothing was removed; --yes runs the rules' })
    expect((await runCli([...args, '--yes'])).stdout).toBe('debug: removed 1 event\n')
    const unknown = await runCli([...args, '--rule', 'debog'])
    expect([unknown.exit, unknown.stderr]).toEqual([
      2,
      'error: there is no cleaning rule debog; did you mean debug?\n',
    ])
    expect((await runCli(['clean', log.file])).exit).toBe(2)
  })

  it('waits while the clock is far from the newest event, unless the clock is accepted', async () => {
    const file = log.temp.file('quiet.db')
    const store = sqliteStore({ filename: file, clock: manualClock('2026-01-01') })
    await using audit: AuditLog = new AuditLog({ store, types: {} })
    await audit.recordCustom('debug')
    const config = log.temp.file('config.mjs')
    const rules = `[{ target: 'events', maxAge: { days: 7 } }]`
    fs.writeFileSync(config, `export default { cleaning: { rules: ${rules} } }\n`)
    const args = ['clean', file, '--config', config]
    const waiting =
      /^events: skipped: the clock reads \S+, and 2026-01-01T.* was expected: maxAge wa/
    expect((await runCli(args)).stdout).toMatch(waiting)
    expect((await runCli([...args, '--yes'])).stdout).toMatch(waiting)
    expect((await runCli(['doctor', file])).stdout).toMatch(/the rule events waits until/)
    expect((await runCli([...args, '--accept-clock'])).exit).toBe(2)
    const accepted = await runCli([...args, '--yes', '--accept-clock'])
    expect(accepted.stdout).toMatch(/^events: removed [1-9]\d* events?\n$/)
    expect((await runCli(['doctor', file])).stdout).not.toContain('waits')
  })
})
