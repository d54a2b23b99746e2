import { afterEach, describe, expect, it, vi } from 'vitest'
import type { IndexDriver } from '../../../../src/store-kit/maintenance/driver.js'
import type { SegmentRow } from '../../../../src/store-kit/maintenance/index-rows.js'
import { type RoundOptions, runRound } from '../../../../src/store-kit/index-builder/round.js'
import { EARLY_LEVEL } from '../../../../src/store-kit/index-builder/segment-levels.js'
import type { Lease, StepRunner } from '../../../../src/store-kit/index-builder/steps.js'
import { createExtractor } from '../../../../src/store-kit/index/extract.js'

interface FakeLog {
  /** Numbers of unsealed events, visible segments of level 0, and segments to drop. */
  unsealed: number
  segments: SegmentRow[]
  abandoned: number[]
  expired: number[]
  readonly calls: string[]
  /** Levels of the segments that were merged. */
  readonly merged: number[]
}

/** A segment of one event, whose time is its id. */
const segment = (id: number, level = 0): SegmentRow => ({
  id,
  level,
  size: 1,
  first: id,
  last: id,
  isPartial: false,
  removed: 0,
  digest: 0,
  starts: 0,
  names: 0,
  chunks: 0,
  isDamaged: false,
  isTrusted: true,
})

afterEach(() => void vi.restoreAllMocks())

const newLog = (state: Partial<FakeLog> = {}): FakeLog => ({
  unsealed: 0,
  segments: [],
  abandoned: [],
  expired: [],
  calls: [],
  merged: [],
  ...state,
})

/** The state of an index without late and removed events. */
const NOTHING_REMOVED = { removed: 0, version: 0, sealedTo: 0, upTo: 0, late: [] }

const tuning = { segmentSize: 2, fanOut: 3 }

/** A driver that only counts. Its segments have no chunks. */
function fakeDriver(log: FakeLog, steps: StepRunner): IndexDriver {
  let nextId = 100
  const begun = new Map<number, SegmentRow>()
  const call = <Result>(name: string, act: () => Result): Promise<Result> =>
    steps.run(async () => {
      log.calls.push(name)
      return act()
    })
  const take = (ids: number[]): readonly number[] => ids.splice(0)
  const driver: Partial<IndexDriver> = {
    batchLimits: { bytes: 1000, rows: 10 },
    hasGramsWhenSealed: false,
    isSealDue: async (size) => log.unsealed >= size,
    async readUnsealed(size, atLeast) {
      if (log.unsealed < atLeast) return undefined
      const extractor = createExtractor()
      for (let time = 0; time < Math.min(size, log.unsealed); time++)
        extractor.add({
          time,
          type: 'a:b:c',
          username: null,
          system: false,
          source: null,
          attributes: '{}',
        })
      return { extract: extractor.extract(), ...NOTHING_REMOVED }
    },
    numberColumns: async () => [],
    beginSegment: ({ level, times }) =>
      call('begin', () => {
        begun.set(nextId, { ...segment(nextId, level), size: times.length })
        return nextId++
      }),
    insertChunks: () => call('insert', () => true),
    publish: (written) =>
      call('publish', () => {
        const published = begun.get(written!.id)!
        log.unsealed -= published.size
        log.segments.push(published)
        return true
      }),
    visibleSegments: async () => log.segments,
    readTimes: ({ first }) => call('times', () => Float64Array.of(first)),
    checkPresence: async () => ({ isPresent: () => true, removed: 0 }),
    listedNames: async () => [],
    namesOf: async () => [],
    readChunks: async () => [],
    openFeeds: () => ({ feeds: [], fetch: () => Promise.resolve() }),
    replace: (parts, merged) =>
      call('replace', () => {
        log.segments = log.segments.filter((one) => !parts.includes(one))
        const added = begun.get(merged!.id)!
        log.segments.push(added)
        log.merged.push(added.level)
        return true
      }),
    hiddenSegments: async () => take(log.abandoned),
    hideExpired: async () => take(log.expired),
    markGone: (id) => call(`drop ${id}`, () => true),
    deleteChunks: async () => {},
    deleteSegment: async () => {},
    nextRebuild: async () => undefined,
  }
  return driver as IndexDriver
}

/** A lease that is free, and a log of its calls. */
function fakeLease(isFree: () => boolean = () => true): Lease & { readonly states: string[] } {
  const states: string[] = []
  return {
    states,
    async take() {
      if (isFree()) states.push('taken')
      return isFree()
    },
    release: async () => void states.push('released'),
  }
}

const run = (log: FakeLog, options: Partial<RoundOptions> = {}) =>
  runRound({
    tuning,
    leaseMs: 60_000,
    sealCheckMs: 0,
    lease: fakeLease(),
    pacer: { rest: async () => {} },
    signal: new AbortController().signal,
    createDriver: (steps) => fakeDriver(log, steps),
    ...options,
  })

