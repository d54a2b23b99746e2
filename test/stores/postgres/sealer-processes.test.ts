import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { type Child, runScript } from '../../support/child.js'
import { postgresTruth } from '../../support/postgres-index.js'
import { useSchemas } from '../../support/schemas.js'

const tuning = { segmentSize: 8, fanOut: 4 }
const ROUNDS = 8
const SOON = { timeout: 20_000, interval: 20 }

const { database, schema } = useSchemas('processes')

describe('the index of a log that several processes have', () => {
  const children: Child[] = []

  beforeEach(async () => {
    const { store } = createPostgresStore({
      pool: database().pool,
      schema: schema(),
      partitions: 'none',
    })
    const audit = new AuditLog({ store, types: {} })
    await audit.list()
    await audit.close()
  })
  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => child.kill()))
  })

  const start = (options: object = {}): Child => {
    const args = [database().url, schema(), JSON.stringify(options)]
    const child = runScript('test/stores/postgres/sealing-child.ts', args)
    children.push(child)
    return child
  }
  /** Does what is left, as a process that comes next. */
  const settle = async (leaseMs = 10_000): Promise<void> => {
    const { store, sealer } = createPostgresStore(
      { pool: database().pool, schema: schema() },
      { tuning, leaseMs },
    )
    await sealer.settled()
    await store.close()
  }
  const truth = () => postgresTruth(database().pool, schema())
  const holder = async (): Promise<string | null> => {
    const { rows } = await database().pool.query<{ holder: string | null }>(
      `SELECT holder FROM ${schema()}.index_state`,
    )
    return rows[0]!.holder
  }
  const sizeOf = (segments: readonly (readonly [number, number])[]): number =>
    segments.reduce((sum, [, size]) => sum + size, 0)

  it(
    `has every event after each of ${ROUNDS} rounds of kill -9 while it is sealed and merged`,
    { timeout: 180_000 },
    async () => {
      let leftBehind = 0
      for (let round = 0; round < ROUNDS; round++) {
        const child = start({ leaseMs: 300 })
        await child.saw('recording\n')
        const before = (await truth()).segments.length
        await vi.waitFor(async () => expect((await truth()).segments.length).not.toBe(before), SOON)
        await delay(Math.random() * 300)
        await child.kill()
        const { missing, stray, hidden } = await truth()
        expect({ missing, stray }).toEqual({ missing: [], stray: 0 })
        leftBehind += hidden
      }
      expect(leftBehind).toBeGreaterThan(0)
      await settle(300)
      const end = await truth()
      expect(end).toMatchObject({ missing: [], hidden: 0, stray: 0 })
      expect(end.unsealed).toBeLessThan(8)
      expect(end.segments.some(([level]) => level === 2)).toBe(true)
    },
  )

  it('is built by one of three that append at once', { timeout: 120_000 }, async () => {
    const each = 200
    const three = Array.from({ length: 3 }, () => start({ count: each }))
    expect(await Promise.all(three.map((child) => child.ended))).toEqual([0, 0, 0])
    await settle()
    const end = await truth()
    expect([sizeOf(end.segments), end.unsealed]).toEqual([3 * each, 0])
    expect(end).toMatchObject({ missing: [], hidden: 0, stray: 0 })
    // Each one once, but for what those who ended were at: two, where one is sealed amid a merge.
    const needed = 75 + 18 + 4
    const { rows } = await database().pool.query<{ last: number }>(
      `SELECT last_value::int AS last FROM ${schema()}.segments_id_seq`,
    )
    expect(rows[0]!.last).toBeLessThanOrEqual(needed + 2 * 3)
  })

  it('is taken over from one who died', { timeout: 60_000 }, async () => {
    do {
      const child = start({ leaseMs: 2000 })
      await child.saw('recording\n')
      await vi.waitFor(async () => expect(await holder()).not.toBeNull(), SOON)
      await child.kill()
    } while ((await holder()) === null)
    await settle()
    expect(await holder()).toBeNull()
    const end = await truth()
    expect(end).toMatchObject({ missing: [], hidden: 0, stray: 0 })
    expect(end.unsealed).toBeLessThan(8)
  })

  it('is right when one who hung goes on', { timeout: 120_000 }, async () => {
    const count = 1600
    const child = start({ leaseMs: 200, count, end: 'stay' })
    await child.saw('recording\n')
    let isOver = false
    const over = child.saw('recorded\n').then(() => (isOver = true))
    let takenOver = 0
    for (let round = 0; round < 10 && !isOver; round++) {
      await vi.waitFor(async () => expect(isOver || (await holder()) !== null).toBe(true), SOON)
      child.process.kill('SIGSTOP')
      if ((await holder()) !== null) {
        await settle(200)
        takenOver += 1
      }
      child.process.kill('SIGCONT')
      await delay(100)
    }
    await over
    expect(takenOver).toBeGreaterThan(0)
    await child.kill()
    await settle(200)
    const end = await truth()
    expect(end).toMatchObject({ unsealed: 0, missing: [], hidden: 0, stray: 0 })
    expect(sizeOf(end.segments)).toBe(count)
  })
})
