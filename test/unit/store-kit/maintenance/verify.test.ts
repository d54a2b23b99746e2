import { expect, it } from 'vitest'
import type { Microseconds } from '../../../../src/event/timestamp.js'
import { createDamageReporter, type Damage } from '../../../../src/store/damage.js'
import { createFindings, damagedEvent, databaseDamage } from '../../../../src/store-kit/damages.js'
import { eventsDigest } from '../../../../src/store-kit/index/checksums.js'
import { DamagedSegment, ListKind } from '../../../../src/store-kit/index/segment-source.js'
import type { SegmentRow } from '../../../../src/store-kit/maintenance/index-rows.js'
import { TIMES_PER_BLOCK } from '../../../../src/store-kit/index/time-blocks.js'
import {
  type VerifiedChunk,
  type VerifiedEvent,
  type VerifiedLog,
  verifyLog,
} from '../../../../src/store-kit/maintenance/verify.js'

interface Segment extends SegmentRow {
  readonly times: readonly Microseconds[]
}

/** A log of the events 0 to `COUNT`, in segments of some windows and blocks each. */
const COUNT = 20_000
const SIZE = 6000
const UNSEALED = 18_000

const range = (from: number, end: number): number[] =>
  Array.from({ length: end - from }, (_, i) => from + i)

const segmentOf = (id: number, times: readonly Microseconds[]): Segment => ({
  id,
  times,
  size: times.length,
  first: times[0]!,
  last: times.at(-1)!,
  digest: eventsDigest(times),
  isPartial: false,
  isTrusted: true,
  isDamaged: false,
  level: 0,
  starts: 0,
  removed: 0,
  names: 0,
  chunks: 100,
})

/** The parts of a log that a case changes. */
interface Parts {
  readonly segments: Segment[]
  readonly chunks: VerifiedChunk[]
  events: VerifiedEvent[]
  readonly late: Set<Microseconds>
  readonly damaged: Segment[]
  readonly damages: Map<Microseconds, Damage>
  removed: number
  /** Called before each read of times. */
  onBlocks: (segment: Segment) => void
}

function logOf(parts: Parts): VerifiedLog<Segment> {
  const { segments, late, damaged, chunks } = parts
  const damages = createDamageReporter()
  const after = (time: Microseconds, max: number): readonly VerifiedEvent[] => {
    const from = parts.events.findIndex((one) => one.time > time)
    return from < 0 ? [] : parts.events.slice(from, from + max)
  }
  return {
    tables: {
      events: 'events',
      live: 'live',
      highWater: 'high_water',
      index: 'index',
      chunks: 'chunks',
    },
    damages,
    damageOf: (error, table) =>
      error instanceof RangeError ? databaseDamage(`table ${table}`, error.message) : undefined,
    highWater: async () => COUNT - 1,
    async eventsAfter(time, max) {
      const found = after(time, max)
      for (const one of found)
        if (parts.damages.has(one.time)) damages.report(parts.damages.get(one.time)!)
      return found
    },
    liveAfter: async () => [],
    load: async () => ({ segments: [...segments], damaged }),
    readNames: async () => {},
    async blocks(row, from, end) {
      parts.onBlocks(row)
      return range(from, end).map((block) =>
        row.times.slice(block * TIMES_PER_BLOCK, (block + 1) * TIMES_PER_BLOCK),
      )
    },
    async chunksAfter(_, before, max) {
      const from = before ? chunks.indexOf(before) + 1 : 0
      return chunks.slice(from, from + max)
    },
    async lookUp(times) {
      const known = new Set(parts.events.map(({ time }) => time))
      const missing = Array.from(times).filter((time) => !known.has(time))
      return { missing, removed: parts.removed, removedBefore: 100 }
    },
    async window(time, max) {
      const rows = after(time, max).filter((one) => one.time < UNSEALED)
      const times = rows.map((row) => row.time).filter((one) => !late.has(one))
      return { times, last: rows.at(-1)?.time, segments: [...segments], damaged }
    },
  }
}

const SUFFIX = '8'.repeat(16)

/** Verifies a log after the change; returns the damage, the number of segments, and those that were set aside. */
async function verify(change: (parts: Parts) => void) {
  const parts: Parts = {
    segments: range(0, UNSEALED / SIZE).map((i) => segmentOf(i, range(i * SIZE, (i + 1) * SIZE))),
    chunks: range(0, 100).map((number) => ({ number, kind: ListKind.valued })),
    events: range(0, COUNT).map((time) => ({ time, suffix: SUFFIX })),
    late: new Set(),
    damaged: [],
    damages: new Map(),
    removed: 0,
    onBlocks() {},
  }
  change(parts)
  const findings = createFindings({})
  const aside: number[] = []
  const segments = await verifyLog({
    log: logOf(parts),
    findings,
    options: {},
    onDamaged: ({ segment }) => void aside.push(segment),
  })
  return { ...findings.result(segments), aside }
}