describe('a round', () => {
  it('ends with nothing if there is no work', async () => {
    const lease = fakeLease()
    expect(await run(newLog({ unsealed: 1 }), { lease })).toBe('nothing')
    expect(lease.states).toEqual(['taken', 'released'])
  })

  it('drops segments, seals events and merges segments until there is no more work', async () => {
    const log = newLog({ unsealed: 19, abandoned: [7, 8], expired: [9] })
    expect(await run(log)).toBe('done')
    expect(log.calls.slice(0, 3)).toEqual(['drop 7', 'drop 8', 'drop 9'])
    expect(log.unsealed).toBe(1)
    expect(log.segments.map(({ level }) => level)).toEqual([2])
  })

  it('on request, seals once fewer events than a segment has', async () => {
    const early = { ...tuning, segmentSize: 8, early: { minEvents: 3, afterMs: 0 } }
    const log = newLog({ unsealed: 5 })
    expect(await run(log, { tuning: early })).toBe('nothing')
    expect(await run(log, { tuning: early, isEarly: true })).toBe('done')
    expect(log.segments.map(({ level, size }) => [level, size])).toEqual([[EARLY_LEVEL, 5]])
    log.unsealed = 2
    expect(await run(log, { tuning: early, isEarly: true })).toBe('nothing')
    log.unsealed = 11
    expect(await run(log, { tuning: early, isEarly: true })).toBe('done')
    expect(log.segments.map(({ level, size }) => [level, size])).toEqual([
      [EARLY_LEVEL, 5],
      [0, 8],
    ])
    expect(log.unsealed).toBe(3)
  })

  it('only drops segments if there is no other work', async () => {
    expect(await run(newLog({ expired: [9] }))).toBe('done')
  })

  it('does nothing while another process has the lease', async () => {
    const log = newLog({ unsealed: 8, abandoned: [7] })
    const lease = fakeLease(() => false)
    expect(await run(log, { lease })).toBe('leased')
    expect([log.calls, lease.states]).toEqual([[], []])
  })

  it('ends once another process has taken the lease', async () => {
    const log = newLog({ unsealed: 8 })
    const lease = fakeLease(() => !log.calls.includes('insert'))
    expect(await run(log, { lease, leaseMs: 0 })).toBe('leased')
    expect(log.calls.at(-1)).toBe('insert')
  })

  it('seals new events in the middle of a merge', async () => {
    const log = newLog({ segments: [segment(1), segment(2), segment(3)] })
    const pacer = {
      async rest() {
        if (log.calls.at(-1) === 'times' && !log.calls.includes('publish')) log.unsealed = 2
      },
    }
    expect(await run(log, { pacer })).toBe('done')
    expect(log.calls.indexOf('publish')).toBeGreaterThan(log.calls.indexOf('times'))
    expect(log.calls.indexOf('publish')).toBeLessThan(log.calls.indexOf('replace'))
  })

  it('merges smaller segments during a merge of larger ones', async () => {
    const log = newLog({ segments: [segment(1, 1), segment(2, 1), segment(3, 1)] })
    const pacer = {
      async rest() {
        if (log.calls.length === 1) log.segments.push(segment(4), segment(5), segment(6))
      },
    }
    expect(await run(log, { pacer })).toBe('done')
    expect(log.merged).toEqual([1, 2])
    expect(new Set(log.segments.map(({ level }) => level))).toEqual(new Set([1, 2]))
  })

  it('leaves few segments to merge, also if events are added fast', async () => {
    const events = 1200
    const log = newLog()
    let [added, most, now] = [0, 0, 0]
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const pacer = {
      async rest() {
        now += 1
        if (added < events) {
          log.unsealed += tuning.segmentSize
          added += tuning.segmentSize
        }
        most = Math.max(most, log.segments.filter(({ level }) => level < 2).length)
      },
    }
    log.unsealed = tuning.segmentSize
    expect(await run(log, { pacer })).toBe('done')
    expect(log.unsealed).toBe(0)
    expect(log.segments.filter(({ level }) => level === 2).length).toBeGreaterThan(60)
    expect(most).toBeGreaterThanOrEqual(2 * tuning.fanOut)
    expect(most).toBeLessThan(6 * tuning.fanOut)
  })

  it('rejects with ABORTED after the step under way, and releases the lease', async () => {
    const log = newLog({ unsealed: 8 })
    const lease = fakeLease()
    const controller = new AbortController()
    const pacer = { rest: async () => controller.abort() }
    const round = run(log, { lease, pacer, signal: controller.signal })
    await expect(round).rejects.toMatchObject({ code: 'ABORTED' })
    expect(log.calls).toEqual(['begin'])
    expect(lease.states).toEqual(['taken', 'released'])
  })
})
