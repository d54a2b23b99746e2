/** Position of a node: level 0 has the leaves; node `index` of a level covers the leaves from `index * 2 ** level`. */
export interface Position {
  readonly level: number
  readonly index: number
}

/** Number of levels above the leaves in a tree of this size. */
export function heightOf(size: number): number {
  let height = 0
  while (2 ** height < size) height++
  return height
}

/**
 * The siblings on the way from a node to the root, from the bottom up. A level where the tree ends before the sibling has none: the
 * node rises to the next level unchanged. A sibling at the right edge may be incomplete.
 */
export function siblingsOf({ level, index }: Position, size: number): Position[] {
  const siblings: Position[] = []
  for (let at = index; level < heightOf(size); level++) {
    const sibling = at % 2 === 0 ? at + 1 : at - 1
    if (sibling * 2 ** level < size) siblings.push({ level, index: sibling })
    at = Math.floor(at / 2)
  }
  return siblings
}

/** True if the sibling is on the left of its node. */
export const isLeft = ({ index }: Position): boolean => index % 2 === 0

/** The largest complete node that ends where a tree of this size ends. A consistency path begins there. `size` is at least 1. */
export function lastNode(size: number): Position {
  let level = 0
  let count = size
  for (; count % 2 === 0; level++) count /= 2
  return { level, index: count - 1 }
}
