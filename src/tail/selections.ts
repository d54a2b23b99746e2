import { LRUCache } from 'lru-cache'
import type { Batch, RingEntry } from './ring.js'

/** What readers of a view select from a batch. */
export interface Selections<View, Selection> {
  /** Selects from the entries of the batch after the position. */
  of(batch: Batch, view: View, position: string): Selection | Promise<Selection>
}

export interface SelectionOptions<View, Selection> {
  readonly select: (entries: readonly RingEntry[], view: View) => Promise<Selection>
  /** At least 1. */
  readonly sizeOf: (selection: Selection) => number
  /** Bounds the selections that are kept together. */
  readonly maxSize: number
}

/** Readers of views with the same key share selections, because they need the same ones at about the same time. */
export function createSelections<View extends { readonly key: string }, Selection extends object>({
  select,
  sizeOf,
  maxSize,
}: SelectionOptions<View, Selection>): Selections<View, Selection> {
  const shared = new LRUCache<string, Selection>({
    maxSize,
    sizeCalculation: (selection, key) => sizeOf(selection) + key.length,
  })
  /** The selections that are being made. */
  const making = new Map<string, Promise<Selection>>()

  const makeShared = async (key: string, { entries }: Batch, view: View): Promise<Selection> => {
    const selection = select(entries, view)
    making.set(key, selection)
    try {
      shared.set(key, await selection)
      return await selection
    } finally {
      making.delete(key)
    }
  }

  return {
    of(batch, view, position) {
      const { first, last, entries } = batch
      if (position >= first)
        return select(
          entries.filter(({ event }) => event.created_at > position),
          view,
        )
      // The ring has no gaps, so first and last identify the events of the batch.
      const key = `${first} ${last} ${view.key}`
      return shared.get(key) ?? making.get(key) ?? makeShared(key, batch, view)
    },
  }
}
