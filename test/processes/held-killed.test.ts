import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { runScript } from '../support/child.js'
import { allEvents } from '../support/reported-losses.js'
import { tempDir } from '../support/temp.js'

it('an event with an unknown outcome may stay if the process is killed before the event is on the disk', async () => {
  const temp = tempDir()
  onTestFinished(temp.remove)
  const filename = temp.file('audit.db')
  const child = runScript('test/processes/held-child.ts', [filename])
  onTestFinished(() => child.kill())
  await child.saw('OUTCOME_UNKNOWN')
  await child.kill()
  await using audit: AuditLog = new AuditLog({ store: sqliteStore({ filename }), types: {} })
  // The event is in the cache of the operating system, so the kill cannot lose it.
  expect((await allEvents(audit)).map(({ type }) => type)).toEqual(['test:kept', 'test:held'])
})
