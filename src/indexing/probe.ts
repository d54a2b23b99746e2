/** How many events a query looks at one by one before it asks an index. */
export const FIRST_PROBE = 64
const GROWTH = 4
// Where so many have to be passed over for each that matches, an index takes less.
const MOST_PASSED_OVER = 8

/**
 * How many more events to look at one by one, after so many of which so many match; 0 where the index
 * should be asked: what many events have is found faster without it.
 */
export const nextProbe = (seen: number, matched: number): number =>
  matched * MOST_PASSED_OVER >= seen ? seen * GROWTH : 0
