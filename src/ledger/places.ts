import type { Microseconds } from '../event/timestamp.js'
import { type LeafRow, LEAVES_PER_ROW } from '../store/ledger.js'

/*
 * The kinds and times of the leaves of a row, as whole numbers of seven bits in each byte, lowest first, the last byte below
 * 128: 0 for a statement; 2n - 1 for an event that is n microseconds later than the event in order before it;
 * 2n + 2 for a late event that is n microseconds earlier than that event. Nothing proves these numbers except the
 * hashes of the leaves.
 */

/** A leaf as the row describes it. */
export type Place =
  | { readonly kind: 'statement' }
  | { readonly kind: 'event' | 'late'; readonly time: Microseconds }

const STATEMENT: Place = { kind: 'statement' }

/** The numbers of places that follow an event in order at `after`. Throws `RangeError` unless they can. */
export function writePlaces(places: readonly Place[], after: Microseconds): Uint8Array {
  const bytes: number[] = []
  let last = after
  const put = (value: number): void => {
    let rest = value
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
    bytes.push(rest)
  }
  for (const place of places) {
    if (place.kind === 'statement') put(0)
    else {
      const later = place.time - last
      if (place.kind === 'event' ? later < 1 : later > 0)
        throw new RangeError(`${place.kind} at ${place.time} after an event at ${last}`)
      put(place.kind === 'event' ? 2 * later - 1 : 2 - 2 * later)
      if (place.kind === 'event') last = place.time
    }
  }
  return Uint8Array.from(bytes)
}

/** The places of a row; fewer if the row is damaged. Reads any bytes without an error. */
export function readPlaces({ places, after }: Pick<LeafRow, 'places' | 'after'>): Place[] {
  const read: Place[] = []
  let last = after
  for (let at = 0; at < places.length && read.length < LEAVES_PER_ROW;) {
    let value = 0
    let scale = 1
    let byte = 128
    while (byte > 127 && at < places.length) {
      byte = places[at++]!
      value += (byte & 127) * scale
      scale *= 128
    }
    if (byte > 127 || !Number.isSafeInteger(value)) break
    if (value === 0) read.push(STATEMENT)
    else if (value % 2 === 0) read.push({ kind: 'late', time: last - (value - 2) / 2 })
    else read.push({ kind: 'event', time: (last += (value + 1) / 2) })
  }
  return read
}

/** The index in the row of the leaf of the event at this time. */
export function placeOf(
  row: Pick<LeafRow, 'places' | 'after'>,
  time: Microseconds,
): number | undefined {
  const index = readPlaces(row).findIndex(
    (place) => place.kind !== 'statement' && place.time === time,
  )
  return index < 0 ? undefined : index
}
