import { createSliceQueue, rowsIn, totalLength } from './count-rows.js'
import { addRows, type CountRun, readRows } from './count-run.js'

// If a part has more rows than this, it is counted in smaller parts.
const MAX_ROWS = 20_000
// The first part is a small share of all, so that it ends soon.
const MAX_PARTS = 1024
// After a part that takes longer, parts do not grow.
const QUICK_MS = 150

/**
 * Counts the slices in parts: those of the first round without a time limit, the others until the time is over.
 * The server then cancels the current part, and its rows are not counted.
 */
export async function countInParts(all: CountRun): Promise<void> {
  const { names, rounds, tally, end } = all
  const withoutValues = {
    ...all,
    statements: all.statements.filter(({ figure }) => figure === undefined || figure === 'levels'),
  }
  const queue = createSliceQueue(rounds.flat())
  const first = totalLength(rounds[0]!)
  let seen = 0
  let length = Math.max(first, totalLength(rounds.flat()) / MAX_PARTS)
  let longest = Infinity
  while (seen < first || !tally.isOver()) {
    const part = queue.next(length)
    if (part.length === 0) return
    const start = performance.now()
    const count = tally.addsValues() ? all : withoutValues
    const rows = await readRows(count, {
      rowsOf: ({ filter }) => rowsIn(names, part, filter),
      maxRows: MAX_ROWS,
      end: seen < first ? undefined : end,
    })
    if (rows === 'stopped') return
    if (rows === 'too many') {
      queue.putBack(part)
      longest = length / 2
      length = longest
      continue
    }
    await addRows(count, rows, part)
    seen += totalLength(part)
    if (performance.now() - start < QUICK_MS) length = Math.min(2 * length, longest)
  }
}
