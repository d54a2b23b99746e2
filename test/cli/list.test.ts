import fs from 'node:fs'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { workflowEventTypes } from 'daybook/workflow'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tempDir } from '../support/temp.js'
import { runCli } from './run-cli.js'

const temp = tempDir()
const file = temp.file('audit.db')
beforeAll(async () => {
  const audit = new AuditLog({ store: sqliteStore({ filename: file }), types: workflowEventTypes })
  await audit.record('api:projects:create', { name: 'shop' }, { username: 'ann' })
  await audit.record('error:step:action', { error: 'out of\ndisk' })
  await audit.close()
})
afterAll(() => temp.remove())

describe('daybook list', () => {
  it('prints a row of tab-separated values for each event in a pipe', async () => {
    const { exit, stdout, stderr } = await runCli(['list', file])
    const rows = stdout.trimEnd().split('\n')
    expect(rows.map((row) => row.split('\t').slice(2, 5))).toEqual([
      ['api', 'api:projects:create', 'ann'],
      ['error', 'error:step:action', ''],
    ])
    expect([exit, stderr]).toEqual([0, ''])
  })

  it('prints sentences on a terminal, and lines of JSON with --json', async () => {
    const shown = await runCli(['list', file, '-f', 'username_eq=ann', '--utc'], {
      terminal: { columns: 100 },
      env: { NO_COLOR: '1' },
    })
    expect(shown.stdout).toMatch(
      /^[\d-]{10} [\d:]{8}Z {2}ann created project shop {2}[\da-f-]{36}\n$/,
    )
    const json = await runCli(['list', file, '--json', 'filter[type_start]=error:'])
    const event = JSON.parse(json.stdout) as { attributes: unknown }
    expect(event.attributes).toMatchObject({ error: 'out of\ndisk' })
  })

  it('takes the log from DAYBOOK_LOG', async () => {
    const { stdout } = await runCli(['list', '--fields', 'name'], { env: { DAYBOOK_LOG: file } })
    expect(stdout).toBe('shop\n\n')
  })

  it('shortens what it repeats, and reports errors as JSON with --json', async () => {
    const long = await runCli(['list', file, '--json', 'x'.repeat(100_000)])
    expect(long.stderr.length).toBeLessThan(1200)
    expect(JSON.parse(long.stderr)).toMatchObject({ error: { exit: 'usage' } })
  })

  it('names the nearest word for a wrong query, and creates no file', async () => {
    const wrong = await runCli(['list', file, '-f', 'username_con=ann'])
    expect(wrong.exit).toBe(2)
    expect(wrong.stderr).toContain('did you mean')
    const missing = temp.file('none.db')
    const none = await runCli(['list', missing])
    expect([none.exit, fs.existsSync(missing)]).toEqual([3, false])
    expect((await runCli(['lsit', file])).stderr).toBe(
      "error: unknown command 'lsit'; did you mean list?\n",
    )
  })
})