it('finds nothing in a log without damage', async () => {
  expect(await verify(() => {})).toEqual({
    events: COUNT,
    segments: UNSEALED / SIZE,
    damage: [],
    aside: [],
  })
})

const without = (parts: Parts, ...times: Microseconds[]): void => {
  parts.events = parts.events.filter(({ time }) => !times.includes(time))
}

const isPartial = { number: 99, kind: ListKind.partial }

const CASES: readonly (readonly [
  what: string,
  change: (parts: Parts) => void,
  damage: readonly object[],
])[] = [
  [
    'an event that is gone',
    (parts) => without(parts, 7000, 7001),
    [
      { kind: 'missing', from: 7000 },
      { kind: 'missing', from: 7001 },
    ],
  ],
  ['events before the mark of removal', (parts) => without(parts, 5, 99), []],
  [
    'events that were removed by their ids',
    (parts) => {
      parts.removed = 1
      without(parts, 7000)
    },
    [],
  ],
  [
    'an event whose id is listed for another time',
    ({ events }) => (events[9] = { time: 9, suffix: 'imported-id', listedAt: 10 }),
    [{ kind: 'event', from: 9 }],
  ],
  [
    'an event whose id is listed',
    ({ events }) => (events[9] = { time: 9, suffix: 'imported-id', listedAt: 9 }),
    [],
  ],
  [
    'an event of a segment that is gone',
    ({ segments }) => segments.splice(1, 1),
    [{ kind: 'index', from: 6000, to: 11_999, reason: '6000 events are in no segment' }],
  ],
  [
    'late events',
    ({ segments, late }) => {
      segments.splice(1, 1)
      for (const time of range(6000, 11_999)) late.add(time)
    },
    [{ kind: 'index', from: 11_999, to: 11_999 }],
  ],
  [
    'damaged events that no segment has',
    ({ segments, damages, events }) => {
      segments[2] = segmentOf(2, range(12_001, 18_000))
      events[12_000] = { time: 12_000, suffix: undefined }
      damages.set(12_000, damagedEvent(12_000, undefined, 'its checksum is wrong'))
    },
    [{ kind: 'event', from: 12_000 }],
  ],
  [
    'a damaged segment, and events that a later segment lacks',
    (parts) => {
      parts.segments[2] = segmentOf(2, range(12_000, 17_999))
      parts.onBlocks = ({ id }) => {
        if (id === 0) throw new DamagedSegment(0, 'a checksum of its times is wrong')
      }
    },
    [
      { kind: 'segment', place: 'segment 0' },
      { kind: 'index', from: 17_999, to: 17_999 },
    ],
  ],
  [
    'events in the range of a segment that is marked as damaged',
    ({ segments, damaged }) => damaged.push(...segments.splice(0, 1)),
    [{ kind: 'segment', reason: 'it is being built anew' }],
  ],
  [
    'a list that its segment may not have',
    ({ chunks }) => (chunks[99] = isPartial),
    [0, 1, 2].map((id) => ({ kind: 'segment', place: `segment ${id}` })),
  ],
  [
    'a table that cannot be read',
    (parts) => {
      parts.onBlocks = () => {
        throw new RangeError('invalid page')
      }
    },
    [
      { kind: 'database', place: 'table chunks', reason: 'invalid page' },
      { kind: 'database', place: 'table events', reason: 'invalid page' },
    ],
  ],
]

it.each(CASES)('verifies %s', async (_, change, damage) => {
  expect((await verify(change)).damage).toMatchObject(damage)
})

it('does not report a segment that is merged while it is read, and reads the merged one', async () => {
  let reads = 0
  const merged = segmentOf(7, range(0, 2 * SIZE))
  const result = await verify((parts) => {
    parts.onBlocks = ({ id }) => {
      // In the second part, when events are looked for in segments.
      if (id === 1 && ++reads > 2) parts.segments.splice(0, 2, merged)
      if (!parts.segments.some((one) => one.id === id)) throw new DamagedSegment(id, 'it is gone')
    }
  })
  expect(parts(result)).toEqual({ damage: [], aside: [] })
})

const parts = ({ damage, aside }: Awaited<ReturnType<typeof verify>>) => ({ damage, aside })
