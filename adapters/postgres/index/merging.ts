import type { NamedChunk } from '../../../src/store-kit/index-builder/column-chunks.js'
import { withGramsAsTheyCome } from '../../../src/store-kit/index-builder/list-grams.js'
import {
  mergeAsTheyCome,
  type MergeSource,
} from '../../../src/store-kit/index-builder/merge-chunks.js'
import type { MergedTimes } from '../../../src/store-kit/index-builder/merge-times.js'
import {
  nextToMerge,
  type SealingTuning,
} from '../../../src/store-kit/index-builder/segment-levels.js'
import { BLOCK } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask } from '../connection/client.js'
import { State } from './segment-keys.js'
import { type ChunkFeed, createFeed, fillFeeds, headOf, isReady } from './chunk-feed.js'
import { mergeSegments } from './merging-times.js'
import { dropSegment } from './segment-dropping.js'
import { type Building, setVisible, writeSegment } from './segment-writing.js'
import { changeIndex, DEFAULT_TUNING, type SegmentRow, visibleSegments } from './segments.js'
import type { Steps } from './steps.js'

/**
 * Merges so many visible segments of a level, the oldest first, into one of the next, which has
 * only the events that are still there. False where no level has so many; true where it may be worth
 * another try. Given up half-way it leaves segments behind that `removeOrphans` removes.
 */
export async function mergeNext(
  steps: Steps,
  { fanOut, leastChunks }: SealingTuning = DEFAULT_TUNING,
): Promise<boolean> {
  const segments = await steps.run((client) => visibleSegments(client, steps.names))
  const parts = nextToMerge(segments, fanOut)
  if (!parts) return false
  const merged = await mergeSegments(steps, parts)
  const { times, doubled } = merged
  const building =
    times.length > 0 ? await writeMerged(steps, parts, merged, leastChunks) : undefined
  const isDone = !building?.isLost && (await exchange(steps, parts, building, doubled))
  if (isDone) for (const { id } of parts) await dropSegment(steps, id)
  else if (building) await dropSegment(steps, building.id)
  return true
}

function writeMerged(
  steps: Steps,
  parts: readonly SegmentRow[],
  { times, ordinals }: MergedTimes,
  leastChunks: number | undefined,
): Promise<Building> {
  // Behind the blocks of their times.
  const feeds = parts.map(({ id, size }) => createFeed(id, Math.ceil(size / BLOCK)))
  const chunks = withGramsAsTheyCome(mergedChunks(feeds, ordinals, steps.isTurn), leastChunks)
  return writeSegment(steps, parts[0]!.level + 1, times, chunks, () =>
    feeds.every(isReady)
      ? steps.turn()
      : steps.run((client) => fillFeeds(client, steps.names, feeds)),
  )
}

/** The chunks of the whole, in the order of their keys; `undefined` where something is to be waited for. */
function* mergedChunks(
  feeds: readonly ChunkFeed[],
  ordinals: readonly Uint32Array[],
  isTurn: () => boolean,
): Generator<NamedChunk<number> | undefined, void> {
  for (;;) {
    while (!feeds.every(isReady)) yield
    const lowest = feeds.flatMap((feed) => headOf(feed) ?? []).toSorted(compareLists)[0]
    if (!lowest) return
    const { name, kind } = lowest
    const sources = feeds.map((feed, i): MergeSource => ({
      chunks: chunksOf(feed, lowest),
      isReady: () => isReady(feed) && !isTurn(),
      ordinals: ordinals[i]!,
    }))
    for (const chunk of mergeAsTheyCome(sources)) yield chunk && { name, kind, chunk }
  }
}

interface Lists {
  readonly name: number
  readonly kind: number
}

const compareLists = (a: Lists, b: Lists): number => a.name - b.name || a.kind - b.kind

/** The chunks of the lists that the feed has come to. */
const chunksOf = (feed: ChunkFeed, lists: Lists): MergeSource['chunks'] => ({
  next() {
    const head = headOf(feed)
    if (!head || compareLists(head, lists) !== 0) return { done: true, value: undefined }
    feed.at += 1
    return { value: head }
  },
})

/**
 * In one transaction: the whole in place of the parts, if all of these are still there; what it leaves out
 * is to be sealed again.
 */
const exchange = (
  { names, run }: Steps,
  parts: readonly SegmentRow[],
  building: Building | undefined,
  doubled: readonly Microseconds[],
): Promise<boolean> =>
  run((client) =>
    changeIndex(client, names, async (state) => {
      const visible = new Set((await visibleSegments(client, names)).map(({ id }) => id))
      if (!parts.every(({ id }) => visible.has(id))) return undefined
      if (building && !(await setVisible(client, names, building))) return undefined
      await ask(
        client,
        `UPDATE ${names.segments} SET state = ${State.gone} WHERE id = ANY ($1::int8[])`,
        parts.map(({ id }) => id),
      )
      if (doubled.length > 0)
        await ask(
          client,
          `INSERT INTO ${names.late} (created_at) SELECT unnest($1::int8[])`,
          doubled,
        )
      return state
    }),
  )
