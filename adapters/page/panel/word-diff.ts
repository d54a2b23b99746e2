/** A piece of one side of a diff: unchanged, or only on this side. */
export interface Piece {
  readonly text: string
  readonly isChanged: boolean
}

export interface DiffSides {
  readonly before: readonly Piece[]
  readonly after: readonly Piece[]
}

/** Words that are equal on both sides, or their replacement on each side. */
interface Run {
  readonly isChanged: boolean
  readonly before: string
  readonly after: string
}

const WORDS = /[\p{L}\p{M}\p{N}_]+|\s+|./gsu

// Longer texts are compared as a whole.
const MAX_LENGTH = 100_000

// The maximum number of cells in the table of the algorithm; longer texts count as changed as a whole.
const MAX_CELLS = 250_000

const same = (words: readonly string[]): Run => ({
  isChanged: false,
  before: words.join(''),
  after: words.join(''),
})

const changed = (before: readonly string[], after: readonly string[]): Run => ({
  isChanged: true,
  before: before.join(''),
  after: after.join(''),
})

function sharedCount(left: readonly string[], right: readonly string[]): number {
  const count = left.findIndex((word, i) => word !== right[i])
  return count === -1 ? left.length : count
}

/** Compares word by word with the longest common subsequence. */
function runsBetween(before: readonly string[], after: readonly string[]): Run[] {
  const width = after.length + 1
  if ((before.length + 1) * width > MAX_CELLS) return [changed(before, after)]
  const lengths = new Uint32Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        before[i] === after[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
  const runs: Run[] = []
  let [i, j] = [0, 0]
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      runs.push(same([before[i]!]))
      i++
      j++
    } else if (lengths[i * width + j + 1]! > lengths[(i + 1) * width + j]!)
      runs.push(changed([], [after[j++]!]))
    else runs.push(changed([before[i++]!], []))
  }
  return [...runs, changed(before.slice(i), after.slice(j))]
}

/** Merges adjacent runs of the same kind. */
function joined(runs: readonly Run[]): Run[] {
  const result: Run[] = []
  for (const run of runs) {
    const last = result.at(-1)
    if (run.before + run.after === '') continue
    if (last?.isChanged === run.isChanged)
      result[result.length - 1] = {
        ...run,
        before: last.before + run.before,
        after: last.after + run.after,
      }
    else result.push(run)
  }
  return result
}

/** Short unchanged runs between changes count as changed, for readability. */
const withoutIslands = (runs: readonly Run[]): Run[] =>
  joined(
    runs.map((run, i) =>
      !run.isChanged && run.before.length < 4 && i > 0 && i < runs.length - 1
        ? { ...run, isChanged: true }
        : run,
    ),
  )

function side(runs: readonly Run[], name: 'before' | 'after'): Piece[] {
  return runs
    .map((run) => ({ text: run[name], isChanged: run.isChanged }))
    .filter(({ text }) => text !== '')
}

/** Splits both texts into pieces, with different words marked. The pieces of a side concatenate to its text. */
export function diffWords(before: string, after: string): DiffSides {
  const isLong = before.length + after.length > MAX_LENGTH
  const wordsOf = (text: string): string[] => (isLong ? [text] : (text.match(WORDS) ?? []))
  const [left, right] = [wordsOf(before), wordsOf(after)]
  const head = sharedCount(left, right)
  const [leftRest, rightRest] = [left.slice(head), right.slice(head)]
  const tail = sharedCount(leftRest.toReversed(), rightRest.toReversed())
  const [leftEnd, rightEnd] = [leftRest.length - tail, rightRest.length - tail]
  const runs = withoutIslands(
    joined([
      same(left.slice(0, head)),
      ...runsBetween(leftRest.slice(0, leftEnd), rightRest.slice(0, rightEnd)),
      same(leftRest.slice(leftEnd)),
    ]),
  )
  return { before: side(runs, 'before'), after: side(runs, 'after') }
}
