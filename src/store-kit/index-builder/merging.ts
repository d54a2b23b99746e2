import type { Builder } from './builder.js'
import type { NamedChunk } from './column-chunks.js'
import type { ChunkFeed, SegmentRow, WrittenSegment } from './index-driver.js'
import { withGramsWhenReady } from './list-grams.js'
import { mergeChunks, type MergeSource } from './merge-chunks.js'
import { type MergedTimes, mergeTimes } from './merge-times.js'
import { dropSegment } from './segment-dropping.js'
import { nextToMerge } from './segment-levels.js'
import { writeSegment } from './segment-writing.js'

interface MergedEvents extends MergedTimes {
  readonly removed: number | undefined
}

/**
 * Merges the oldest segments of a level into one segment of the next level, which has only the events that
 * still exist. Returns false if no level has enough segments, and true if another attempt may find more. If it
 * throws, it may leave hidden segments behind, which `dropAbandoned` removes.
 */
export async function mergeNext(builder: Builder): Promise<boolean> {
  const { driver, tuning } = builder
  const parts = nextToMerge(await driver.visibleSegments(), tuning.fanOut)
  if (!parts) return false
  const events = await mergeEvents(builder, parts)
  const segment = events.times.length > 0 ? await writeMerged(builder, parts, events) : undefined
  const isReplaced = !segment?.isLost && (await driver.replace(parts, segment, events.duplicates))
  if (isReplaced) for (const { id } of parts) await dropSegment(builder, id)
  else if (segment) await dropSegment(builder, segment.id)
  return true
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

function writeMerged(
  builder: Builder,
  parts: readonly SegmentRow[],
  { times, ordinals, removed }: MergedEvents,
): Promise<WrittenSegment> {
  const { driver, steps, tuning } = builder
  const { feeds, fetch } = driver.openFeeds(parts)
  const chunks = mergedChunks(feeds, ordinals, () => steps.isSliceOver())
  return writeSegment(
    builder,
    { level: parts[0]!.level + 1, times, removed },
    withGramsWhenReady(chunks, tuning.minGramChunks),
    () => (feeds.every((feed) => feed.isReady()) ? steps.pause() : fetch()),
  )
}

/**
 * The merged chunks in the order of their keys; `undefined` where a feed has to be fetched or the time
 * slice is over.
 */
function* mergedChunks(
  feeds: readonly ChunkFeed[],
  ordinals: readonly Uint32Array[],
  isSliceOver: () => boolean,
): Generator<NamedChunk<number> | undefined, void> {
  for (;;) {
    while (!feeds.every((feed) => feed.isReady())) yield
    const lowest = feeds.flatMap((feed) => feed.head() ?? []).toSorted(compareLists)[0]
    if (!lowest) return
    const { name, kind } = lowest
    const sources = feeds.map((feed, i): MergeSource => ({
      chunks: chunksOf(feed, lowest),
      isReady: () => feed.isReady() && !isSliceOver(),
      ordinals: ordinals[i]!,
    }))
    for (const chunk of mergeChunks(sources)) yield chunk && { name, kind, chunk }
  }
}

interface Lists {
  readonly name: number
  readonly kind: number
}

const compareLists = (a: Lists, b: Lists): number => a.name - b.name || a.kind - b.kind

/** The chunks of these lists, if the feed has reached them. */
const chunksOf = (feed: ChunkFeed, lists: Lists): MergeSource['chunks'] => ({
  next() {
    const head = feed.head()
    if (!head || compareLists(head, lists) !== 0) return { done: true, value: undefined }
    feed.advance()
    return { value: head }
  },
})
