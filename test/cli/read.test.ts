import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commands } from '../../adapters/cli/commands.js'
import { runProgram } from '../../adapters/cli/program.js'
import { type FileLog, openFileLog } from './logs.js'
import { runCli } from './run-cli.js'

let log: FileLog
beforeAll(async () => {
  log = openFileLog()
  await log.audit.record('api:projects:create', { name: 'shop' }, { username: 'ann' })
  await log.audit.record('api:projects:create', { name: 'blog' }, { username: 'ann' })
  await log.audit.record('error:step:action', { error: 'disk\u202Efull' })
  await log.audit.recordCustom('deploy', { version: 4 })
})
afterAll(() => log.close())

describe('daybook get', () => {
  it('shows an event on a terminal, and prints JSON in a pipe', async () => {
    const { events } = await log.audit.list('filter[type_eq]=error:step:action')
    const id = events[0]!.id
    const shown = await runCli(['get', log.file, id, '--utc'], {
      terminal: { columns: 80 },
      env: { NO_COLOR: '1' },
    })
    expect(shown.stdout).toContain('error  diskU+202Efull\n')
    const { stdout } = await runCli(['get', log.file, id])
    expect(JSON.parse(stdout)).toMatchObject(JSON.parse(JSON.stringify(events[0])) as object)
  })

  it('fails for an id that is none, and for an event that is not there', async () => {
    expect(await runCli(['get', log.file, 'seven'])).toMatchObject({ exit: 2 })
    const id = '01a20405-0fa8-7676-ba2c-be23e865d0a6'
    expect(await runCli(['get', log.file, id])).toEqual({
      exit: 1,
      stdout: '',
      stderr: `error: there is no event ${id}\n`,
    })
    expect(await runCli(['get', log.file])).toMatchObject({
      stderr: 'error: the argument id is missing\n',
    })
  })
})

describe('daybook count', () => {
  it('counts all matching events, and the values of an attribute', async () => {
    expect((await runCli(['count', log.file])).stdout).toBe('4\n')
    expect((await runCli(['count', log.file, 'filter[username_eq]=ann&limit=1'])).stdout).toBe(
      '2\n',
    )
    expect((await runCli(['count', log.file, '--by', 'username'])).stdout).toBe('2\tann\n4\n')
    const { stdout } = await runCli(['count', log.file, '--by', 'type', '--top', '1', '--json'])
    expect(JSON.parse(stdout)).toEqual({
      total: 4,
      exact: true,
      values: [{ value: 'api:projects:create', count: 2 }],
    })
    expect((await runCli(['count', log.file, '--top', '0'])).exit).toBe(2)
  })
})

describe('daybook tail', () => {
  it('prints earlier and new events of some levels, and ends on Ctrl-C', async () => {
    const controller = new AbortController()
    const output = new PassThrough({ encoding: 'utf8' })
    const ended = runProgram(
      commands,
      [
        'tail',
        log.file,
        '--since',
        '1h',
        '--level',
        'error',
        '--level',
        'custom',
        '--fields',
        'type',
      ],
      {
        stdin: new PassThrough(),
        stdout: output,
        stderr: new PassThrough().resume(),
        env: {},
        signal: controller.signal,
      },
    )
    let text = ''
    output.on('data', (chunk: string) => (text += chunk))
    await expect.poll(() => text).toBe('error:step:action\ndeploy\n')
    await log.audit.record('api:projects:create', { name: 'x' })
    await log.audit.recordCustom('rollback', {})
    await expect.poll(() => text).toBe('error:step:action\ndeploy\nrollback\n')
    controller.abort()
    expect(await ended).toBe(130)
  })

  it('refuses times that it cannot read', async () => {
    expect((await runCli(['tail', log.file, '--since', 'noon'])).exit).toBe(2)
    expect((await runCli(['tail', log.file, '--after', 'noon'])).exit).toBe(2)
    expect((await runCli(['tail', log.file, '--level', 'eror'])).stderr).toContain(
      'did you mean error?',
    )
  })
})
