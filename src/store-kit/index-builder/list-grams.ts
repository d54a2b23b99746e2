import { type Chunk, encodeChunks, type Entry } from '../index/chunks.js'
import type { NamedChunk } from './column-chunks.js'
import { addGrams, Extra, type GramBits, GRAMS, noGrams } from '../index/grams.js'
import { Kind, mayHaveCut } from '../index/part.js'
import { ListKind } from '../index/segment-source.js'

/*
 * Makes the lists of grams (grams.ts) of texts whose chunks come one by one. What it holds is a bit by
 * gram and group: 32 MB at most, as the groups become larger where they would be too many.
 */

/** Fewer chunks than this are looked through as fast as the lists are read. */
export const MIN_GRAM_CHUNKS = 32

const GROUP_SIZE = 2
const MOST_GROUPS = 4096

// So few groups are always worth a list; otherwise one that has no more than this share of them.
const FEW = 8
const MOST_SHARE = 1 / 2

// Read of each group at once, as memory gives them.
const WORDS = 16
const LISTS = WORDS * 32

/** What the chunks of one name's texts have. */
interface Gathered {
  add(lines: string): void
  /** In the order of the values. */
  entries(): Generator<Entry, void>
}

interface Group {
  readonly bits: GramBits
  hasCut: boolean
}

function gatherGrams(): Gathered {
  let groups: Group[] = []
  let groupSize = GROUP_SIZE
  let places = 0
  let before: string | undefined

  const grow = (): void => {
    groupSize *= 2
    groups = groups.flatMap((group, i) => {
      const next = groups[i + 1]
      if (i % 2 > 0) return []
      return next ? unite(group, next) : group
    })
  }
  const groupAt = (place: number): Group => {
    if (place === groupSize * MOST_GROUPS) grow()
    return (groups[Math.floor(place / groupSize)] ??= { bits: noGrams(), hasCut: false })
  }

  return {
    add(lines) {
      const group = groupAt(places++)
      // The first of a value's pieces leads to the others.
      if (lines === before) return
      before = lines
      addGrams(group.bits, lines)
      group.hasCut ||= mayHaveCut(lines)
    },
    *entries() {
      yield* listsOf(groups.map(({ bits }) => bits))
      const cut = [...groups.keys()].filter((i) => groups[i]!.hasCut)
      yield { value: Extra.cut, ordinals: cut }
      yield { value: Extra.groupSize, ordinals: [groupSize] }
    },
  }
}

function unite(group: Group, { bits, hasCut }: Group): Group {
  for (const [i, word] of bits.entries()) group.bits[i]! |= word
  group.hasCut ||= hasCut
  return group
}

/** The groups of each gram; those of the grams that too many have are left out. */
function* listsOf(groups: readonly GramBits[]): Generator<Entry, void> {
  const everywhere: number[] = []
  const most = Math.floor(Math.max(FEW, groups.length * MOST_SHARE))
  const lists = new Uint16Array(LISTS * most)
  const lengths = new Uint16Array(LISTS)
  for (let from = 0; from < GRAMS; from += LISTS) {
    if (!putLists(groups, from, most, lists, lengths)) continue
    for (let i = 0; i < LISTS; i++) {
      const value = from + i
      const length = lengths[i]!
      if (length > most) everywhere.push(value)
      else if (length > 0) {
        const ordinals = lists.subarray(i * most, i * most + length)
        yield { value, ordinals, line: String(value) }
      }
    }
  }
  yield { value: Extra.everywhere, ordinals: everywhere }
}

/**
 * Those of the grams from one on, each with room for `most`: a longer list is left at that, one longer.
 * Returns false where all are empty.
 */
function putLists(
  groups: readonly GramBits[],
  from: number,
  most: number,
  lists: Uint16Array,
  lengths: Uint16Array,
): boolean {
  lengths.fill(0)
  let isAny = false
  const open = new Int32Array(WORDS).fill(-1)
  for (let group = 0; group < groups.length; group++) {
    const bits = groups[group]!
    for (let word = 0; word < WORDS; word++)
      for (let rest = bits[from / 32 + word]! & open[word]!; rest !== 0; rest &= rest - 1) {
        const bit = 31 - Math.clz32(rest & -rest)
        const list = word * 32 + bit
        isAny = true
        const length = lengths[list]!++
        if (length < most) lists[list * most + length] = group
        else open[word]! &= ~(1 << bit)
      }
  }
  return isAny
}

/**
 * Adds the lists of grams to all chunks of a segment, which come in the order of names and kinds: behind
 * those of each name whose texts have so many chunks. Holds some of these at a time.
 */
export const withGrams = <Name>(
  chunks: Iterable<NamedChunk<Name>>,
  minGramChunks?: number,
): Generator<NamedChunk<Name>, void> =>
  withGramsAsTheyCome(chunks, minGramChunks) as Generator<NamedChunk<Name>, void>

/** As {@link withGrams}; where the next chunk is to be waited for both give `undefined`. */
export function* withGramsAsTheyCome<Name>(
  chunks: Iterable<NamedChunk<Name> | undefined>,
  minGramChunks = MIN_GRAM_CHUNKS,
): Generator<NamedChunk<Name> | undefined, void> {
  let name: Name | undefined
  let few: string[] = []
  let gathered: Gathered | undefined

  const add = ({ values }: Chunk): void => {
    if (gathered) return gathered.add(values)
    if (few.push(values) < minGramChunks) return
    gathered = gatherGrams()
    for (const lines of few) gathered.add(lines)
    few = []
  }
  function* end(): Generator<NamedChunk<Name>, void> {
    if (gathered)
      for (const chunk of encodeChunks(gathered.entries()))
        yield { name: name!, kind: ListKind.grams, chunk }
    gathered = undefined
    few = []
  }

  for (const one of chunks) {
    if (one && one.name !== name) {
      yield* end()
      name = one.name
    }
    if (one?.kind === Kind.text) add(one.chunk)
    yield one
  }
  yield* end()
}
