import { SUFFIX_LENGTH } from '../../event/event-id.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { Damage, DamageReporter } from '../../store/damage.js'
import type { VerifyOptions } from '../../store/verification.js'
import {
  damagedEvent,
  type Findings,
  missingEvent,
  segmentDamage,
  staleHighWater,
} from '../damages.js'
import { DamagedSegment, ListKind, missingRows } from '../index/segment-source.js'
import { TIMES_PER_BLOCK } from '../index/time-blocks.js'
import type { SegmentRow } from './index-rows.js'
import { collectTimes } from './segment-times.js'

/*
 * The verification of a log: which rows are read, in which steps, and what counts as damage. A store reads the rows.
 */

/** Events, or chunks of a segment, that are read at once. */
const STEP = 64

/** Blocks of a segment's times that are read at once. */
const BLOCKS_AT_ONCE = 16

/** Events that are looked for in segments at once. */
const WINDOW = 1024

/** A row of the table of events. */
export interface VerifiedEvent {
  readonly time: Microseconds
  /** `undefined` if the row is damaged. */
  readonly suffix: string | undefined
  /** The time that is listed for the suffix as the id of an imported event. */
  readonly listedAt?: Microseconds | undefined
}

/** The segments that queries read, and those that are marked as damaged. */
export interface VerifiedSegments<Row> {
  readonly segments: readonly Row[]
  readonly damaged: readonly Row[]
}

/** The next events that lists with a filter find only in segments, with the segments of that moment. */
export interface IndexedWindow<Row> extends VerifiedSegments<Row> {
  /** Without the late events. */
  readonly times: readonly Microseconds[]
  /** The time of the last event of the window, late ones included; `undefined` if there is none. */
  readonly last: Microseconds | undefined
}

/** A chunk of a segment; its checksum is right. */
export interface VerifiedChunk {
  readonly number: number
  readonly kind: number
}

/** Reads a log, each call in a short transaction of its own. Reads of a segment reject with `DamagedSegment`. */
export interface VerifiedLog<
  Row extends SegmentRow = SegmentRow,
  Chunk extends VerifiedChunk = VerifiedChunk,
> {
  /** The tables as reports name them. */
  readonly tables: Readonly<Record<'events' | 'live' | 'highWater' | 'index' | 'chunks', string>>
  /** Receives the damage of the rows that `eventsAfter` and `liveAfter` read. */
  readonly damages: DamageReporter
  /** The damage of a table that the database cannot read; `undefined` for other errors. */
  damageOf(error: unknown, table: string): Damage | undefined
  highWater(): Promise<Microseconds>
  eventsAfter(time: Microseconds, max: number): Promise<readonly VerifiedEvent[]>
  /** The times of the next open live events, damaged ones included. */
  liveAfter(time: Microseconds, max: number): Promise<readonly Microseconds[]>
  load(): Promise<VerifiedSegments<Row>>
  /** Reads the names of attributes that the segment needs. */
  readNames(row: Row): Promise<void>
  /** The blocks of times from a number to another, exclusive. */
  blocks(row: Row, from: number, end: number): Promise<readonly (readonly Microseconds[])[]>
  /** The chunks after `before`, each of which is found by its key, in the order of the keys. */
  chunksAfter(row: Row, before: Chunk | undefined, max: number): Promise<readonly Chunk[]>
  /** The times that have no event, with the count of removed events and the time before which it does not count. */
  lookUp(times: Float64Array): Promise<{
    readonly missing: readonly Microseconds[]
    readonly removed: number
    readonly removedBefore: Microseconds
  }>
  /** The window of the `max` events after `time`. */
  window(time: Microseconds, max: number): Promise<IndexedWindow<Row>>
}

interface Walk {
  readonly log: VerifiedLog
  readonly findings: Findings
  readonly options: VerifyOptions
  /** Called for each damaged segment. */
  readonly onDamaged: (damaged: DamagedSegment) => void
}

/** Reads all events and the whole index, and returns the number of segments. */
export async function verifyLog(walk: Walk): Promise<number> {
  const { log, findings } = walk
  const { tables, damages } = log
  /** The times of damaged events, which need not be in a segment. */
  const unreadable = new Set<Microseconds>()
  const stop = damages.watch((damage) => {
    findings.found(damage)
    if (damage.from !== undefined) unreadable.add(damage.from)
  })
  let segments = 0
  await guarded(walk, tables.events, () => verifyEvents(walk))
  await guarded(walk, tables.live, () => verifyLive(walk))
  stop()
  await guarded(walk, tables.index, async () => {
    segments = await verifySegments(walk)
    await guarded(walk, tables.events, () => verifyCoverage(walk, unreadable))
  })
  return segments
}

/** Does the work. If the database cannot read a table, the work ends and the damage is noted. */
export async function guarded(
  { log, findings }: Pick<Walk, 'log' | 'findings'>,
  table: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    const damage = log.damageOf(error, table)
    if (!damage) throw error
    findings.found(damage)
  }
}

async function verifyEvents({ log, findings }: Walk): Promise<void> {
  const end = await log.highWater()
  let last: Microseconds = -1
  for (;;) {
    const events = await log.eventsAfter(last, STEP)
    for (const { time, suffix, listedAt } of events) {
      findings.countEvent()
      // A longer suffix is the id of an imported event.
      if (suffix !== undefined && suffix.length !== SUFFIX_LENGTH && listedAt !== time)
        findings.found(damagedEvent(time, suffix, 'its id is not listed'))
      last = time
    }
    if (events.length < STEP || last >= end) break
  }
  const highWater = await log.highWater()
  if (last > highWater) findings.found(staleHighWater(log.tables.highWater, highWater, last))
}

