import { describe, expect, inject, it } from 'vitest'
import { type DeliveryRound, noFigures, runDeliveries } from '../campaigns/deliveries.js'
import { postgresDatabase } from '../support/database.js'
import { tempDir } from '../support/temp.js'

/** `npm run soak -- deliveries` has more rounds, and random ones. */
const PLAN: readonly DeliveryRound[] = [
  { channel: 'function', signal: 'SIGKILL', delayMs: 100 },
  { channel: 'webhook', signal: 'SIGSTOP', delayMs: 0 },
]

async function deliver(location: string): Promise<void> {
  const figures = noFigures()
  const compiled = inject('compiledFolder')
  await runDeliveries({ compiled, location, plan: PLAN, figures, isOver: () => false, print() {} })
  expect(figures.rounds).toBe(PLAN.length)
  expect(figures.events).toBeGreaterThan(0)
  expect(figures.undone).toBeGreaterThan(0)
}

describe('deliveries whose process is killed or suspended', () => {
  it('miss nothing and stay in order on SQLite', { timeout: 180_000 }, async () => {
    const temp = tempDir()
    try {
      await deliver(temp.file('audit.db'))
    } finally {
      temp.remove()
    }
  })

  it('miss nothing and stay in order on Postgres', { timeout: 180_000 }, async () => {
    const { url, remove } = await postgresDatabase()
    try {
      await deliver(url)
    } finally {
      await remove()
    }
  })
})
