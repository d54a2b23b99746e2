import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { runScript } from '../support/child.js'
import { allEvents, reportedLosses } from '../support/reported-losses.js'
import { tempDir } from '../support/temp.js'

const TYPE = 'error:unmatched:create'

it('the number of refused requests is in the store within about a second', async () => {
  const { file, remove } = tempDir()
  onTestFinished(remove)
  const filename = file('audit.db')
  const child = runScript('test/processes/refusing-child.ts', [filename, '300'])
  await child.saw('reported 299')
  await child.kill()
  const clock = (): number => (Date.now() + 10 * 60_000) * 1000
  const audit: AuditLog = new AuditLog({ store: sqliteStore({ filename, clock }), types: {} })
  onTestFinished(() => audit.close())
  await audit.cleaning.run()
  const events = await allEvents(audit)
  expect(events.map(({ type }) => type)).toEqual([TYPE, 'warn:audit_log:gap'])
  expect(reportedLosses(events).suppressed.get(TYPE)).toBe(299)
})
