import fs from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { openFileLog } from './logs.js'
import { runCli } from './run-cli.js'

const OWN = 'filter[type_start]=info:audit_log:&limit=100'

it('records the reads of commands, but no starts, if the configuration asks for it', async () => {
  const log = openFileLog()
  onTestFinished(() => log.close())
  await log.audit.recordCustom('note', { name: 'x' })
  const config = log.temp.file('config.mjs')
  fs.writeFileSync(config, 'export default { ownEvents: { reads: true, runs: true } }\n')
  const env = { USER: 'ann' }
  await runCli(['list', log.file], { env })
  expect((await log.audit.list(OWN)).events).toEqual([])
  const filter = 'filter[name_eq]=x'
  const { exit } = await runCli(['list', log.file, '--config', config, filter], { env })
  expect(exit).toBe(0)
  await runCli(['export', log.file, '--config', config], { env })
  const { events } = await log.audit.list(OWN)
  expect(
    events.map(({ type, username, attributes }) => [type, username, attributes['action']]),
  ).toEqual([
    ['info:audit_log:read', 'ann', 'list'],
    ['info:audit_log:read', 'ann', 'export'],
  ])
  expect(events[0]!.attributes).toMatchObject({ conditions: ['name'], values: {} })
})
