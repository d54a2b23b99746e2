import { describe, expect, it } from 'vitest'
import { badPair } from '../../../adapters/sqlite/connection/driver-versions.js'

/** Pairs that were tried with real processes, including working ones. */
const PAIRS: readonly [node: string, driver: string, reason: string | undefined][] = [
  ['20.19.0', '12.11.1', undefined],
  ['20.20.2', '13.0.0', 'npm install better-sqlite3@12'],
  ['22.13.1', '13.2.0', 'npm install better-sqlite3@12'],
  ['22.14.0', '13.0.0', undefined],
  ['22.23.3', '13.2.0', undefined],
  ['23.5.0', '13.2.0', 'Node 22.14, 23.6 or newer'],
  ['23.6.0', '13.2.0', undefined],
  ['24.18.0', '12.11.1', undefined],
  ['24.19.0', '12.0.0', 'npm install better-sqlite3@13'],
  ['24.21.0', '13.2.0', undefined],
  ['26.10.0', '12.11.1', 'npm install better-sqlite3@13'],
  ['26.10.0', '13.2.0', undefined],
  ['27.0.0-nightly2026', '14.0.0-beta.1', undefined],
]

describe('pairs of Node and better-sqlite3', () => {
  it.each(PAIRS)('Node %s with better-sqlite3 %s: %s', (node, driver, reason) => {
    const found = badPair(node, driver)
    if (reason === undefined) return expect(found).toBeUndefined()
    expect(found).toContain(reason)
    expect(found).toContain(`better-sqlite3 ${driver}`)
    expect(found).toContain(`Node ${node}`)
  })
})
