import { LEAVES_PER_ROW, type LedgerStore, ROW_LEVEL } from '../store/ledger.js'
import type { WaitOptions } from '../store/store.js'
import type { TreeHead } from './check-tree.js'
import { edgePlaces, rootAt } from './edge.js'
import { nodeOver } from './read-nodes.js'
import { nodeHash } from './tree.js'
import { areEqual } from './web-crypto.js'

/*
 * Finds out which rows of leaves a signed head proves. The nodes that follow from the rows are compared with the head first. If they differ, the
 * nodes in the tables lead from the head down to the rows that were changed.
 */

/** The leaves of a ledger, and the nodes that follow from them, as its tables have them. */
export interface Tree {
  /** Hashes of the nodes of {@link ROW_LEVEL} by row. A row that is missing has one that matches nothing. */
  readonly rows: readonly Uint8Array[]
  /** The complete nodes that follow from the rows, by level. */
  readonly levels: readonly (readonly Uint8Array[])[]
  /**
   * The hashes of the leaves of a row, as the row has them, and then with some that the log has now instead. One with none if it is missing.
   */
  leavesOf(row: number): Promise<readonly (readonly Uint8Array[])[]>
}

/** The complete nodes of all levels that follow from the rows. */
export function levelsOf(rows: readonly Uint8Array[]): readonly (readonly Uint8Array[])[] {
  const levels: Uint8Array[][] = []
  levels[ROW_LEVEL] = [...rows]
  for (let level = ROW_LEVEL; levels[level]!.length > 1; level++) {
    const below = levels[level]!
    levels[level + 1] = Array.from({ length: Math.floor(below.length / 2) }, (_, i) =>
      nodeHash(below[2 * i]!, below[2 * i + 1]!),
    )
  }
  return levels
}

/** The result for a head that the tree, or the nodes in the tables, lead to. */
export interface Trust {
  /** The hashes of complete rows that the head proves, by row. */
  readonly rows: ReadonlyMap<number, Uint8Array>
  /** Leaves that cannot be compared, because the tables lead to other hashes than the head: first and last leaf of each range. */
  readonly ranges: readonly (readonly [first: number, last: number])[]
  /** Which of the choices of leaves of the last row the head proves; 0 for the row as it is. */
  readonly tail: number
}

/** All choices of one value from each list; at most about a thousand. */
function* choicesOf<Value>(lists: readonly (readonly Value[])[]): Generator<Value[]> {
  const [first, ...rest] = lists
  if (!first) return yield []
  for (const value of first) for (const other of choicesOf(rest)) yield [value, ...other]
}

const MAX_CHOICES = 10

/** Compares a tree with a head of at most its size. `undefined` if nothing in the tables leads to its root. */
export async function trustOf(
  ledger: LedgerStore,
  tree: Tree,
  { size, root }: TreeHead,
  options: WaitOptions,
): Promise<Trust | undefined> {
  const { levels } = tree
  const rows = new Map<number, Uint8Array>()
  const ranges: [number, number][] = []
  const leavesUnder = (level: number, index: number): [number, number] => [
    index * 2 ** level,
    (index + 1) * 2 ** level - 1,
  ]

  const storedNode = async (level: number, index: number): Promise<Uint8Array | undefined> => {
    const [hash] = await ledger.nodes([{ level, index }], options)
    return hash
  }

  /** The node as it follows from the rows, and as it is in the tables if that differs. */
  const candidates = async (level: number, index: number): Promise<Uint8Array[]> => {
    const own = levels[level]![index]!
    const stored = await storedNode(level, index)
    return stored && !areEqual(stored, own) ? [own, stored] : [own]
  }

  /** Follows a proved node down to its rows. */
  const descend = async (level: number, index: number, hash: Uint8Array): Promise<void> => {
    if (areEqual(levels[level]![index]!, hash)) {
      const count = 2 ** (level - ROW_LEVEL)
      for (let row = index * count; row < (index + 1) * count; row++) rows.set(row, tree.rows[row]!)
      return
    }
    if (level === ROW_LEVEL) {
      rows.set(index, hash)
      return
    }
    const children = [
      await candidates(level - 1, 2 * index),
      await candidates(level - 1, 2 * index + 1),
    ]
    for (const [left, right] of choicesOf(children))
      if (areEqual(nodeHash(left!, right!), hash)) {
        await descend(level - 1, 2 * index, left!)
        await descend(level - 1, 2 * index + 1, right!)
        return
      }
    ranges.push(leavesUnder(level, index))
  }

  const places = edgePlaces(size)
  const tailRow = Math.floor(size / LEAVES_PER_ROW)
  const high = places.filter(({ level }) => level >= ROW_LEVEL)
  const low = places.filter(({ level }) => level < ROW_LEVEL)
  const lists: Uint8Array[][] = []
  for (const { level, index } of high) lists.push(await candidates(level, index))
  const isFew = lists.filter((list) => list.length > 1).length <= MAX_CHOICES
  const choices = isFew ? [...choicesOf(lists)] : [lists.map((list) => list.at(-1)!)]
  for (const [tail, leaves] of (await tree.leavesOf(tailRow)).entries()) {
    const lowest: [number, Uint8Array][] = []
    for (const { level, index } of low) {
      const inRow = index - (tailRow * LEAVES_PER_ROW) / 2 ** level
      // The row may be gone with its events; the nodes at the ends of some heads are kept.
      const node = nodeOver(leaves, level, inRow) ?? (await storedNode(level, index))
      lowest.push([level, node ?? new Uint8Array(32)])
    }
    for (const choice of choices) {
      const highest = high.map(({ level }, i): [number, Uint8Array] => [level, choice[i]!])
      if (!areEqual(rootAt({ size, nodes: new Map([...lowest, ...highest]) }), root)) continue
      for (const [i, { level, index }] of high.entries()) await descend(level, index, choice[i]!)
      return { rows, ranges, tail }
    }
    if (low.length === 0) break
  }
  return undefined
}
