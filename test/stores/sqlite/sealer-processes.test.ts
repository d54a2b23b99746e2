import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { type Child, runScript } from '../../support/child.js'
import { indexTruth } from '../../support/index-truth.js'
import { tempDir } from '../../support/temp.js'

const tuning = { segmentSize: 8, fanOut: 4 }
const ROUNDS = 12
const SOON = { timeout: 20_000, interval: 20 }

describe('the index of a file that several processes have', () => {
  let temp: ReturnType<typeof tempDir>
  let filename: string
  const children: Child[] = []

  beforeEach(() => {
    temp = tempDir()
    filename = temp.file('audit.db')
  })
  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => child.kill()))
    temp.remove()
  })

  const start = (options: object = {}): Child => {
    const child = runScript('test/stores/sqlite/sealing-child.ts', [
      filename,
      JSON.stringify(options),
    ])
    children.push(child)
    return child
  }
  /** Does what is left, as a process that opens the file next. */
  const settle = async (options: object = {}): Promise<void> => {
    const { store, sealer } = createSqliteStore({ filename }, { tuning, ...options })
    await sealer.settled()
    await store.close()
  }
  const read = (sql: string): unknown => {
    const database = new Database(filename, { readonly: true })
    try {
      return database.prepare(sql).pluck().get()
    } finally {
      database.close()
    }
  }
  const lease = () => read(`SELECT value FROM daybook_state WHERE key = 'sqlite:sealing'`)

  it(
    `has every event after each of ${ROUNDS} rounds of kill -9 while it is sealed and merged`,
    { timeout: 180_000 },
    async () => {
      let leftBehind = 0
      for (let round = 0; round < ROUNDS; round++) {
        const child = start({ leaseMs: 300 })
        await child.saw('recording\n')
        const before = indexTruth(filename).segments.length
        await vi.waitFor(() => expect(indexTruth(filename).segments.length).not.toBe(before), SOON)
        await delay(Math.random() * 300)
        await child.kill()
        const { missing, damage, hidden } = indexTruth(filename)
        expect({ missing, damage }).toEqual({ missing: [], damage: [] })
        leftBehind += hidden
      }
      expect(leftBehind).toBeGreaterThan(0)
      await settle({ leaseMs: 300 })
      const truth = indexTruth(filename)
      expect(truth).toMatchObject({ missing: [], damage: [], hidden: 0 })
      expect(truth.unsealed).toBeLessThan(8)
      expect(truth.segments.some(([level]) => level === 2)).toBe(true)
    },
  )

  it('is built by one of four that append at once', { timeout: 120_000 }, async () => {
    const each = 200
    const four = Array.from({ length: 4 }, () => start({ count: each }))
    expect(await Promise.all(four.map((child) => child.ended))).toEqual([0, 0, 0, 0])
    await settle()
    const truth = indexTruth(filename)
    const sizes = truth.segments.reduce((sum, [, size]) => sum + size, 0)
    expect([sizes, truth.unsealed]).toEqual([4 * each, 0])
    expect(truth).toMatchObject({ missing: [], hidden: 0 })
    // Each one once, but for what those who ended were at: two, where one is sealed amid a merge.
    const needed = 100 + 25 + 6
    const made = read(`SELECT seq FROM sqlite_sequence WHERE name = 'daybook_segments'`)
    expect(made).toBeLessThanOrEqual(needed + 2 * 4)
  })

  it('is taken over from one who died', { timeout: 60_000 }, async () => {
    do {
      const child = start({ leaseMs: 2000 })
      await child.saw('recording\n')
      await vi.waitFor(() => expect(lease()).toBeDefined(), SOON)
      await child.kill()
    } while (lease() === undefined)
    await settle()
    expect(lease()).toBeUndefined()
    const truth = indexTruth(filename)
    expect(truth).toMatchObject({ missing: [], hidden: 0 })
    expect(truth.unsealed).toBeLessThan(8)
  })

  it('is right when one who hung goes on', { timeout: 120_000 }, async () => {
    const count = 1600
    const child = start({ leaseMs: 200, count, end: 'stay' })
    await child.saw('recording\n')
    let isOver = false
    const over = child.saw('recorded\n').then(() => (isOver = true))
    let takenOver = 0
    for (let round = 0; round < 10; round++) {
      await vi.waitFor(() => expect(isOver || lease() !== undefined).toBe(true), SOON)
      if (isOver) break
      child.process.kill('SIGSTOP')
      // Stopped within a transaction it keeps others out until it goes on.
      if (lease() !== undefined && isWritable(filename)) {
        await settle({ leaseMs: 200 })
        takenOver += 1
      }
      child.process.kill('SIGCONT')
      await delay(100)
    }
    await over
    expect(takenOver).toBeGreaterThan(0)
    await child.kill()
    await settle({ leaseMs: 200 })
    const truth = indexTruth(filename)
    expect(truth).toMatchObject({ unsealed: 0, missing: [], damage: [], hidden: 0 })
    expect(truth.segments.reduce((sum, [, size]) => sum + size, 0)).toBe(count)
  })

  it('keeps no process running', { timeout: 60_000 }, async () => {
    const child = start({ count: 40, end: 'exit' })
    expect(await child.ended).toBe(0)
    expect(indexTruth(filename)).toMatchObject({ missing: [], damage: [] })
  })
})

function isWritable(filename: string): boolean {
  const database = new Database(filename, { timeout: 0 })
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK')
    return true
  } catch {
    return false
  } finally {
    database.close()
  }
}
