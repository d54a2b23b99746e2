import { isLeft, lastNode, siblingsOf } from './siblings.js'
import { sha256 } from './web-crypto.js'

/** The hash of a leaf, as `leafHash` of the tree. */
export const leafHashOf = (entry: Uint8Array | string): Promise<Uint8Array> =>
  sha256(Uint8Array.of(0), entry)

const nodeHashOf = (left: Uint8Array, right: Uint8Array): Promise<Uint8Array> =>
  sha256(Uint8Array.of(1), left, right)

const isPath = (path: readonly Uint8Array[], length: number): boolean =>
  path.length === length && path.every((hash) => hash.length === 32)

/** The root that an inclusion path leads to, or `undefined` if the leaf is outside the tree or its path has another length. */
export async function rootFromInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Promise<Uint8Array | undefined> {
  if (index < 0 || index >= size) return undefined
  const siblings = siblingsOf({ level: 0, index }, size)
  if (!isPath(path, siblings.length)) return undefined
  let hash = leaf
  for (const [i, sibling] of siblings.entries())
    hash = isLeft(sibling) ? await nodeHashOf(path[i]!, hash) : await nodeHashOf(hash, path[i]!)
  return hash
}

/** A tree as a checkpoint states it. */
export interface TreeHead {
  readonly size: number
  readonly root: Uint8Array
}

/**
 * The roots of both trees that a consistency path leads to. `from.root` is only used where the path does not have it: if the first
 * tree is complete. `undefined` if the path has another length, or the first tree is empty or not smaller.
 */
export async function rootsFromConsistency(
  from: TreeHead,
  to: number,
  path: readonly Uint8Array[],
): Promise<{ readonly from: Uint8Array; readonly to: Uint8Array } | undefined> {
  if (from.size < 1 || from.size >= to) return undefined
  const start = lastNode(from.size)
  const siblings = siblingsOf(start, to)
  const isComplete = start.index === 0
  if (!isPath(path, siblings.length + (isComplete ? 0 : 1))) return undefined
  const [first, ...others] = isComplete ? [from.root, ...path] : path
  let older = first!
  let newer = first!
  for (const [i, sibling] of siblings.entries()) {
    const hash = others[i]!
    if (isLeft(sibling)) older = await nodeHashOf(hash, older)
    newer = isLeft(sibling) ? await nodeHashOf(hash, newer) : await nodeHashOf(newer, hash)
  }
  return { from: older, to: newer }
}
