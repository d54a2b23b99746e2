import { INDEX_BOUNDS } from '../index/index-bounds.js'
import { nameHash } from '../index/other-names.js'
import { ListKind, NO_NAME, UNNAMED_LISTS } from '../index/segment-source.js'
import type { Builder } from './builder.js'
import type { ChunkFeed, FeedChunk } from '../maintenance/index-store.js'
import type { SegmentRow } from '../maintenance/index-rows.js'

/** The names that a merged segment has columns for. */
export interface MergedNames {
  /** Hashes of the names without a column in the merged segment, by their numbers. */
  readonly dropped: ReadonlyMap<number, number>
  /** Further chunks of a part (its index): lists of `partial` events of columns that the part does not have. */
  readonly partialFeeds: readonly { readonly part: number; readonly feed: ChunkFeed }[]
}

/** Keeps the names that most parts have columns for. */
export async function chooseNames(
  { driver, steps, tuning }: Builder,
  parts: readonly SegmentRow[],
): Promise<MergedNames> {
  const listed: ReadonlySet<number>[] = []
  const counts = new Map<number, number>()
  for (const part of parts) {
    const names = (await driver.listedNames(part)).filter(
      (one) => one !== NO_NAME && one !== UNNAMED_LISTS,
    )
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
    listed.push(new Set(names))
    if (steps.isSliceOver()) await steps.pause()
  }
  const ranked = [...counts.keys()].toSorted((a, b) => counts.get(b)! - counts.get(a)! || a - b)
  const max = (tuning.bounds ?? INDEX_BOUNDS).names
  const [kept, rest] = [ranked.slice(0, max), ranked.slice(max)]
  const texts = await driver.namesOf(rest)
  const dropped = new Map(rest.map((number, i) => [number, nameHash(texts[i]!)]))

  const partialFeeds: { part: number; feed: ChunkFeed }[] = []
  for (const [i, part] of parts.entries()) {
    if (!part.isPartial) continue
    const others = await driver.readChunks(part, UNNAMED_LISTS, ListKind.others)
    const missing = kept.filter((name) => !listed[i]!.has(name)).toSorted((a, b) => a - b)
    if (others.length > 0) partialFeeds.push({ part: i, feed: partialFeed(missing, others) })
  }
  return { dropped, partialFeeds }
}

/** Gives each of the names the same list, as `partial` events. */
function partialFeed(names: readonly number[], list: readonly FeedChunk[]): ChunkFeed {
  let at = 0
  return {
    isReady: () => true,
    head() {
      const name = names[Math.floor(at / list.length)]
      const chunk = list[at % list.length]!
      return name === undefined ? undefined : { ...chunk, name, kind: ListKind.partial }
    },
    advance: () => void (at += 1),
  }
}
