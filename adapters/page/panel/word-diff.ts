import { diffArrays } from 'diff/lib/diff/array.js'

/** A piece of one side of a diff: unchanged, or only on this side. */
export interface Piece {
  readonly text: string
  readonly isChanged: boolean
}

export interface DiffSides {
  readonly before: readonly Piece[]
  readonly after: readonly Piece[]
}

/** Equal words on both sides, or their replacements. */
interface Run {
  readonly isChanged: boolean
  readonly before: string
  readonly after: string
}

const WORDS = /[\p{L}\p{M}\p{N}_]+|\s+|./gsu

// Longer texts, and texts with more different words, are shown as changed as a whole.
const MAX_LENGTH = 100_000
const MAX_DIFFERENT_WORDS = 1000

function runsBetween(before: string, after: string): readonly Run[] {
  const isLong = before.length + after.length > MAX_LENGTH
  const wordsOf = (text: string): string[] => text.match(WORDS) ?? []
  const changes = isLong
    ? undefined
    : diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: MAX_DIFFERENT_WORDS })
  if (!changes) return [{ isChanged: true, before, after }]
  return changes.map(({ value, added, removed }) => {
    const text = value.join('')
    return { isChanged: added || removed, before: added ? '' : text, after: removed ? '' : text }
  })
}

/** Short unchanged runs between changes count as changed, for readability. */
const withoutIslands = (runs: readonly Run[]): readonly Run[] =>
  runs.map((run, i) =>
    !run.isChanged && run.before.length < 4 && i > 0 && i < runs.length - 1
      ? { ...run, isChanged: true }
      : run,
  )

/** The pieces of one side. Adjacent runs of the same kind become one piece. */
function side(runs: readonly Run[], name: 'before' | 'after'): readonly Piece[] {
  const pieces: Piece[] = []
  for (const { [name]: text, isChanged } of runs) {
    const last = pieces.at(-1)
    if (last?.isChanged === isChanged) pieces.splice(-1, 1, { text: last.text + text, isChanged })
    else if (text !== '') pieces.push({ text, isChanged })
  }
  return pieces
}

/** Splits both texts into pieces, with different words marked. The pieces of a side concatenate to its text. */
export function diffWords(before: string, after: string): DiffSides {
  const runs = withoutIslands(runsBetween(before, after))
  return { before: side(runs, 'before'), after: side(runs, 'after') }
}
