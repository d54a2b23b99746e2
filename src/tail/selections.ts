import { LRUCache } from 'lru-cache'
import type { Grouping } from '../filter/ast.js'
import { compileFilterInSteps } from '../filter/evaluate.js'
import { filterInTurns } from '../filter/time-slices.js'
import type { TailFilter } from './poll.js'
import { type Batch, bytesOf, type RingEntry } from './ring.js'

/** Selections of the readers of a view from a batch. */
export interface Selections<View, Selection> {
  /** Selects from the entries of the batch after the cursor. */
  of(batch: Batch, view: View, cursor: string): Selection | Promise<Selection>
}

export interface SelectionOptions<View, Selection> {
  readonly select: (entries: readonly RingEntry[], view: View) => Promise<Selection>
  /** The size of a selection, at least 1. */
  readonly sizeOf: (selection: Selection) => number
  /** Bounds the selections that are kept together. */
  readonly maxSize: number
}

/**
 * Readers of views with the same key share selections, because they need the same selections at about the same time.
 */
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
    of(batch, view, cursor) {
      const { first, last, entries } = batch
      if (cursor >= first)
        return select(
          entries.filter(({ event }) => event.created_at > cursor),
          view,
        )
      // The ring has no gaps, so first and last identify the events of the batch.
      const key = `${first} ${last} ${view.key}`
      return shared.get(key) ?? making.get(key) ?? makeShared(key, batch, view)
    },
  }
}

export interface KeyedFilter extends TailFilter {
  /** Equal for equal filters. */
  readonly key: string
}

/** The matching entries of a batch. */
export type FilterSelections = Selections<KeyedFilter, readonly RingEntry[]>

export const keyedFilter = (where: Grouping | undefined): KeyedFilter => ({
  key: where ? JSON.stringify(where) : '',
  where,
  matches: compileFilterInSteps(where),
})

// Bounds the events that are kept for readers with the same filter.
const SHARED_BYTES = 4 * 1_048_576

export const createFilterSelections = (): FilterSelections =>
  createSelections({
    select: (entries, { matches }) => filterInTurns(entries, ({ event }) => matches(event)),
    sizeOf: (entries) => bytesOf(entries) + 1,
    maxSize: SHARED_BYTES,
  })
