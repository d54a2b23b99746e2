import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { expect, it } from 'vitest'
import { linesOf, runScript } from '../../support/child.js'
import { soakRounds, soakTimeout } from '../../support/soak.js'
import { tempDir } from '../../support/temp.js'

const CHILD = 'test/processes/recording-child.ts'

it(
  'processes that are killed under load lose no acknowledged event',
  { timeout: soakTimeout(180_000) },
  async () => {
    const temp = tempDir()
    const filename = temp.file('audit.db')
    const acknowledged = new Set<string>()
    try {
      for (const round of soakRounds(1)) {
        // Two writers, so that a kill also strikes while the other one waits for the lock.
        const children = [1, 100].map((inFlight) =>
          runScript(CHILD, [filename, `${round}/${inFlight}`, String(inFlight)]),
        )
        await Promise.all(children.map((child) => child.saw('\n')))
        while (linesOf(children[1]!).length < 50) await delay(5)
        await delay(Math.random() * 120)
        for (const child of children) {
          await child.kill()
          for (const id of linesOf(child)) acknowledged.add(id)
        }
      }
      const audit: AuditLog = new AuditLog({ store: sqliteStore({ filename }), types: {} })
      const stored: string[] = []
      const times: string[] = []
      for await (const events of audit.pages('filter[sorts]=created_at')) {
        stored.push(...events.map((event) => event.id))
        times.push(...events.map((event) => event.created_at))
      }
      await audit.close()
      const present = new Set(stored)
      const missing = [...acknowledged].filter((id) => !present.has(id))
      expect(missing).toEqual([])
      expect(present.size).toBe(stored.length)
      expect(times).toEqual([...new Set(times)].toSorted())
    } finally {
      temp.remove()
    }
  },
)
