import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Child, runScript } from '../../support/child.js'
import { soakRounds, soakTimeout } from '../../support/soak.js'
import { eventCount, type IndexTruth } from '../../support/index-truth.js'
import type { ChildOptions, Place } from './sealing-child.js'

const SOON = { timeout: 60_000, interval: 20 }

/** A log that several processes index. */
export interface ProcessesHarness {
  /** Makes an empty log. Left out if the first process does. */
  begin?(): Promise<void>
  place(): Place
  truth(): Promise<IndexTruth>
  /** Opens the log in this process, waits until its index is built, and closes it. */
  settle(leaseMs: number): Promise<void>
  /** The holder of the lease, `undefined` without one. */
  leaseHolder(): Promise<unknown>
  /** True if a suspended process holds no lock that other processes wait for. */
  isWritable(): Promise<boolean>
  /** Number of segments that were ever begun. */
  segmentsBegun(): Promise<number>
}

export interface ProcessesFixture extends ProcessesHarness {
  start(options?: ChildOptions): Child
}

export function useProcesses(harness: ProcessesHarness): ProcessesFixture {
  const children: Child[] = []
  beforeEach(() => harness.begin?.())
  afterEach(() => Promise.all(children.splice(0).map((child) => child.kill())))
  return {
    ...harness,
    start(options = {}) {
      const child = runScript('test/stores/shared/sealing-child.ts', [
        JSON.stringify(harness.place()),
        JSON.stringify(options),
      ])
      children.push(child)
      return child
    },
  }
}

/** Tests of several processes that build the index of one log, in any store. */
export function describeSealerProcesses(fixture: ProcessesFixture): void {
  const { start, truth, settle, leaseHolder, isWritable, segmentsBegun } = fixture

  it(
    'processes that are killed during sealing and merging lose no event, and their leases expire',
    { timeout: soakTimeout(180_000) },
    async () => {
      let abandoned = 0
      let leases = 0
      let found = 0
      // Enough events that some segments are merged.
      for (const _ of soakRounds(1, () => abandoned === 0 || leases === 0 || found < 50)) {
        const child = start({ leaseMs: 300 })
        await child.saw('recording\n')
        const before = (await truth()).segments.length
        await vi.waitFor(async () => expect((await truth()).segments.length).not.toBe(before), SOON)
        await delay(Math.random() * 300)
        await vi.waitFor(async () => expect(await leaseHolder()).toBeDefined(), SOON)
        await child.kill()
        if ((await leaseHolder()) !== undefined) leases += 1
        const now = await truth()
        expect(now).toMatchObject({ missing: [], damage: [] })
        abandoned += now.hidden
        found = eventCount(now) + now.unsealed
      }
      await settle(300)
      expect(await leaseHolder()).toBeUndefined()
      const end = await truth()
      expect(end).toMatchObject({ missing: [], damage: [], hidden: 0 })
      expect(end.unsealed).toBeLessThan(8)
      expect(end.segments.some(([level]) => level > 0)).toBe(true)
    },
  )

  it('one of several processes that append builds the index', async () => {
    const [processes, each] = [2, 40]
    const children = Array.from({ length: processes }, () => start({ count: each }))
    expect(await Promise.all(children.map((child) => child.ended))).toEqual(children.map(() => 0))
    await settle(10_000)
    const end = await truth()
    expect([eventCount(end), end.unsealed]).toEqual([processes * each, 0])
    expect(end).toMatchObject({ missing: [], damage: [], hidden: 0 })
    // Each segment once, and the segments that a process was building when it ended. There are two such segments if
    // it sealed during a merge.
    const sealed = (processes * each) / 8
    const needed = sealed + Math.floor(sealed / 4) + Math.floor(sealed / 16)
    expect(await segmentsBegun()).toBeLessThanOrEqual(needed + 2 * processes)
  })

  it(
    'a process that was suspended while it built the index may go on',
    { timeout: 180_000 },
    async () => {
      const count = 160
      let recorded = 0
      let takenOver = 0
      do {
        const child = start({ leaseMs: 200, count, end: 'stay' })
        recorded += count
        await child.saw('recording\n')
        let isOver = false
        const over = child.saw('recorded\n').then(() => (isOver = true))
        for (let round = 0; round < 10 && takenOver === 0; round++) {
          await vi.waitFor(
            async () => expect(isOver || (await leaseHolder()) !== undefined).toBe(true),
            SOON,
          )
          if (isOver) break
          // Before it is suspended, the process may take another lock.
          await child.suspend()
          if ((await leaseHolder()) !== undefined && (await isWritable())) {
            await settle(200)
            takenOver += 1
          }
          child.process.kill('SIGCONT')
          await delay(100)
        }
        await over
        await child.kill()
      } while (takenOver === 0)
      await settle(200)
      const end = await truth()
      expect(end).toMatchObject({ unsealed: 0, missing: [], damage: [], hidden: 0 })
      expect(eventCount(end)).toBe(recorded)
    },
  )
}
