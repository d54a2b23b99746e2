/** How many events a query looks at one by one before it asks an index. */
export const FIRST_PROBE = 64
const GROWTH = 4
// Where so many have to be passed over for each that matches, an index takes less.
const MOST_PASSED_OVER = 8
// And where so many, it takes less to have the database rule out some.
const MOST_LOOKED_AT = 4

/**
 * How many more events to look at one by one, after so many of which so many match; 0 where the index
 * should be asked: what many events have is found faster without it.
 */
export const nextProbe = (seen: number, matched: number): number =>
  matched * MOST_PASSED_OVER >= seen ? seen * GROWTH : 0

/**
 * Goes through the events at the end where a query begins, as long as enough of them match: see
 * {@link nextProbe}.
 */
export interface Probe {
  /** How many more to go through; 0 where the index should be asked. */
  left(): number
  /** True as long as so many match that each is looked at, whatever the database could rule out. */
  isDense(): boolean
  /** So many have been gone through, those among them that match told before. */
  passed(events: number): void
  matched(): void
}

export function createProbe(first: number): Probe {
  let [seen, matches, end] = [0, 0, first]
  return {
    left: () => end - seen,
    isDense: () => matches * MOST_LOOKED_AT >= seen,
    passed(events) {
      seen += events
      if (seen >= end) end = seen + nextProbe(seen, matches)
    },
    matched() {
      matches += 1
    },
  }
}
