import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { contentOf } from '../campaigns/exports/check.js'
import { EXPORT_NAMES, type ExportFigures } from '../campaigns/exports/figures.js'
import { randomEvents } from '../page/numbers/random-log.js'
import { runScript } from '../support/child.js'
import { tempDir } from '../support/temp.js'

/* Whole exports of a log, in separate processes. `npm run soak -- exports` measures larger exports. */

const SIZE = 8000
/** Two pages: the page that is read, and the page that is written. */
const MAX_LIVE_PAGES = 2

const temp = tempDir()
afterAll(() => temp.remove())

let log: string
beforeAll(async () => {
  log = temp.file('audit.db')
  const audit = new AuditLog({ store: sqliteStore({ filename: log }), types: {} })
  await audit.importEvents(randomEvents(SIZE - 1, 1))
  // The newest event. If it were much older, a process that runs for some seconds would record a doubt of its clock.
  await audit.recordCustom('test:newest')
  await audit.close()
})

it('have the same events in each format, and keep few pages in memory', async () => {
  const digests = new Set<string>()
  for (const name of EXPORT_NAMES) {
    const file = temp.file(`events.${name}`)
    const child = runScript('test/campaigns/exports/child.ts', [log, name, file], {
      NODE_OPTIONS: '--expose-gc',
    })
    expect(await child.ended, child.stderr()).toBe(0)
    const figures = JSON.parse(child.stdout()) as ExportFigures
    expect(figures.events).toBe(SIZE)
    expect(figures.livePages).toBeLessThanOrEqual(MAX_LIVE_PAGES)
    const { events, digest } = await contentOf(name, file)
    expect(events).toBe(SIZE)
    digests.add(digest)
  }
  expect(digests.size).toBe(1)
})
