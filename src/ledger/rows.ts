import type { Microseconds } from '../event/timestamp.js'
import { type LeafRow, LEAVES_PER_ROW } from '../store/ledger.js'
import { joinHashes, splitHashes } from './edge.js'
import { type Place, readPlaces, writePlaces } from './places.js'

/** A leaf to append. */
export interface NewLeaf {
  readonly place: Place
  readonly hash: Uint8Array
}

/** The leaves of a row; fewer if the row is damaged. */
export const leavesOf = (row: LeafRow): NewLeaf[] => {
  const hashes = splitHashes(row.hashes)
  return readPlaces(row)
    .slice(0, hashes.length)
    .map((place, i) => ({ place, hash: hashes[i]! }))
}

/** The time of the last event in order, or `from`. */
export const lastTime = (places: readonly Place[], from: Microseconds): Microseconds =>
  places.reduce((time, place) => (place.kind === 'event' ? place.time : time), from)

/** The row with its first leaves only. */
export function firstLeaves(row: LeafRow, count: number): LeafRow {
  const places = readPlaces(row).slice(0, count)
  const last = lastTime(places, row.after)
  const hashes = row.hashes.slice(0, 32 * count)
  return { ...row, last, places: writePlaces(places, row.after), hashes }
}

/** Number of rows that leaves from `size` on fill, the row of the first included. */
export const rowsFor = (size: number, count: number): number =>
  Math.ceil(((size % LEAVES_PER_ROW) + count) / LEAVES_PER_ROW)

/**
 * The rows after leaves were appended to a tree of `size` leaves. `tail` is the incomplete row before; `seeds` has the
 * seeds of the rows, from the row of the first new leaf on.
 */
export function rowsAfter(
  {
    tail,
    size,
    after,
  }: { readonly tail: LeafRow | undefined; readonly size: number; readonly after: number },
  leaves: readonly NewLeaf[],
  seeds: readonly Uint8Array[],
): LeafRow[] {
  const all = [...(tail ? leavesOf(tail) : []), ...leaves]
  const first = Math.floor(size / LEAVES_PER_ROW)
  const rows: LeafRow[] = []
  let from = tail ? tail.after : after
  for (let i = 0; i * LEAVES_PER_ROW < all.length; i++) {
    const part = all.slice(i * LEAVES_PER_ROW, (i + 1) * LEAVES_PER_ROW)
    const places = part.map(({ place }) => place)
    const last = lastTime(places, from)
    rows.push({
      row: first + i,
      after: from,
      last,
      places: writePlaces(places, from),
      hashes: joinHashes(part.map(({ hash }) => hash)),
      seed: seeds[i]!,
    })
    from = last
  }
  return rows
}
