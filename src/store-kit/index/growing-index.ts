import type { AuditEvent, JsonValue } from '../../event/event.js'
import type { Microseconds } from '../../event/timestamp.js'
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
  /** Adds an event that is later than all before it. */
  add(time: Microseconds, event: AuditEvent): void
  /** Adds an event of any time. */
  addLate(time: Microseconds, event: AuditEvent): void
  /** The events so far; events that are added later are not in these parts. */
  parts(): readonly IndexPart[]
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
  let made = 0

  const maxInBlock = (): number => (typeof blockSize === 'number' ? blockSize : blockSize())
  const newBlock = (): Block => createBlock(`memory-${++made}`, createSource)

  const blockOfLate = (): Block => {
    const block = newBlock()
    const inOrder = Array.from(lateEvents).toSorted(([a], [b]) => a - b)
    for (const [time, event] of inOrder) block.add(time, event)
    return block
  }

  return {
    get size() {
      return [...blocks, ...lateBlocks].reduce((sum, { size }) => sum + size, lateEvents.size)
    },
    get bytes() {
      return [...blocks, ...lateBlocks].reduce((sum, { bytes }) => sum + bytes, 2 * lateBytes)
    },
    get last() {
      return last
    },
    add(time, event) {
      let block = blocks.at(-1)
      if (!block || block.size >= maxInBlock() || block.bytes >= maxBytes) {
        block = newBlock()
        blocks.push(block)
      }
      block.add(time, event)
      last = time
    },
    addLate(time, event) {
      lateEvents.set(time, event)
      lateBytes += jsonBytes(event.attributes)
      lastLateBlock = undefined
      if (lateEvents.size < maxInBlock() && lateBytes < maxBytes) return
      lateBlocks.push(blockOfLate())
      lateEvents = new Map()
      lateBytes = 0
    },
    parts() {
      if (lateEvents.size > 0) lastLateBlock ??= blockOfLate()
      const all = lastLateBlock
        ? [...blocks, ...lateBlocks, lastLateBlock]
        : [...blocks, ...lateBlocks]
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

const MEMBER_BYTES = 48

/** Approximate memory of a JSON value. */
function jsonBytes(value: JsonValue): number {
  if (typeof value === 'string') return MEMBER_BYTES + value.length
  if (value === null || typeof value !== 'object') return MEMBER_BYTES
  const members = Array.isArray(value) ? value : Object.values(value)
  return members.reduce<number>((sum, member) => sum + jsonBytes(member), MEMBER_BYTES)
}
