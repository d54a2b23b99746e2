import { DamagedSegment } from '../index/segment-source.js'
import type { Builder } from './builder.js'
import type { Rebuild } from '../maintenance/repairs.js'
import type { WrittenSegment } from '../maintenance/index-store.js'
import { writeSealed } from './sealing.js'
import { dropSegment } from './segment-dropping.js'

/**
 * Builds the segments that are due to be built anew from the events of their time range, beside those that
 * queries read meanwhile. Returns false if there are none.
 */
export async function rebuildNext(builder: Builder): Promise<boolean> {
  const { driver } = builder
  const rebuild = await driver.nextRebuild()
  if (!rebuild) return false
  const built = await buildAll(builder, rebuild)
  const isReplaced =
    built.every(({ isLost }) => !isLost) && (await driver.replaceRebuilt(rebuild, built))
  const dropped = isReplaced ? rebuild.segments : built
  for (const { id } of dropped) await dropSegment(builder, id)
  return true
}

async function buildAll(
  builder: Builder,
  { from, to }: Rebuild,
): Promise<readonly WrittenSegment[]> {
  const { driver, tuning } = builder
  const built: WrittenSegment[] = []
  let next = from
  while (next <= to) {
    const { extract, removed } = await driver.readRange(next, to, tuning.segmentSize)
    const last = extract.times.at(-1)
    if (last === undefined) break
    built.push(await writeSealed(builder, extract, { removed, level: 0 }))
    next = last + 1
  }
  return built
}

/** Runs work that reads segments. A damaged one is noted, to be built anew; then the result is true. */
export async function notingDamage(
  { driver }: Builder,
  work: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DamagedSegment)) throw error
    await driver.setDamaged(error.segment)
    return true
  }
}
