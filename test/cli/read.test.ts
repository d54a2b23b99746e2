import fs from 'node:fs'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commands } from '../../adapters/cli/commands.js'
import { runProgram } from '../../adapters/cli/program.js'
import { type FileLog, openFileLog } from './logs.js'
import { runCli } from './run-cli.js'

/* Behaviour of the reading commands, beyond the output in golden.test.ts. */

let log: FileLog
beforeAll(async () => {
  log = openFileLog()
  await log.audit.record('api:projects:create', { name: 'shop' }, { username: 'ann' })
  await log.audit.record('api:projects:create', { name: 'blog' }, { username: 'ann' })
  await log.audit.record('error:step:action', { error: 'disk\u202Efull\nagain' })
  await log.audit.recordCustom('deploy', { version: 4 })
})
afterAll(() => log.close())

describe('daybook list', () => {
  it('prints one row for an event with line breaks', async () => {
    const { stdout } = await runCli(['list', log.file])
    const rows = stdout.trimEnd().split('\n')
    expect(rows.map((row) => row.split('\t').slice(2, 5))).toEqual([
      ['api', 'api:projects:create', 'ann'],
      ['api', 'api:projects:create', 'ann'],
      ['error', 'error:step:action', ''],
      ['custom', 'deploy', ''],
    ])
  })

  it('takes the log from DAYBOOK_LOG', async () => {
    const env = { DAYBOOK_LOG: log.file }
    expect((await runCli(['list', '--fields', 'name'], { env })).stdout).toBe('shop\nblog\n\n\n')
  })

  it('takes an empty variable as not set', async () => {
    const env = { DAYBOOK_LOG: '', DAYBOOK_CONFIG: '' }
    const { exit, stdout } = await runCli(['list', log.file, '--fields', 'name'], { env })
    expect([exit, stdout]).toEqual([0, 'shop\nblog\n\n\n'])
    expect((await runCli(['list'], { env })).stderr).toContain('list needs a log')
  })

  it('shortens the input that it repeats', async () => {
    const { stderr } = await runCli(['list', log.file, '--json', 'x'.repeat(100_000)])
    expect(stderr.length).toBeLessThan(1200)
    expect(JSON.parse(stderr)).toMatchObject({ error: { exit: 'usage' } })
  })

  it('creates no file', async () => {
    const missing = log.temp.file('none.db')
    expect((await runCli(['list', missing])).exit).toBe(3)
    expect(fs.existsSync(missing)).toBe(false)
  })
})

describe('--conceal', () => {
  const conceal = ['--conceal', 'name', '--conceal', 'error']

  it('leaves out attributes, and refuses queries that name them', async () => {
    const { events } = await log.audit.list('filter[type_eq]=error:step:action')
    for (const args of [
      ['list', log.file, '--json'],
      ['export', log.file],
      ['get', log.file, events[0]!.id],
    ]) {
      const { exit, stdout } = await runCli([...args, ...conceal])
      expect([exit, stdout.includes('error:step:action')]).toEqual([0, true])
      expect(stdout).not.toMatch(/shop|blog|disk/)
    }
    for (const args of [
      ['list', log.file, '-f', 'name_eq=shop'],
      ['count', log.file, '-f', 'name_eq=shop'],
      ['tail', log.file, '-f', 'name_eq=shop'],
      ['export', log.file, '-f', 'error_cont=disk'],
    ]) {
      const { exit, stderr } = await runCli([...args, ...conceal])
      expect(exit, args[0]).not.toBe(0)
      expect(stderr).toContain('is not available to this user')
    }
  })

  it('is refused for a feed, and for a name that cannot be concealed', async () => {
    const feed = await runCli(['list', 'http://127.0.0.1:1/api/events', ...conceal])
    expect([feed.exit, feed.stderr]).toEqual([2, expect.stringContaining('the server of the feed')])
    for (const command of ['list', 'serve']) {
      const { exit, stderr } = await runCli([command, log.file, '--conceal', 'username'])
      expect([exit, stderr]).not.toEqual([0, ''])
      expect(stderr).toContain('username is a field that each event has')
    }
  })
})

it('daybook get shows the code of characters that change the direction of text', async () => {
  const { events } = await log.audit.list('filter[type_eq]=error:step:action')
  const options = { terminal: { columns: 80 }, env: { NO_COLOR: '1' } }
  const { stdout } = await runCli(['get', log.file, events[0]!.id], options)
  expect(stdout).toContain('diskU+202Efull')
})

it('daybook count counts all matching events, and the values of an attribute', async () => {
  expect((await runCli(['count', log.file, 'filter[username_eq]=ann&limit=1'])).stdout).toBe('2\n')
  expect((await runCli(['count', log.file, '--by', 'username'])).stdout).toBe('2\tann\n4\n')
  const { stdout } = await runCli(['count', log.file, '--by', 'type', '--top', '1', '--json'])
  expect(JSON.parse(stdout)).toEqual({
    total: 4,
    exact: true,
    values: [{ value: 'api:projects:create', count: 2 }],
  })
  expect((await runCli(['count', log.file, '--top', '0'])).exit).toBe(2)
})

describe('daybook tail', () => {
  it('prints earlier and new events of some levels, and ends on Ctrl-C', async () => {
    const controller = new AbortController()
    const output = new PassThrough({ encoding: 'utf8' })
    const options = ['--since', '1h', '--level', 'error', '--level', 'custom', '--fields', 'type']
    const ended = runProgram(commands, ['tail', log.file, ...options], {
      stdin: new PassThrough(),
      stdout: output,
      stderr: new PassThrough().resume(),
      env: {},
      signal: controller.signal,
    })
    let text = ''
    output.on('data', (chunk: string) => (text += chunk))
    await expect.poll(() => text).toBe('error:step:action\ndeploy\n')
    await log.audit.record('api:projects:create', { name: 'x' })
    await log.audit.recordCustom('rollback', {})
    await expect.poll(() => text).toBe('error:step:action\ndeploy\nrollback\n')
    controller.abort()
    expect(await ended).toBe(130)
  })

  it('refuses a time that it cannot read', async () => {
    expect((await runCli(['tail', log.file, '--after', 'noon'])).exit).toBe(2)
  })
})
