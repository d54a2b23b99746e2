import { completedNodes, type ReadNode, rootOf } from './tree.js'

/** The nodes at the right edge of a tree, from which its root and all later nodes follow. */
export interface Edge {
  readonly size: number
  /** The last complete node of each level on which it has no parent yet. */
  readonly nodes: ReadonlyMap<number, Uint8Array>
}

export const EMPTY: Edge = { size: 0, nodes: new Map() }

/** The edge of a tree whose complete nodes can be read. */
export function edgeOf(size: number, read: ReadNode): Edge {
  const nodes = new Map<number, Uint8Array>()
  for (let level = 0, count = size; count > 0; level++, count = Math.floor(count / 2))
    if (count % 2 === 1) nodes.set(level, read(level, count - 1))
  return { size, nodes }
}

/** The places of the nodes that {@link edgeOf} reads. */
export function edgePlaces(size: number): { readonly level: number; readonly index: number }[] {
  const places: { level: number; index: number }[] = []
  edgeOf(size, (level, index) => {
    places.push({ level, index })
    return new Uint8Array()
  })
  return places
}

export const rootAt = ({ size, nodes }: Edge): Uint8Array =>
  rootOf(size, (level) => nodes.get(level)!)

/** The edge after leaves with these hashes, and the nodes above leaves that became complete. */
export function grow(edge: Edge, leaves: readonly Uint8Array[]) {
  const { size, nodes } = edge
  const made = completedNodes(size, leaves, (level) => nodes.get(level)!)
  // The edge has the last complete node of a level: the last one that was made, or the one before.
  const last = new Map(nodes)
  for (const { level, hash } of made) last.set(level, hash)
  if (leaves.length > 0) last.set(0, leaves.at(-1)!)
  return { edge: edgeOf(size + leaves.length, (level) => last.get(level)!), nodes: made }
}

/** Hashes of 32 bytes each, one after the other. */
export const splitHashes = (hashes: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.floor(hashes.length / 32) }, (_, i) =>
    hashes.subarray(32 * i, 32 * (i + 1)),
  )

export const joinHashes = (hashes: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(Buffer.concat(hashes))
