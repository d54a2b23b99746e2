/** Finds items by the values of a throttle's scope. */
export interface ScopeIndex<Item> {
  /** `undefined` if the item is unknown, or the data has a value that cannot be indexed. */
  find(data: object): Item | undefined
  add(data: object, item: Item): void
}

interface Node<Item> {
  item: Item | undefined
  readonly children: Map<unknown, Node<Item>>
}

const MAX_TEXT_LENGTH = 200

const newNode = <Item>(): Node<Item> => ({ item: undefined, children: new Map() })

const isIndexable = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.length <= MAX_TEXT_LENGTH
    : value === null || (typeof value !== 'object' && typeof value !== 'function')

/**
 * A tree with a level for each key of the scope. Looks up the values themselves, because building a
 * text key of them would cost more than the rest of a throttled call. Forgets all items when there are
 * more than `maxItems`.
 */
export function createScopeIndex<Item>(
  scope: readonly string[],
  maxItems: number,
): ScopeIndex<Item> {
  let root = newNode<Item>()
  let size = 0
  const walk = (
    data: object,
    next: (node: Node<Item>, value: unknown) => Node<Item> | undefined,
  ): Node<Item> | undefined => {
    let node: Node<Item> | undefined = root
    try {
      for (const key of scope) {
        const value = (data as Record<string, unknown>)[key]
        node = node && isIndexable(value) ? next(node, value) : undefined
      }
    } catch {
      return undefined
    }
    return node
  }
  const childOf = ({ children }: Node<Item>, value: unknown): Node<Item> | undefined =>
    children.get(value)
  const childOrNew = ({ children }: Node<Item>, value: unknown): Node<Item> => {
    const child = children.get(value) ?? newNode<Item>()
    children.set(value, child)
    return child
  }
  return {
    find: (data) => walk(data, childOf)?.item,
    add(data, item) {
      if (++size > maxItems) {
        root = newNode()
        size = 1
      }
      const node = walk(data, childOrNew)
      if (node) node.item = item
    },
  }
}
