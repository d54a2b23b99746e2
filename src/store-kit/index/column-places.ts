import { isOwnField } from '../../event/own-fields.js'
import type { GrowingColumn } from './column-table.js'
import { hashOfState, hashState } from './other-names.js'

/** A key at the end of a path of keys, and the column of the path's joined name. */
export interface Place {
  /** `undefined` for a name without a column. */
  readonly column: GrowingColumn | undefined
  /** `undefined` for a name that is too long for a column. */
  readonly name: string | undefined
  readonly hashState: number
  /** The places of further keys, if the place is kept. */
  readonly below: Map<string, Place> | undefined
}

const MAX_NAME = 500
/** Places that are kept, for each name: several paths may have the same joined name. */
const PLACES_PER_NAME = 2

type FindColumn = (name: string, hash: number) => GrowingColumn | undefined

export interface PlaceFinder {
  /** Finds the place of a key below a parent, or without parent the place of a path's first key. */
  readonly placeBelow: (parent: Place | undefined, key: string) => Place
  /** Forgets the places that were found, whose columns may be gone. */
  readonly clear: () => void
}

/** Keeps the places of names with a column by their keys, so that each name is joined only once. */
export function createPlaceFinder(columnOf: FindColumn, maxNames: number): PlaceFinder {
  const roots = new Map<string, Place>()
  let left = maxNames * PLACES_PER_NAME

  return {
    placeBelow(parent, key) {
      const places = parent ? parent.below : roots
      const known = places?.get(key)
      if (known) return known
      const place = findPlace(columnOf, parent, key)
      if (!places || left === 0 || !place.column) return place
      const kept = { ...place, below: new Map<string, Place>() }
      places.set(key, kept)
      left -= 1
      return kept
    },
    clear() {
      roots.clear()
      left = maxNames * PLACES_PER_NAME
    },
  }
}

function findPlace(columnOf: FindColumn, parent: Place | undefined, key: string): Place {
  const name = joinedName(parent, key)
  const state = hashState(parent ? `_${key}` : key, parent?.hashState)
  // A path whose joined name is the name of an own field cannot be queried.
  const canLead = name !== undefined && !isOwnField(name)
  const column = canLead ? columnOf(name, hashOfState(state)) : undefined
  return { column, name, hashState: state, below: undefined }
}

function joinedName(parent: Place | undefined, key: string): string | undefined {
  if (parent && parent.name === undefined) return undefined
  const name = parent ? `${parent.name}_${key}` : key
  return name.length <= MAX_NAME ? name : undefined
}
