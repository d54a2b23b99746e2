import { EMPTY, grow, splitHashes } from '../../src/ledger/edge.js'
import { rowsAfter } from '../../src/ledger/rows.js'
import {
  LEAVES_PER_ROW,
  type LedgerState,
  type LedgerStore,
  MAX_LEAVES,
  ROW_LEVEL,
} from '../../src/store/ledger.js'

/** Adds leaves that stand for no event until the tree has this many. The next process with a signer signs them. */
export async function fillTree(ledger: LedgerStore, leaves: number): Promise<void> {
  let state: LedgerState = (await ledger.state())!
  let [tail] = await ledger.rows(Math.floor(state.size / LEAVES_PER_ROW), 1)
  let edge = EMPTY
  for (let row = 0; edge.size < state.size; row++) {
    const [found] = await ledger.rows(row, 1)
    edge = grow(edge, splitHashes(found!.hashes)).edge
  }
  const seed = new Uint8Array(32)
  const hash = new Uint8Array(32).fill(7)
  while (state.size < leaves) {
    const count = Math.min(leaves - state.size, MAX_LEAVES - (state.size % LEAVES_PER_ROW))
    const added = Array.from({ length: count }, (_, i) => ({
      place: { kind: 'event' as const, time: state.sealedTo + i + 1 },
      hash,
    }))
    const from = { tail, size: state.size, after: state.sealedTo }
    const rows = rowsAfter(
      from,
      added,
      Array.from({ length: MAX_LEAVES }, () => tail?.seed ?? seed),
    )
    const grown = grow(
      edge,
      added.map((leaf) => leaf.hash),
    )
    const after = { ...state, size: grown.edge.size, sealedTo: rows.at(-1)!.last }
    const nodes = grown.nodes.filter(({ level }) => level >= ROW_LEVEL)
    await ledger.append({ before: state, after, rows, nodes, statements: [], late: [] })
    state = after
    edge = grown.edge
    tail = state.size % LEAVES_PER_ROW > 0 ? rows.at(-1) : undefined
  }
}
