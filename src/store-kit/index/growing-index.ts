import type { AuditEvent, JsonValue } from '../../event/event.js'
import { LazyEvent } from '../../event/lazy-event.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { Steps } from '../../filter/steps.js'
import { type Block, createBlock } from './block.js'
import type { BlockSource } from './block-source.js'
import type { IndexPart } from './part.js'

/** An index in memory, which events are added to, in blocks. */
export interface GrowingIndex {
  /** Number of events. */
  readonly size: number
  /** Approximate memory. */
  readonly bytes: number
  /** Time of the newest event that was added in order, or up to which events were dropped. */
  readonly last: Microseconds
  /** Adds an event that is later than all before it. Call `finish` after it. */
  add(time: Microseconds, event: AuditEvent): void
  /** Adds an event of any time. Call `finish` after it. */
  addLate(time: Microseconds, event: AuditEvent): void
  /** Does the work that additions have left, until `isOver`; false if there is more. */
  finish(isOver: () => boolean): boolean
  /**
   * The events so far; events that are added later are not in these parts. `undefined` if `isOver` was true before
   * the late events were sorted.
   */
  parts(isOver: () => boolean): readonly IndexPart[] | undefined
  /** Drops the blocks without events later than the time. */
  dropUntil(time: Microseconds): void
  /** Drops the late events. */
  dropLate(): void
}

/**
 * A block is full once it has `blockSize` events or `maxBytes` bytes. A function `blockSize` is called
 * before each addition.
 */
export function createGrowingIndex(
  blockSize: number | (() => number),
  createSource: () => BlockSource,
  maxBytes = Infinity,
): GrowingIndex {
  let blocks: Block[] = []
  let last = -Infinity
  // Late events are sorted into a block once there are enough of them.
  let lateBlocks: Block[] = []
  let lateEvents = new Map<Microseconds, AuditEvent>()
  let lateBytes = 0
  let lastLateBlock: Block | undefined
  let work: Steps<void> | undefined
  let made = 0

  const maxInBlock = (): number => (typeof blockSize === 'number' ? blockSize : blockSize())
  const newBlock = (): Block => createBlock(`memory-${++made}`, createSource)

  const finish = (isOver: () => boolean): boolean => {
    if (work && !runUntil(work, isOver)) return false
    work = undefined
    return true
  }

  return {
    get size() {
      return sumOf([...blocks, ...lateBlocks], 'size') + lateEvents.size
    },
    get bytes() {
      return sumOf([...blocks, ...lateBlocks], 'bytes') + 2 * lateBytes
    },
    get last() {
      return last
    },
    add(time, event) {
      finish(never)
      let block = blocks.at(-1)
      if (!block || block.size >= maxInBlock() || block.bytes >= maxBytes) {
        block = newBlock()
        blocks.push(block)
      }
      work = block.add(time, event)
      last = time
    },
    addLate(time, event) {
      finish(never)
      lateEvents.set(time, event)
      lateBytes += event instanceof LazyEvent ? MEMBER_BYTES : jsonBytes(event.attributes)
      lastLateBlock = undefined
      if (lateEvents.size < maxInBlock() && lateBytes < maxBytes) return
      const to = lateBlocks
      work = sortLate(newBlock(), lateEvents, (block) => void to.push(block))
      lateEvents = new Map()
      lateBytes = 0
    },
    finish,
    parts(isOver) {
      if (!finish(isOver)) return undefined
      if (lateEvents.size > 0 && !lastLateBlock) {
        work = sortLate(newBlock(), lateEvents, (block, events) => {
          // They may have been dropped meanwhile.
          if (events === lateEvents) lastLateBlock = block
        })
        if (!finish(isOver)) return undefined
      }
      const all = [...blocks, ...lateBlocks, ...(lastLateBlock ? [lastLateBlock] : [])]
      return all.map((block) => block.part())
    },
    dropUntil(time) {
      blocks = blocks.filter((block) => block.last > time)
      last = Math.max(last, time)
    },
    dropLate() {
      lateBlocks = []
      lateEvents = new Map()
      lateBytes = 0
      lastLateBlock = undefined
    },
  }
}

type LateEvents = ReadonlyMap<Microseconds, AuditEvent>

type SortedLate = (block: Block, events: LateEvents) => void

const never = (): boolean => false

const sumOf = (blocks: readonly Block[], field: 'size' | 'bytes'): number =>
  blocks.reduce((sum, block) => sum + block[field], 0)

/** Does the work until `isOver`; false if there is more. */
function runUntil(work: Steps<void>, isOver: () => boolean): boolean {
  while (!work.next().done) if (isOver()) return false
  return true
}

/** Adds the events to the empty block, and passes it on. */
function* sortLate(block: Block, events: LateEvents, done: SortedLate): Steps<void> {
  const inOrder = Array.from(events).toSorted(([a], [b]) => a - b)
  for (const [time, event] of inOrder) {
    const rest = block.add(time, event)
    if (rest) yield* rest
    yield
  }
  done(block, events)
}

const MEMBER_BYTES = 48

/** Approximate memory of a JSON value. */
function jsonBytes(value: JsonValue): number {
  if (typeof value === 'string') return MEMBER_BYTES + value.length
  if (value === null || typeof value !== 'object') return MEMBER_BYTES
  const members = Array.isArray(value) ? value : Object.values(value)
  return members.reduce<number>((sum, member) => sum + jsonBytes(member), MEMBER_BYTES)
}
