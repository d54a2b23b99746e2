import { describe, expect, inject, it } from 'vitest'
import { type DeliveryRound, noFigures, runDeliveries } from '../campaigns/deliveries.js'
import { postgresDatabase } from '../support/database.js'
import { tempDir } from '../support/temp.js'

/* `npm run soak -- deliveries` has rounds of all signals and channels on both stores. */

async function deliver(location: string, round: DeliveryRound): Promise<void> {
  const figures = noFigures()
  const compiled = inject('compiledFolder')
  await runDeliveries({
    compiled,
    location,
    plan: [round],
    figures,
    isOver: () => false,
    print() {},
  })
  expect(figures.rounds).toBe(1)
  expect(figures.events).toBeGreaterThan(0)
  expect(figures.undone).toBeGreaterThan(0)
}

describe('deliveries miss nothing and stay in order', { timeout: 180_000 }, () => {
  it('on SQLite, if their process is killed', async () => {
    const temp = tempDir()
    try {
      const round = { channel: 'function', signal: 'SIGKILL', delayMs: 100 } as const
      await deliver(temp.file('audit.db'), round)
    } finally {
      temp.remove()
    }
  })

  it('on Postgres, if their process is suspended', async () => {
    const { url, remove } = await postgresDatabase()
    try {
      await deliver(url, { channel: 'webhook', signal: 'SIGSTOP', delayMs: 0 })
    } finally {
      await remove()
    }
  })
})
