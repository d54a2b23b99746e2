import type { Builder } from './builder.js'
import type { SegmentRow } from '../maintenance/index-rows.js'
import type { WrittenSegment } from '../maintenance/index-store.js'
import { withGramsWhenReady } from './list-grams.js'
import { mergedChunks } from './merge-lists.js'
import { chooseNames } from './merge-names.js'
import { type MergedTimes, mergeTimes } from './merge-times.js'
import { dropSegment } from './segment-dropping.js'
import { mergedLevel } from './segment-levels.js'
import { writeSegment } from './segment-writing.js'

interface MergedEvents extends MergedTimes {
  readonly removed: number
}

/**
 * Merges segments into one of the next level, which has only the events that still exist. Has no effect if another
 * process has changed the segments meanwhile. If it throws, it may leave a hidden segment behind, which
 * `dropAbandoned` removes.
 */
export async function mergeSegments(builder: Builder, parts: readonly SegmentRow[]): Promise<void> {
  const { driver } = builder
  const events = await mergeEvents(builder, parts)
  const segment = events.times.length > 0 ? await writeMerged(builder, parts, events) : undefined
  const isReplaced = !segment?.isLost && (await driver.replace(parts, segment, events.duplicates))
  if (isReplaced) for (const { id } of parts) await dropSegment(builder, id)
  else if (segment) await dropSegment(builder, segment.id)
}

/** Sorts the events of the parts by time and leaves out those that were removed. */
async function mergeEvents(
  { driver, steps }: Builder,
  parts: readonly SegmentRow[],
): Promise<MergedEvents> {
  const times: Float64Array[] = []
  for (const part of parts) times.push(await driver.readTimes(part))
  const presence = await driver.checkPresence(parts, times)
  const merge = mergeTimes(times, (time) => presence.isPresent(time))
  for (;;) {
    const next = merge.next()
    if (next.done) return { ...next.value, removed: presence.removed }
    await steps.pause()
  }
}

async function writeMerged(
  builder: Builder,
  parts: readonly SegmentRow[],
  { times, ordinals, removed }: MergedEvents,
): Promise<WrittenSegment> {
  const { driver, steps, tuning } = builder
  const names = await chooseNames(builder, parts)
  const { feeds, fetch } = driver.openFeeds(parts)
  const merge = {
    feeds: [...feeds, ...names.partialFeeds.map(({ feed }) => feed)],
    ordinals: [...ordinals, ...names.partialFeeds.map(({ part }) => ordinals[part]!)],
    dropped: names.dropped,
    size: times.length,
    isSliceOver: () => steps.isSliceOver(),
    maxChunkBytes: driver.maxChunkBytes,
  }
  const isPartial = names.dropped.size > 0 || parts.some((part) => part.isPartial)
  return writeSegment(
    builder,
    { level: mergedLevel(parts, tuning), times, removed, isPartial },
    withGramsWhenReady(mergedChunks(merge), tuning.minGramChunks),
    () => (feeds.every((feed) => feed.isReady()) ? steps.pause() : fetch()),
  )
}
