import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { runScript } from '../support/child.js'
import { allEvents } from '../support/reported-losses.js'
import { tempDir } from '../support/temp.js'

it('an event with an unknown outcome may stay if the process is killed before the disk has it', async () => {
  const temp = tempDir()
  onTestFinished(temp.remove)
  const filename = temp.file('audit.db')
  const child = runScript('test/processes/held-child.ts', [filename])
  onTestFinished(() => child.kill())
  await child.saw('OUTCOME_UNKNOWN')
  await child.kill()
  await using audit: AuditLog = new AuditLog({ store: sqliteStore({ filename }), types: {} })
  // Only the operating system could lose it now.
  expect((await allEvents(audit)).map(({ type }) => type)).toEqual(['test:kept', 'test:held'])
})
