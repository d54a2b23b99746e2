import type { Builder } from './builder.js'
import type { IndexDriver } from '../maintenance/driver.js'
import type { SegmentRow } from '../maintenance/index-rows.js'
import { mergeSegments } from './merging.js'
import { notingDamage } from './rebuilding.js'
import { sealNext } from './sealing.js'
import { highestLevel, isMergeOverdue, nextToMerge } from './segment-levels.js'

/**
 * Sealing and merging in turns, so that neither waits long for the other. Queries read unsealed events row by row, so
 * sealing comes first, also in the middle of a merge, which can take minutes. But each segment costs each query some
 * microseconds: once a level has many, merging them gets its share of the time.
 */
export interface Turns {
  /** Seals while there are enough events, but once only while merging is overdue. True if there were enough. */
  seal(): Promise<boolean>
  /** Merges the next segments; false if there are none to merge. */
  merge(): Promise<boolean>
  /** Repeats work that sealing may interrupt, until there is no more or merging is overdue. True if there was any. */
  repeat(work: () => Promise<boolean>): Promise<boolean>
  /** Lets shorter work interrupt the work under way, if it is due. Call it between any two steps. */
  interrupt(): Promise<void>
}

/** Work that sealing may interrupt, and the merging of segments of lower levels. */
interface Interruptible {
  /** The segments that are being merged. */
  readonly busy: readonly SegmentRow[]
  /** The highest level of the segments that it merges; 0 for other work. */
  readonly level: number
}

const NO_MERGE: Interruptible = { busy: [], level: 0 }

/** Overdue merges get this many times as long as sealing takes. */
const SEAL_SHARE = 2

async function segmentsExcept(
  driver: IndexDriver,
  busy: readonly SegmentRow[],
): Promise<readonly SegmentRow[]> {
  const isBusy = new Set(busy.map(({ id }) => id))
  return (await driver.visibleSegments()).filter(({ id }) => !isBusy.has(id))
}

export function createTurns(builder: Builder, checkMs: number): Turns {
  const { driver, steps, tuning } = builder
  /** `undefined` while the work under way must not be interrupted. */
  let current: Interruptible | undefined
  /** When sealing may interrupt the work next, and when merging may. */
  let sealAt = -Infinity
  let mergeAt = -Infinity

  const isOverdue = async (): Promise<boolean> =>
    isMergeOverdue(await driver.visibleSegments(), tuning)
  const interruptible = async <Result>(
    work: () => Promise<Result>,
    kind = NO_MERGE,
  ): Promise<Result> => {
    current = kind
    try {
      return await work()
    } finally {
      current = undefined
    }
  }

  const seal = async (): Promise<boolean> => {
    if (performance.now() < sealAt && (await isOverdue())) return false
    let hasSealed = false
    for (let start = performance.now(); await sealNext(builder); start = performance.now()) {
      hasSealed = true
      if (!(await isOverdue())) continue
      const end = performance.now()
      sealAt = end + SEAL_SHARE * (end - start)
      break
    }
    steps.setRestFactor(1)
    return hasSealed
  }

  /** Merges the next segments that are not busy, of levels below `endLevel`; false if there are none. */
  const mergeOthers = (busy: readonly SegmentRow[], endLevel?: number): Promise<boolean> =>
    notingDamage(builder, async () => {
      const parts = nextToMerge(await segmentsExcept(driver, busy), tuning, endLevel)
      if (!parts) return false
      const merged = { busy: [...busy, ...parts], level: highestLevel(parts) }
      await interruptible(() => mergeSegments(builder, parts), merged)
      return true
    })

  const sealDue = async (): Promise<void> => {
    if (await driver.isSealDue(tuning.segmentSize)) await seal()
    sealAt = Math.max(sealAt, performance.now() + checkMs)
  }

  /** Merges segments of lower levels, in half of the time. */
  const mergeLower = async ({ busy, level }: Interruptible): Promise<void> => {
    const start = performance.now()
    await mergeOthers(busy, level)
    const end = performance.now()
    mergeAt = end + Math.max(checkMs, end - start)
  }

  return {
    seal,
    merge: () => mergeOthers([]),
    async repeat(work) {
      for (let hasWorked = false; ; hasWorked = true)
        if (!(await interruptible(work))) return hasWorked
        else if (await isOverdue()) return true
    },
    async interrupt() {
      const interrupted = current
      const now = performance.now()
      if (!interrupted || now < Math.min(sealAt, interrupted.level > 0 ? mergeAt : Infinity)) return
      current = undefined
      if (now >= sealAt) await sealDue()
      if (interrupted.level > 0 && now >= mergeAt) await mergeLower(interrupted)
      current = interrupted
    },
  }
}
