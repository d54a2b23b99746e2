import { setImmediate } from 'node:timers'

/** The items of all calls of one turn of the event loop, and their results. */
interface Batch<Item, Result> {
  readonly items: Item[]
  readonly results: Promise<readonly Result[]>
}

/**
 * Returns a function that resolves to the results of its items, in their order. `run` is called once for the items of all calls in one
 * turn of the event loop, after the last of these calls.
 */
export function batchPerTurn<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): (items: readonly Item[]) => Promise<readonly Result[]> {
  let batch: Batch<Item, Result> | undefined

  const begin = (): Batch<Item, Result> => {
    const items: Item[] = []
    const results = new Promise<readonly Result[]>((resolve) => {
      setImmediate(() => {
        batch = undefined
        resolve(run(items))
      })
    })
    return { items, results }
  }

  return async (items) => {
    if (items.length === 0) return []
    batch ??= begin()
    const first = batch.items.length
    batch.items.push(...items)
    const results = await batch.results
    return results.slice(first, first + items.length)
  }
}
