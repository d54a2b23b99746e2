import { Extra, gramsOf } from './grams.js'
import { allOfPostings, anyOfPostings, NONE, type Postings } from './postings.js'
import type { PlaceRange } from './segment-source.js'

// A few of them tell as much as all.
const MOST_GRAMS = 12

/** Finds the lists of grams, and of what else there is. */
export type FindLists = (values: readonly number[]) => readonly Postings[]

/**
 * The places of the chunks that may have the part in one of their lines, or a line that was cut.
 * `undefined` where the lists tell nothing of it, or are not there.
 */
export function placesOf(part: string, find: FindLists): readonly PlaceRange[] | undefined {
  const grams = gramsOf(part)
  if (grams.length === 0) return undefined
  const [everywhere, cut, size] = find([Extra.everywhere, Extra.cut, Extra.groupSize])
  const groupSize = size!.seek(0, 1)
  if (groupSize === NONE) return undefined
  const telling = spread(grams.filter((gram) => everywhere!.seek(gram, 1) !== gram))
  if (telling.length === 0) return undefined
  return rangesOf(anyOfPostings([allOfPostings(find(telling)), cut!]), groupSize)
}

/** So many of them, from all over. */
const spread = (grams: readonly number[]): readonly number[] =>
  grams.length <= MOST_GRAMS
    ? grams
    : Array.from(
        { length: MOST_GRAMS },
        (_, i) => grams[Math.floor((i * grams.length) / MOST_GRAMS)]!,
      )

function rangesOf(groups: Postings, groupSize: number): readonly PlaceRange[] {
  const ranges: { from: number; to: number }[] = []
  for (let group = groups.seek(0, 1); group !== NONE; group = groups.seek(group + 1, 1)) {
    const [from, to] = [group * groupSize, (group + 1) * groupSize]
    const last = ranges.at(-1)
    if (last?.to === from) last.to = to
    else ranges.push({ from, to })
  }
  return ranges
}
