import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type EventStore } from 'daybook'
import { afterEach, expect, it, vi } from 'vitest'
import type { CommonSealerOptions, Sealer } from '../../../src/store-kit/index-builder/sealer.js'
import { eventCount, type IndexTruth } from '../../support/index-truth.js'

/** Time for the sealer to notice new events and to index them. */
export const SOON = { timeout: 60_000, interval: 50 }

export const TUNING = { segmentSize: 8, fanOut: 4 }

/** A sealer that never seals a few events. */
export const NEVER = { segmentSize: 1000, fanOut: 4 }

/** Stores with their sealers, on one log for each test. */
export interface SealerHarness<Options> {
  open(options: Partial<Options>): { readonly store: EventStore; readonly sealer: Sealer }
  truth(): Promise<IndexTruth>
  /** Renames the table of chunks, so that sealing fails, or renames it back. */
  hideChunks(isHidden: boolean): Promise<void>
  /** Left out if a process may be ended before it has released the lease. */
  isLeased?(): Promise<boolean>
}

export interface OpenLog {
  readonly audit: AuditLog
  readonly store: EventStore
  readonly sealer: Sealer
}

export interface SealerFixture<Options> {
  open(options?: Partial<Options>): OpenLog
  record(log: OpenLog, count: number): Promise<void>
  truth(): Promise<IndexTruth>
  /** A truth without errors. */
  readonly intact: Pick<IndexTruth, 'hidden' | 'missing' | 'damage'>
  hideChunks(isHidden: boolean): Promise<void>
  isLeased(): Promise<boolean>
}

export function useSealer<Options>(harness: SealerHarness<Options>): SealerFixture<Options> {
  const opened: OpenLog[] = []
  afterEach(() => Promise.all(opened.splice(0).map(({ audit }) => audit.close())))
  return {
    open(options = {}) {
      const { store, sealer } = harness.open(options)
      const log = { audit: new AuditLog({ store, types: {} }), store, sealer }
      opened.push(log)
      return log
    },
    async record({ audit }, count) {
      await Promise.all(
        Array.from({ length: count }, (_, n) => audit.recordCustom(`type-${n % 3}`, { n })),
      )
    },
    truth: () => harness.truth(),
    intact: { hidden: 0, missing: [], damage: [] },
    hideChunks: (isHidden) => harness.hideChunks(isHidden),
    isLeased: async () => (await harness.isLeased?.()) ?? false,
  }
}

/** Tests of the sealer of any store. */
export function describeSealer({
  open,
  record,
  truth,
  intact,
  hideChunks,
  isLeased,
}: SealerFixture<CommonSealerOptions>): void {
  it('full segments are sealed and merged', async () => {
    const log = open({ tuning: { segmentSize: 8, fanOut: 3 } })
    await record(log, 8 * 3 * 3 + 5)
    await log.sealer.settled()
    expect(await truth()).toEqual({ ...intact, segments: [[2, 72]], unsealed: 5 })
    await record(log, 12)
    await log.sealer.settled()
    const segments = [
      [2, 72],
      [0, 8],
      [0, 8],
    ]
    expect(await truth()).toEqual({ ...intact, segments, unsealed: 1 })
  })

  it('the index is built after appends, although nobody waits for it', async () => {
    await record(open(), 12)
    await vi.waitFor(async () => expect((await truth()).unsealed).toBe(4), SOON)
  })

  it('events that are added right after a check are found by a later check', async () => {
    const log = open({ checkMs: 300 })
    await record(log, 7)
    await delay(100)
    await record(log, 1)
    await vi.waitFor(async () => expect((await truth()).unsealed).toBe(0), SOON)
  })

  it('the next process continues where a store was closed in the middle of a round', async () => {
    for (const pause of [0, 50, 150]) {
      const log = open({ checkMs: 10 })
      await record(log, 40)
      await delay(pause)
      await log.audit.close()
      expect(await truth()).toMatchObject({ missing: [], damage: [] })
      expect(await isLeased()).toBe(false)
    }
    await open().sealer.settled()
    const end = await truth()
    expect(end).toMatchObject({ ...intact, unsealed: 0 })
    expect(eventCount(end)).toBe(120)
  })

  it('errors affect no call, cause one warning, and are followed by another attempt', async () => {
    const log = open({ maxPauseMs: 200 })
    await log.audit.list()
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    try {
      await hideChunks(true)
      await record(log, 20)
      await vi.waitFor(() => expect(warn).toHaveBeenCalled(), SOON)
      await delay(700)
      await record(log, 20)
      await hideChunks(false)
      expect(warn.mock.calls).toEqual([[expect.stringMatching(/fails: .*_chunks/)]])
    } finally {
      warn.mockRestore()
    }
    await vi.waitFor(async () => expect((await truth()).unsealed).toBe(0), SOON)
    await log.sealer.settled()
    expect(await truth()).toMatchObject(intact)
  })

  it('segments of removed events are dropped', async () => {
    const log = open()
    await record(log, 40)
    await log.sealer.settled()
    expect(await log.store.removeBefore(Number.MAX_SAFE_INTEGER)).toBe(40)
    await log.audit.list()
    await vi.waitFor(
      async () => expect(await truth()).toMatchObject({ segments: [], hidden: 0, damage: [] }),
      SOON,
    )
  })
}