async function verifyLive({ log }: Walk): Promise<void> {
  for (let last: Microseconds = -1; ;) {
    const times = await log.liveAfter(last, STEP)
    if (times.length < STEP) return
    last = times.at(-1)!
  }
}

/** Verifies each segment once, also segments that are built meanwhile, and returns their number. */
async function verifySegments(walk: Walk): Promise<number> {
  const { log, findings, options, onDamaged } = walk
  const seen = new Set<number>()
  for (;;) {
    const { segments, damaged } = await log.load()
    for (const row of damaged.filter(({ id }) => !seen.has(id)))
      findings.found(
        segmentDamage(row, row.isTrusted ? 'it is being built anew' : 'its row is damaged'),
      )
    const row = segments.find(({ id }) => !seen.has(id))
    if (!row) return seen.size
    options.onProgress?.({ step: 'index', done: seen.size, total: segments.length })
    seen.add(row.id)
    try {
      await guarded(walk, log.tables.chunks, () => verifySegment(walk, row))
    } catch (error) {
      if (!(error instanceof DamagedSegment)) throw error
      if (!(await isRead(log, row.id))) continue
      findings.found(segmentDamage(row, error.message))
      onDamaged(error)
    }
  }
}

/** False if the segment was merged meanwhile, so that queries read it no longer. */
async function isRead(log: VerifiedLog, segment: number): Promise<boolean> {
  return (await log.load()).segments.some(({ id }) => id === segment)
}

async function verifySegment(walk: Walk, row: SegmentRow): Promise<void> {
  await walk.log.readNames(row)
  const blocks = (from: number, end: number) => walk.log.blocks(row, from, end)
  const times = await collectTimes(row, BLOCKS_AT_ONCE, blocks)
  await verifyChunks(walk.log, row)
  await guarded(walk, walk.log.tables.events, () => verifyPresence(walk, row, times))
}

/** Kinds of lists that are only in segments whose rows say that they have partial events. */
const PARTIAL_KINDS: ReadonlySet<number> = new Set([
  ListKind.partial,
  ListKind.otherNames,
  ListKind.others,
  ListKind.partialTexts,
])

async function verifyChunks(log: VerifiedLog, row: SegmentRow): Promise<void> {
  const fail = (reason: string): never => {
    throw new DamagedSegment(row.id, reason)
  }
  let before: VerifiedChunk | undefined
  for (let number = 0; ;) {
    const chunks = await log.chunksAfter(row, before, STEP)
    for (const chunk of chunks) {
      if (chunk.number > number) throw missingRows(row.id)
      if (chunk.number < number) fail('its chunks are not in order')
      if (PARTIAL_KINDS.has(chunk.kind) && !row.isPartial) fail('its row is wrong')
      number += 1
    }
    if (chunks.length < STEP) {
      if (number !== row.chunks) fail(`it has ${number} chunks instead of ${row.chunks}`)
      return
    }
    before = chunks.at(-1)
  }
}

/** Finds events that a segment lists and that were not removed, but that have no row. */
async function verifyPresence(
  { log, findings }: Walk,
  row: SegmentRow,
  times: Float64Array,
): Promise<void> {
  const step = BLOCKS_AT_ONCE * TIMES_PER_BLOCK
  for (let from = 0; from < times.length; from += step) {
    const found = await log.lookUp(times.subarray(from, from + step))
    if (found.removed !== row.removed) return
    for (const time of found.missing)
      if (time >= found.removedBefore) findings.found(missingEvent(time))
  }
}

/** Finds events that are in no segment, in ranges where lists read only segments. */
async function verifyCoverage(
  { log, findings }: Walk,
  unreadable: ReadonlySet<Microseconds>,
): Promise<void> {
  let readers = new Map<number, TimesReader>()
  for (let after: Microseconds = -1; ;) {
    const { times, last, segments, damaged } = await log.window(after, WINDOW)
    if (last === undefined) return
    const overlaps = ({ first, last: end }: SegmentRow): boolean =>
      times.length > 0 && first <= times.at(-1)! && end >= times[0]!
    const lacking = new Set(times)
    try {
      for (const row of segments.filter(overlaps)) {
        const reader = readers.get(row.id) ?? createTimesReader(log, row)
        readers.set(row.id, reader)
        await reader(last, (time) => lacking.delete(time))
      }
    } catch (error) {
      if (!(error instanceof DamagedSegment)) throw error
      readers = new Map()
      if (!(await isRead(log, error.segment))) continue
      lacking.clear()
    }
    // Lists find all events in the range of a damaged segment.
    if (!damaged.some(overlaps))
      for (const time of lacking) if (!unreadable.has(time)) findings.unindexed(time)
    after = last
  }
}

/** Passes on the times of a segment that come after those that were passed on before, up to `end`. */
type TimesReader = (end: Microseconds, visit: (time: Microseconds) => void) => Promise<void>

function createTimesReader(log: VerifiedLog, row: SegmentRow): TimesReader {
  const count = Math.ceil(row.size / TIMES_PER_BLOCK)
  let read = 0
  let times: readonly Microseconds[] = []
  let at = 0
  return async (end, visit) => {
    for (;;) {
      while (at < times.length && times[at]! <= end) visit(times[at++]!)
      if (at < times.length || read === count) return
      const next = Math.min(read + BLOCKS_AT_ONCE, count)
      times = (await log.blocks(row, read, next)).flat()
      ;[read, at] = [next, 0]
    }
  }
}
