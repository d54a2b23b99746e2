import { describe, expect, inject, it } from 'vitest'
import { type DeliveryRound, noFigures, runDeliveries } from '../campaigns/deliveries.js'
import { onPostgres, onSqlite, type StoredPlace } from './stored-place.js'

/* `npm run soak -- deliveries` has rounds of all signals and channels on both stores. */

async function deliver({ location }: StoredPlace, round: DeliveryRound): Promise<void> {
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
  it('on SQLite, if their process is killed', () =>
    onSqlite((place) => deliver(place, { channel: 'function', signal: 'SIGKILL', delayMs: 100 })))

  it('on Postgres, if their process is suspended', () =>
    onPostgres((place) => deliver(place, { channel: 'webhook', signal: 'SIGSTOP', delayMs: 0 })))
})
