import fs from 'node:fs'
import { constants, gunzipSync } from 'node:zlib'
import { type AuditEvent, formatTimestamp } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import { expect, it } from 'vitest'
import { runScript } from '../support/child.js'
import { soakRounds, soakTimeout } from '../support/soak.js'
import { tempDir } from '../support/temp.js'
import { openWorld } from '../stores/shared/cleaning-world.js'

const DUE = 4000
const OTHERS = 200
const MINUTE = 60_000_000

/** The complete lines of the archive, also of files that end within a page. */
function readArchives(directory: string): AuditEvent[] {
  return fs.readdirSync(directory).flatMap((name) => {
    const file = fs.readFileSync(`${directory}/${name}`)
    if (file.length === 0) return []
    const text = gunzipSync(file, { finishFlush: constants.Z_SYNC_FLUSH }).toString('utf8')
    const lines = text.split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line) as AuditEvent)
  })
}

async function killWhileCleaning(): Promise<void> {
  const temp = tempDir()
  const filename = temp.file('audit.db')
  const archive = temp.file('archive')
  const clock = manualClock('2026-06-01T00:00:00Z')
  const world = openWorld(sqliteStore({ filename, clock }))
  try {
    for (let n = 0; n < DUE; n++) {
      void world.audit.recordCustom('due', { n })
      if (n % (DUE / OTHERS) === 0) void world.audit.recordCustom('other', { n })
    }
    await world.audit.flush()
    const recorded = await world.all()
    clock.advance(2 * 24 * 60 * MINUTE)
    // Shows the processes that start that their clock is right.
    await world.audit.recordSystem('info:test:recent')

    const clean = (...end: readonly string[]): ReturnType<typeof runScript> => {
      // Longer than the lease of the killed process.
      clock.advance(MINUTE)
      const args = [filename, archive, formatTimestamp(clock()), ...end]
      return runScript('test/processes/cleaning-child.ts', args)
    }
    // The child kills itself: this process might be too late.
    const killed = clean('killed')
    await killed.ended
    expect(killed.process.signalCode, killed.stderr()).toBe('SIGKILL')
    expect(killed.stdout()).toContain('removed')
    expect(killed.stdout()).not.toContain('done')
    const last = clean()
    expect(await last.ended).toBe(0)
    expect(last.stdout()).toContain('done')

    const archived = readArchives(archive)
    const left = (await world.all()).filter(({ system }) => !system)
    expect(left.map(({ type }) => type)).toEqual(Array(OTHERS).fill('other'))
    // A page that was archived but not removed is archived again.
    expect(archived.length).toBeGreaterThanOrEqual(DUE)
    const byId = new Map([...archived, ...left].map((event) => [event.id, event]))
    const kept = [...byId.values()].toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))
    expect(kept).toEqual(recorded)
    const runs = await world.cleaningEvents()
    expect(runs.map(({ type }) => type)).toEqual([
      'error:data_cleanup:events',
      'info:data_cleanup:events',
    ])
  } finally {
    await world.close()
    temp.remove()
  }
}

it(
  'loses no event where the process is killed while it archives and removes',
  { timeout: soakTimeout(180_000) },
  async () => {
    for (const _ of soakRounds(1)) await killWhileCleaning()
  },
)
