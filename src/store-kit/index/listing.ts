import type { IndexBounds } from './index-bounds.js'

/** Decides for which unsealed events an index in memory lists the values: see `IndexBounds.listedValues`. */
export interface Listing {
  /** Returns true if the JSON text of attributes has to be parsed. */
  readonly lists: (json: string) => boolean
  /** True if some events since the last reset are not listed. */
  readonly hasUnlisted: () => boolean
  /** Begins anew, after events were sealed. */
  reset(): void
}

export function createListing({ listedValues, largeSize }: IndexBounds): Listing {
  let left = listedValues
  let hasUnlisted = false
  return {
    lists(json) {
      if (json.length < largeSize) return true
      const values = atMostValues(json, left)
      const hasRoom = values <= left
      if (hasRoom) left -= values
      else hasUnlisted = true
      return hasRoom
    },
    hasUnlisted: () => hasUnlisted,
    reset() {
      left = listedValues
      hasUnlisted = false
    },
  }
}

/** About the number of values in JSON text, counted by commas up to one more than `max`. */
function atMostValues(json: string, max: number): number {
  let values = 1
  for (let at = json.indexOf(','); at >= 0 && values <= max; at = json.indexOf(',', at + 1))
    values += 1
  return values
}
