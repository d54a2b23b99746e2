import { type Chunk, encodeChunks, type Entry } from '../index/chunks.js'
import { addGrams, ExtraList, type GramBits, GRAM_COUNT, noGrams } from '../index/grams.js'
import { Kind, mayHaveCut } from '../index/part.js'
import { ListKind, NO_NAME, UNNAMED_LISTS } from '../index/segment-source.js'
import type { NamedChunk } from '../maintenance/index-store.js'

/*
 * Makes the lists of grams (grams.ts) of texts whose chunks come one by one. Holds one bit for each gram and
 * group, at most 32 MB, as it makes the groups larger before there are too many.
 */

/** With fewer chunks, searching them all takes no longer than reading the lists. */
export const MIN_GRAM_CHUNKS = 32

const GROUP_SIZE = 2
const MAX_GROUPS = 4096

// A gram has a list if it is in at most this many groups, or at most this share of them.
const MAX_LISTED_GROUPS = 8
const MAX_LISTED_SHARE = 1 / 2

// Adjacent words of each group are read together, which suits the processor's cache.
const WORDS = 16
const LISTS = WORDS * 32

/** Collects the grams of texts at places: chunks, or names. */
interface GramCollector {
  /** Adds texts at the place of the last call, or at the next place. */
  add(place: number, lines: string): void
  /** Adds the grams of another collector. */
  addAll(place: number, other: GramCollector): void
  /** Returns the grams of all places together. */
  all(): Group
  /** Sorted by value. */
  entries(): Generator<Entry, void>
}

interface Group {
  readonly bits: GramBits
  hasCut: boolean
}

const emptyGroup = (): Group => ({ bits: noGrams(), hasCut: false })

function collectGrams(firstGroupSize: number): GramCollector {
  let groups: Group[] = []
  let groupSize = firstGroupSize
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
    if (place === groupSize * MAX_GROUPS) grow()
    return (groups[Math.floor(place / groupSize)] ??= emptyGroup())
  }

  return {
    add(place, lines) {
      const group = groupAt(place)
      // All pieces of a list have the same line; the first one is enough.
      if (lines === before) return
      before = lines
      addGrams(group.bits, lines)
      group.hasCut ||= mayHaveCut(lines)
    },
    addAll: (place, other) => void unite(groupAt(place), other.all()),
    all: () => groups.reduce(unite, emptyGroup()),
    *entries() {
      yield* listsOf(groups.map(({ bits }) => bits))
      const cut = [...groups.keys()].filter((i) => groups[i]!.hasCut)
      yield { value: ExtraList.cut, ordinals: cut }
      yield { value: ExtraList.groupSize, ordinals: [groupSize] }
    },
  }
}

function unite(group: Group, { bits, hasCut }: Group): Group {
  for (const [i, word] of bits.entries()) group.bits[i]! |= word
  group.hasCut ||= hasCut
  return group
}

/** The lists of groups by gram, without grams that are in too many groups. */
function* listsOf(groups: readonly GramBits[]): Generator<Entry, void> {
  const everywhere: number[] = []
  const max = Math.floor(Math.max(MAX_LISTED_GROUPS, groups.length * MAX_LISTED_SHARE))
  const lists = new Uint16Array(LISTS * max)
  const lengths = new Uint16Array(LISTS)
  for (let from = 0; from < GRAM_COUNT; from += LISTS) {
    if (!fillLists(groups, from, max, { lists, lengths })) continue
    for (let i = 0; i < LISTS; i++) {
      const value = from + i
      const length = lengths[i]!
      if (length > max) everywhere.push(value)
      else if (length > 0) {
        const ordinals = lists.subarray(i * max, i * max + length)
        yield { value, ordinals, line: String(value) }
      }
    }
  }
  yield { value: ExtraList.everywhere, ordinals: everywhere }
}

/**
 * Makes the lists of the grams from `from` on; false if all are empty. The length of a list that exceeds `max`
 * is only `max + 1`.
 */
function fillLists(
  groups: readonly GramBits[],
  from: number,
  max: number,
  { lists, lengths }: { readonly lists: Uint16Array; readonly lengths: Uint16Array },
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
        if (length < max) lists[list * max + length] = group
        else open[word]! &= ~(1 << bit)
      }
  }
  return isAny
}

/**
 * Adds lists of grams to the chunks of a segment, which come in the order of names and kinds: after the chunks
 * of each name that has at least `minGramChunks` chunks of texts, and of all names to the lists without a name.
 */
export const withGrams = (
  chunks: Iterable<NamedChunk>,
  minGramChunks?: number,
): Generator<NamedChunk, void> =>
  withGramsWhenReady(chunks, minGramChunks) as Generator<NamedChunk, void>

/** Like {@link withGrams}. Where the next chunk is not ready yet, `chunks` and the result yield `undefined`. */
export function* withGramsWhenReady(
  chunks: Iterable<NamedChunk | undefined>,
  minGramChunks = MIN_GRAM_CHUNKS,
): Generator<NamedChunk | undefined, void> {
  const names: number[] = []
  const ofNames = collectGrams(1)
  let collector = collectName(ofNames, 0, minGramChunks)
  let name = NO_NAME

  function* endName(): Generator<NamedChunk, void> {
    if (collector.end()) names.push(name)
    for (const chunk of collector.chunks()) yield { name, kind: ListKind.grams, chunk }
    collector = collectName(ofNames, names.length, minGramChunks)
  }
  function* endNames(): Generator<NamedChunk, void> {
    function* entries(): Generator<Entry, void> {
      yield* ofNames.entries()
      yield { value: ExtraList.names, ordinals: names }
    }
    for (const chunk of encodeChunks(entries()))
      yield { name: UNNAMED_LISTS, kind: ListKind.grams, chunk }
  }

  let areNamesDone = false
  for (const one of chunks) {
    if (one && one.name !== name) {
      yield* endName()
      name = one.name
    }
    if (one?.name === UNNAMED_LISTS) {
      if (one.kind > ListKind.grams && !areNamesDone) {
        yield* endNames()
        areNamesDone = true
      }
    } else if (one?.kind === Kind.text) collector.add(one.chunk.values)
    yield one
  }
  yield* endName()
  if (!areNamesDone) yield* endNames()
}

/** Collects the grams of the texts of a name, which has this place among the names. */
interface NameCollector {
  add(lines: string): void
  /** Adds the texts since the last call to the grams of all names. Returns false if there are no texts. */
  end(): boolean
  /** The lists of grams of the name, if it has enough chunks. */
  chunks(): Iterable<Chunk>
}

function collectName(names: GramCollector, place: number, minGramChunks: number): NameCollector {
  let count = 0
  let earlier: string[] = []
  let collector: GramCollector | undefined
  return {
    add(lines) {
      if (collector) collector.add(count++, lines)
      else {
        names.add(place, lines)
        count += 1
        if (minGramChunks === Infinity || earlier.push(lines) < minGramChunks) return
        collector = collectGrams(GROUP_SIZE)
        for (const [i, some] of earlier.entries()) collector.add(i, some)
        earlier = []
      }
    },
    end() {
      if (collector) names.addAll(place, collector)
      return count > 0
    },
    chunks: () => (collector ? encodeChunks(collector.entries()) : []),
  }
}
