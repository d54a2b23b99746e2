import type { AuditEvent } from '../../event/event.js'
import type { Microseconds } from '../../event/timestamp.js'
import { type Block, createBlock } from './block.js'
import type { BlockSource } from './block-source.js'
import type { IndexPart } from './part.js'

/** An index in memory of events that come in, block by block. */
export interface GrowingIndex {
  /** Of how many events it knows. */
  readonly size: number
  /** The time of the newest that came in order, or up to which they were dropped. */
  readonly last: Microseconds
  /** Takes in an event that is later than all before. */
  add(time: Microseconds, event: AuditEvent): void
  /** Takes in an event of any time. */
  addLate(time: Microseconds, event: AuditEvent): void
  /** As it is now; later additions leave them alone. */
  parts(): readonly IndexPart[]
  /** Lets go of the blocks that have nothing later than the time. */
  dropUntil(time: Microseconds): void
  /** Lets go of what came late. */
  dropLate(): void
}

/** Blocks are begun anew where they have so many events, or as many as is said then. */
export function createGrowingIndex(
  blockSize: number | (() => number),
  createSource: () => BlockSource,
): GrowingIndex {
  let blocks: Block[] = []
  let last = -Infinity
  /** Blocks of what came late, and what is not in one yet: it may have to be put before others. */
  let lateBlocks: Block[] = []
  let lateOnes = new Map<Microseconds, AuditEvent>()
  let latest: Block | undefined
  let made = 0

  const mostInBlock = (): number => (typeof blockSize === 'number' ? blockSize : blockSize())
  const newBlock = (): Block => createBlock(`memory-${++made}`, createSource)

  const blockOfLate = (): Block => {
    const block = newBlock()
    const inOrder = Array.from(lateOnes).toSorted(([a], [b]) => a - b)
    for (const [time, event] of inOrder) block.add(time, event)
    return block
  }

  return {
    get size() {
      return [...blocks, ...lateBlocks].reduce((sum, { size }) => sum + size, lateOnes.size)
    },
    get last() {
      return last
    },
    add(time, event) {
      let block = blocks.at(-1)
      if (!block || block.size >= mostInBlock()) {
        block = newBlock()
        blocks.push(block)
      }
      block.add(time, event)
      last = time
    },
    addLate(time, event) {
      lateOnes.set(time, event)
      latest = undefined
      if (lateOnes.size < mostInBlock()) return
      lateBlocks.push(blockOfLate())
      lateOnes = new Map()
    },
    parts() {
      if (lateOnes.size > 0) latest ??= blockOfLate()
      const all = latest ? [...blocks, ...lateBlocks, latest] : [...blocks, ...lateBlocks]
      return all.map((block) => block.part())
    },
    dropUntil(time) {
      blocks = blocks.filter((block) => block.last > time)
      last = Math.max(last, time)
    },
    dropLate() {
      lateBlocks = []
      lateOnes = new Map()
      latest = undefined
    },
  }
}
