import { MIN_SEARCHED } from '../stored-filter.js'
import type { IndexBounds } from './index-bounds.js'

/** Decides of which unsealed events an index in memory lists the values: see `IndexBounds.listedSize`. */
export interface Listing {
  /** Whether to parse an event with attributes of this size, in characters of JSON. */
  readonly lists: (size: number) => boolean
  /** Begins anew, after events were sealed. */
  reset(): void
}

export function createListing({ listedSize }: IndexBounds): Listing {
  let left = listedSize
  return {
    lists(size) {
      if (size < MIN_SEARCHED) return true
      if (size > left) return false
      left -= size
      return true
    },
    reset() {
      left = listedSize
    },
  }
}
