import { AuditLogError } from '../errors.js'
import { type LedgerStore, LEAVES_PER_ROW, type NodePlace, ROW_LEVEL } from '../store/ledger.js'
import type { WaitOptions } from '../store/store.js'
import { splitHashes } from './edge.js'
import { nodeHash, type ReadNode } from './tree.js'

const ZERO = new Uint8Array(32)

const keyOf = ({ level, index }: NodePlace): string => `${level}/${index}`

const rowOf = ({ level, index }: NodePlace): number =>
  Math.floor((index * 2 ** level) / LEAVES_PER_ROW)

const missing = ({ level, index }: NodePlace): AuditLogError =>
  new AuditLogError('DAMAGED', `the ledger has lost node ${index} of level ${level}`)

/** The complete node over `2 ** level` of these hashes, the `index`-th of its level; `undefined` if some are missing. */
export function nodeOver(
  leaves: readonly Uint8Array[],
  level: number,
  index = 0,
): Uint8Array | undefined {
  if (level === 0) return leaves[index]
  const left = nodeOver(leaves, level - 1, 2 * index)
  const right = nodeOver(leaves, level - 1, 2 * index + 1)
  return left && right && nodeHash(left, right)
}

/**
 * A reader of the complete nodes that `run` reads, from the tables of a store, which are not proved. Calls `run` with other hashes to find
 * out which nodes it reads. The reader throws `DAMAGED` if one is missing.
 */
export async function loadNodes(
  ledger: LedgerStore,
  run: (read: ReadNode) => unknown,
  options?: WaitOptions,
): Promise<ReadNode> {
  const wanted = new Map<string, NodePlace>()
  run((level, index) => {
    wanted.set(keyOf({ level, index }), { level, index })
    return ZERO
  })
  const places = [...wanted.values()]
  const found = new Map<string, Uint8Array | undefined>()
  const low = places.filter(({ level }) => level < ROW_LEVEL)
  const numbers = [...new Set(low.map(rowOf))]
  const [hashes, ...rows] = await Promise.all([
    // Nodes below a row that is gone are kept for heads that end in it.
    ledger.nodes(places, options),
    ...numbers.map((row) => ledger.rows(row, 1, options)),
  ])
  for (const [i, place] of places.entries()) found.set(keyOf(place), hashes[i])
  for (const [i, row] of numbers.entries()) {
    const [read] = rows[i]!
    const leaves = read?.row === row ? splitHashes(read.hashes) : []
    for (const place of low)
      if (rowOf(place) === row) {
        const index = place.index - (row * LEAVES_PER_ROW) / 2 ** place.level
        const hash = nodeOver(leaves, place.level, index)
        if (hash) found.set(keyOf(place), hash)
      }
  }
  return (level, index) => {
    const hash = found.get(keyOf({ level, index }))
    if (!hash) throw missing({ level, index })
    return hash
  }
}

/** The result of `run` on the nodes in the tables of a store. Rejects with `DAMAGED` if one is missing. */
export const withNodes = async <Result>(
  ledger: LedgerStore,
  run: (read: ReadNode) => Result,
  options?: WaitOptions,
): Promise<Result> => run(await loadNodes(ledger, run, options))
