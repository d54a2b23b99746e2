import { describe, expect, it } from 'vitest'
import { type CanaryRun, foundInClear, runCanaries } from './personal-canaries-run.js'

const STORES: readonly CanaryRun['store'][] = ['SQLite', 'SQLite, compressed', 'Postgres']

describe.each(STORES)('words of persons on %s', (store) => {
  it('are found if their type declares nothing', async () => {
    expect(await foundInClear(store)).not.toEqual([])
  })

  it('never stand in clear, and cannot be read once they are erased', async () => {
    const hasLedger = store !== 'SQLite, compressed'
    await runCanaries({ store, hasLedger, events: 240, persons: 12 })
  })
})
