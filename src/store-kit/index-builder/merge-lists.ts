import { encodeChunks } from '../index/chunks.js'
import { createOtherNames, type OtherNames } from '../index/other-names.js'
import { NONE, type Postings, postingsBuilder, type PostingsBuilder } from '../index/postings.js'
import { Kind } from '../index/part.js'
import { isPiece, listBounds, readList, readPiece } from '../index/read-chunks.js'
import { ListKind, UNNAMED_LISTS } from '../index/segment-source.js'
import { listChunks } from './column-chunks.js'
import type { ChunkFeed, FeedChunk, NamedChunk } from '../maintenance/index-store.js'
import { REMOVED_ORDINAL, mergeChunks, type MergeSource } from './merge-chunks.js'

/** Input of a merge of segments. */
export interface Merge {
  readonly feeds: readonly ChunkFeed[]
  /** For each feed, its ordinals mapped to ordinals of the merged segment. */
  readonly ordinals: readonly Uint32Array[]
  /** Hashes of the names whose columns are left out, by their numbers. */
  readonly dropped: ReadonlyMap<number, number>
  /** Number of events of the merged segment. */
  readonly size: number
  readonly isSliceOver: () => boolean
  /** See `IndexStore`. */
  readonly maxChunkBytes?: number | undefined
}

interface Lists {
  readonly name: number
  readonly kind: number
}

const compareLists = (a: Lists, b: Lists): number => a.name - b.name || a.kind - b.kind

type Chunks = Generator<NamedChunk | undefined, void>

/**
 * The merged chunks in the order of their keys; `undefined` where a feed has to be fetched or the time
 * slice is over.
 */
export function* mergedChunks(merge: Merge): Chunks {
  const { feeds, dropped, size, maxChunkBytes } = merge
  const left = createLeftOut(size)
  for (;;) {
    while (!feeds.every((feed) => feed.isReady())) yield
    const lowest = feeds.flatMap((feed) => feed.head() ?? []).toSorted(compareLists)[0]
    if (!lowest || lowest.name === UNNAMED_LISTS) break
    const { name, kind } = lowest
    const hash = dropped.get(name)
    const sources = sourcesOf(merge, lowest)
    if (hash !== undefined) yield* leaveOut(sources, { kind, hash, left })
    else
      for (const chunk of mergeChunks(sources, maxChunkBytes)) yield chunk && { name, kind, chunk }
  }
  const same = Uint32Array.from({ length: dropped.size > 0 ? size : 0 }, (_, i) => i)
  const further = [
    [Kind.text, []],
    [ListKind.otherNames, encodeChunks(left.otherNames.entries())],
    [ListKind.others, listChunks(left.others())],
    [ListKind.partialTexts, listChunks(left.all())],
  ] as const
  for (const [kind, chunks] of further) {
    const source = { chunks: chunks[Symbol.iterator](), ordinals: same }
    const sources = [...sourcesOf(merge, { name: UNNAMED_LISTS, kind }), source]
    for (const chunk of mergeChunks(sources)) yield chunk && { name: UNNAMED_LISTS, kind, chunk }
  }
}

const sourcesOf = ({ feeds, ordinals, isSliceOver }: Merge, lists: Lists): MergeSource[] =>
  feeds.map((feed, i) => ({
    chunks: chunksOf(feed, lists),
    isReady: () => feed.isReady() && !isSliceOver(),
    ordinals: ordinals[i]!,
  }))

/** The chunks of these lists, if the feed has reached them. */
const chunksOf = (feed: ChunkFeed, lists: Lists): Iterator<FeedChunk> => ({
  next() {
    const head = feed.head()
    if (!head || compareLists(head, lists) !== 0) return { done: true, value: undefined }
    feed.advance()
    return { value: head }
  },
})

/** The events of columns that are left out. */
interface LeftOut {
  readonly otherNames: OtherNames
  readonly others: () => readonly number[]
  /** All events that were added. */
  readonly all: () => readonly number[]
  add(hash: number, ordinal: number): void
}

/** Beyond this many pairs of a name and an event, only the events are kept. */
const MAX_PAIRS = 2 ** 21

function createLeftOut(size: number): LeftOut {
  const otherNames = createOtherNames()
  let others: PostingsBuilder | undefined
  let all: PostingsBuilder | undefined
  return {
    otherNames,
    others: () => ordinalsOf(others?.build()),
    all: () => ordinalsOf(all?.build()),
    add(hash, ordinal) {
      ;(all ??= postingsBuilder(size)).add(ordinal)
      if (otherNames.size < MAX_PAIRS) otherNames.add(hash, ordinal)
      else (others ??= postingsBuilder(size)).add(ordinal)
    },
  }
}

function ordinalsOf(postings: Postings | undefined): readonly number[] {
  const ordinals: number[] = []
  if (postings)
    for (let at = postings.seek(0, 1); at !== NONE; at = postings.seek(at + 1, 1)) ordinals.push(at)
  return ordinals
}

/** Lists the events of a column by the hash of its name. The lists of its values are not needed for that. */
function* leaveOut(
  sources: readonly MergeSource[],
  { kind, hash, left }: { readonly kind: number; readonly hash: number; readonly left: LeftOut },
): Generator<undefined, void> {
  const isList =
    kind === ListKind.valued || kind === ListKind.containers || kind === ListKind.partial
  for (const { chunks, isReady, ordinals } of sources)
    for (;;) {
      while (!isReady!()) yield
      const next = chunks.next()
      if (next.done) break
      if (isList)
        for (const ordinal of ordinalsIn(next.value.postings))
          if (ordinals[ordinal] !== REMOVED_ORDINAL) left.add(hash, ordinals[ordinal]!)
    }
}

/** The ordinals of a list without values, or of a piece of it. */
function ordinalsIn(data: Uint8Array): ArrayLike<number> & Iterable<number> {
  if (isPiece(data)) return ordinalsOf(readPiece(data).postings)
  const bounds = listBounds(data)
  return readList(data, bounds[0]!, bounds[1]!)
}
