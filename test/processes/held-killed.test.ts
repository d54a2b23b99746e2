import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { runScript } from '../support/child.js'
import type { Hold } from '../support/held-writer.js'
import { allEvents } from '../support/reported-losses.js'
import { tempDir } from '../support/temp.js'

/** A process is killed while its disk holds a commit whose call it has rejected. Returns the types in the log. */
async function typesAfterKill(how: Hold): Promise<string[]> {
  const temp = tempDir()
  onTestFinished(temp.remove)
  const filename = temp.file('audit.db')
  const child = runScript('test/processes/held-child.ts', [filename, how])
  onTestFinished(() => child.kill())
  await child.saw('DEADLINE_EXCEEDED')
  await child.kill()
  await using audit: AuditLog = new AuditLog({
    store: sqliteStore({ filename, writer: 'inline' }),
    types: {},
  })
  return (await allEvents(audit)).map(({ type }) => type)
}

it('a rejected event is not kept if the process is killed before the disk has it', async () => {
  expect(await typesAfterKill('before')).toEqual(['test:kept'])
})

it('a rejected event is kept if the process is killed after the disk has it, before it is removed', async () => {
  expect(await typesAfterKill('after')).toEqual(['test:kept', 'test:held'])
})
