import { type LeafRow, LEAVES_PER_ROW, type LedgerStore, ROW_LEVEL } from '../store/ledger.js'
import type { WaitOptions } from '../store/store.js'
import { splitHashes } from './edge.js'
import type { Progress } from './progress.js'
import { nodeOver } from './read-nodes.js'
import { isLeft, siblingsOf } from './siblings.js'
import { nodeHash } from './tree.js'
import { areEqual } from './web-crypto.js'

/**
 * The row, if the edge of the tree proves its hashes: the edge is what this process knows, and the tables may have been changed. Its
 * places and its salts are not proved. `undefined` if the row is missing or another one.
 */
export async function provedRow(
  ledger: LedgerStore,
  { edge, tail }: Progress,
  row: number,
  options: WaitOptions,
): Promise<LeafRow | undefined> {
  if (tail?.row === row) return tail
  const [found] = await ledger.rows(row, 1, options)
  if (found?.row !== row || (row + 1) * LEAVES_PER_ROW > edge.size) return undefined
  const own = nodeOver(splitHashes(found.hashes), ROW_LEVEL)
  if (!own) return undefined
  // The nodes of the edge have no sibling yet, so the path ends at one of them.
  const siblings = siblingsOf({ level: ROW_LEVEL, index: row }, edge.size)
  const known = siblings.findIndex(({ level, index }) => {
    const parent = Math.floor(index / 2)
    return isEdge(edge.size, level + 1, parent)
  })
  const path = isEdge(edge.size, ROW_LEVEL, row) ? [] : siblings.slice(0, known + 1)
  const hashes = await ledger.nodes(path, options)
  let hash: Uint8Array = own
  for (const [i, sibling] of path.entries()) {
    const other = hashes[i]
    if (!other) return undefined
    hash = isLeft(sibling) ? nodeHash(other, hash) : nodeHash(hash, other)
  }
  const top = edge.nodes.get(ROW_LEVEL + path.length)
  return top && areEqual(top, hash) ? found : undefined
}

/** True if the node is the last complete one of its level, and has no parent yet. */
const isEdge = (size: number, level: number, index: number): boolean => {
  const count = Math.floor(size / 2 ** level)
  return count % 2 === 1 && index === count - 1
}
