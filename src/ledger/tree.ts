import { sha256, sha256OfText } from './sha256.js'
import { heightOf, isLeft, lastNode, type Position, siblingsOf } from './siblings.js'

/*
 * The Merkle tree of RFC 6962 and RFC 9162 with SHA-256. It is append-only, so a node whose leaves all exist never changes. A store
 * keeps only such complete nodes; the others, at most one on each level, are computed from them.
 */

/** Reads a complete node of the tree. Level 0 has the hashes of the leaves. */
export type ReadNode = (level: number, index: number) => Uint8Array

export interface TreeNode extends Position {
  readonly hash: Uint8Array
}

const LEAF = Uint8Array.of(0)

/** The hash of a leaf. A text is hashed as UTF-8. */
export const leafHash = (entry: Uint8Array | string): Uint8Array =>
  typeof entry === 'string' ? sha256OfText(LEAF, entry) : sha256(Buffer.concat([LEAF, entry]))

/** Reused, as each event needs about one node. */
const children = Buffer.alloc(65, 1)

/** The hash of the node above two nodes. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  children.set(left, 1)
  children.set(right, 33)
  return sha256(children)
}

/** The hash of a node that may be incomplete. Its first leaf exists. */
function hashAt({ level, index }: Position, size: number, read: ReadNode): Uint8Array {
  if ((index + 1) * 2 ** level <= size) return read(level, index)
  const left = hashAt({ level: level - 1, index: 2 * index }, size, read)
  const right = { level: level - 1, index: 2 * index + 1 }
  return right.index * 2 ** right.level < size ? nodeHash(left, hashAt(right, size, read)) : left
}

/** The root of the tree of the first `size` leaves. Reads at most one node on each level. */
export const rootOf = (size: number, read: ReadNode): Uint8Array =>
  size === 0 ? sha256(new Uint8Array()) : hashAt({ level: heightOf(size), index: 0 }, size, read)

/** The inclusion path of a leaf, from its sibling upwards. Throws `RangeError` if the tree has no such leaf. */
export function inclusionPath(index: number, size: number, read: ReadNode): Uint8Array[] {
  if (index < 0 || index >= size) throw new RangeError(`a tree of ${size} has no leaf ${index}`)
  return siblingsOf({ level: 0, index }, size).map((sibling) => hashAt(sibling, size, read))
}

/** The root that an inclusion path of the tree leads to. */
export const rootOfPath = (
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Uint8Array =>
  siblingsOf({ level: 0, index }, size).reduce(
    (hash, sibling, i) => (isLeft(sibling) ? nodeHash(path[i]!, hash) : nodeHash(hash, path[i]!)),
    leaf,
  )

/**
 * The proof that the tree of `from` leaves is the beginning of the tree of `to` leaves. It is empty if both are equal, and if the
 * first is empty. Throws `RangeError` if `from` is greater.
 */
export function consistencyPath(from: number, to: number, read: ReadNode): Uint8Array[] {
  if (from > to) throw new RangeError(`a tree of ${to} does not contain one of ${from}`)
  if (from === 0 || from === to) return []
  const start = lastNode(from)
  // A complete tree is itself the start, and the checker knows its root.
  const path = start.index === 0 ? [] : [start]
  return [...path, ...siblingsOf(start, to)].map((node) => hashAt(node, to, read))
}

/** The nodes above the leaves that become complete when leaves with these hashes are appended to a tree of `size` leaves. */
export function completedNodes(
  size: number,
  hashes: readonly Uint8Array[],
  read: ReadNode,
): TreeNode[] {
  const nodes: TreeNode[] = []
  let below = hashes
  let first = size
  for (let level = 1; below.length > 0; level++) {
    const child = (index: number): Uint8Array =>
      index < first ? read(level - 1, index) : below[index - first]!
    const start = Math.floor(first / 2)
    const made: Uint8Array[] = []
    for (let index = start; 2 * index + 1 < first + below.length; index++)
      made.push(nodeHash(child(2 * index), child(2 * index + 1)))
    nodes.push(...made.map((hash, i) => ({ level, index: start + i, hash })))
    below = made
    first = start
  }
  return nodes
}
