import { ExtraList, gramsOf } from './grams.js'
import { allOfPostings, anyOfPostings, type FetchedPostings, NONE } from './postings.js'
import type { PlaceRange } from './segment-source.js'
import { WAIT, type Wait } from './work.js'

// More grams hardly exclude more chunks.
const MAX_GRAMS = 12

/** Finds the lists of grams, and of the values of `ExtraList`. */
export type FindLists = (values: readonly number[]) => readonly FetchedPostings[] | Wait

/**
 * The places of the chunks that may have the part in one of their lines, or have a line that was cut.
 * `undefined` if there are no lists, or they exclude no chunk.
 */
export function placesOf(part: string, find: FindLists): readonly PlaceRange[] | undefined | Wait {
  const grams = gramsOf(part)
  if (grams.length === 0) return undefined
  const extra = find([ExtraList.everywhere, ExtraList.cut, ExtraList.groupSize])
  if (extra === WAIT) return WAIT
  const [everywhere, cut, size] = extra
  const groupSize = size!.seek(0, 1)
  if (groupSize === WAIT) return WAIT
  if (groupSize === NONE) return undefined
  const found = grams.map((gram) => everywhere!.seek(gram, 1))
  if (found.includes(WAIT)) return WAIT
  const selective = spread(grams.filter((gram, i) => found[i] !== gram))
  if (selective.length === 0) return undefined
  const lists = find(selective)
  return lists && rangesOf(anyOfPostings([allOfPostings(lists), cut!]), groupSize)
}

/** At most `MAX_GRAMS` of the grams, evenly spread. */
const spread = (grams: readonly number[]): readonly number[] =>
  grams.length <= MAX_GRAMS
    ? grams
    : Array.from(
        { length: MAX_GRAMS },
        (_, i) => grams[Math.floor((i * grams.length) / MAX_GRAMS)]!,
      )

function rangesOf(groups: FetchedPostings, groupSize: number): readonly PlaceRange[] | Wait {
  const ranges: { from: number; to: number }[] = []
  for (let group = groups.seek(0, 1); group !== NONE; group = groups.seek(group + 1, 1)) {
    if (group === WAIT) return WAIT
    const [from, to] = [group * groupSize, (group + 1) * groupSize]
    const last = ranges.at(-1)
    if (last?.to === from) last.to = to
    else ranges.push({ from, to })
  }
  return ranges
}
