import { type AuditEvent, AuditLog, type EventStore, type JsonObject } from 'daybook'
import { afterEach, beforeEach, expect } from 'vitest'
import type { Builder } from '../../src/store-kit/index-builder/builder.js'
import type { SegmentInfo } from '../../src/store-kit/index/segment-source.js'
import type { SegmentRow } from '../../src/store-kit/maintenance/index-rows.js'
import { mergeNext } from './merge-next.js'
import { sealNext } from '../../src/store-kit/index-builder/sealing.js'
import type { SealingTuning } from '../../src/store-kit/index-builder/segment-levels.js'
import type { StepRunner } from '../../src/store-kit/index-builder/steps.js'
import type { IndexPart } from '../../src/store-kit/index/part.js'
import { eventAt } from './imported-event.js'
import type { IndexTruth } from './index-truth.js'
import { expectPart, timeOf } from './part-truth.js'
import { type SlowWork, slowWork } from './slow-work.js'

/** The facts about a segment that tests compare. */
export type TestedSegment = SegmentInfo & Pick<SegmentRow, 'level'>

/** Functions with which tests build and read the index of a store. */
export interface IndexHarness {
  /** Opens a store without events that does not build its index itself. */
  open(): Promise<EventStore>
  /** Removes the files or tables of `open`, after the store was closed. */
  remove(): Promise<void>
  builder(steps: StepRunner, tuning: SealingTuning): Builder
  truth(): Promise<IndexTruth>
  visibleSegments(): Promise<readonly TestedSegment[]>
  load(segment: TestedSegment): Promise<IndexPart>
  version(): Promise<number>
  /** Rows of all segments, chunks and times. */
  segmentRows(): Promise<number>
  /** Times in the list of late events. */
  lateTimes(): Promise<readonly number[]>
  /** Times of the events that were removed by their ids and that segments may have. */
  removedTimes(): Promise<readonly number[]>
}

export const TYPES = { 'info:runs:start': {} }
export const TUNING: SealingTuning = { segmentSize: 8, fanOut: 3 }

/** A time long before all events that tests record. */
export const OLD = 1_600_000_000_000_000

/** Runs steps one after another, even steps that were only started. */
function testSteps(before: () => Promise<void>): StepRunner {
  let started: Promise<unknown> = Promise.resolve()
  const next = async (): Promise<void> => {
    await started
    await before()
  }
  return {
    async run(transact) {
      await next()
      return transact()
    },
    start(transact) {
      const result = next().then(transact)
      started = result.catch(() => {})
      return result
    },
    isSliceOver: () => false,
    pause: next,
    setRestFactor: () => {},
  }
}

export type Work = (builder: Builder) => Promise<boolean>

/** A log for each test, whose index the test builds. */
export interface IndexFixture extends Omit<IndexHarness, 'open' | 'remove' | 'builder'> {
  audit(): AuditLog<typeof TYPES>
  /** Closes the log and opens an empty one. */
  reopen(): Promise<void>
  builder(tuning?: SealingTuning): Builder
  /** Repeats the work until there is no more. Returns the number of repetitions. */
  repeat(work: Work, tuning?: SealingTuning): Promise<number>
  seal(): Promise<number>
  merge(): Promise<number>
  slow(work: Work): SlowWork
  /** All events, oldest first. */
  all(): Promise<AuditEvent[]>
  /** Records events, mostly a microsecond apart. */
  record(attributes: readonly JsonObject[]): Promise<void>
  importAt(times: readonly number[], tag: string): Promise<void>
  /** Reads every visible segment and compares it with the events at its times. */
  expectSegments(): Promise<void>
}

export const someAttributes = (length: number, offset = 0): JsonObject[] =>
  Array.from({ length }, (_, i) => ({ n: offset + i, even: i % 2 === 0, key: `key-${offset + i}` }))

export function useIndex(harness: IndexHarness): IndexFixture {
  let audit: AuditLog<typeof TYPES>
  const open = async (): Promise<void> => {
    audit = new AuditLog({ store: await harness.open(), types: TYPES })
  }
  const close = async (): Promise<void> => {
    await audit.close()
    await harness.remove()
  }
  beforeEach(open)
  afterEach(close)

  const builder = (tuning = TUNING): Builder =>
    harness.builder(
      testSteps(async () => {}),
      tuning,
    )
  const repeat = async (work: Work, tuning = TUNING): Promise<number> => {
    let count = 0
    while (await work(builder(tuning))) count += 1
    return count
  }
  const all = async (): Promise<AuditEvent[]> => [...(await audit.list({ limit: 1000 })).events]

  return {
    truth: () => harness.truth(),
    visibleSegments: () => harness.visibleSegments(),
    load: (segment) => harness.load(segment),
    version: () => harness.version(),
    segmentRows: () => harness.segmentRows(),
    lateTimes: () => harness.lateTimes(),
    removedTimes: () => harness.removedTimes(),
    audit: () => audit,
    async reopen() {
      await close()
      await open()
    },
    builder,
    repeat,
    seal: () => repeat(sealNext),
    merge: () => repeat(mergeNext),
    slow: (work) => slowWork((before) => work(harness.builder(testSteps(before), TUNING))),
    all,
    async record(attributes) {
      await Promise.all(attributes.map((one, i) => audit.recordCustom(`type-${i % 3}`, one)))
    },
    async importAt(times, tag) {
      await audit.importEvents(
        times.map((time, i) => {
          const id = `0196b3c2-0000-4000-8000-${String(time % 1e12).padStart(12, '0')}`
          return eventAt(time, { id, attributes: { tag, i } })
        }),
      )
    },
    async expectSegments() {
      const events = new Map((await all()).map((event) => [timeOf(event), event]))
      for (const segment of await harness.visibleSegments()) {
        const part = await harness.load(segment)
        const times = Array.from({ length: part.size }, (_, ordinal) => part.timeOf(ordinal))
        expectPart(
          part,
          times.map((time) => events.get(time)!),
        )
      }
      expect(await harness.truth()).toMatchObject({ missing: [], damage: [] })
    },
  }
}
