/** Number of events that a query checks one by one before it uses the index; 0 for none. */
export interface ProbeSizes {
  readonly any: number
  /** If values lead to the events: the index finds them by a few reads. */
  readonly forValues: number
}

const GROWTH = 4
// With more events checked for each match, an index is faster.
const MAX_CHECKED_PER_MATCH = 8
// With more, it is faster to let the database exclude some.
const MAX_CHECKED_PER_MATCH_DENSE = 4
/** Size of the attributes, in characters of JSON, after which events that do not match end a probe. */
export const MAX_PROBE_SIZE = 2 ** 20

/**
 * Number of further events to check one by one, after `seen` events of which `matched` matched; 0 if the index
 * should be used. Frequent matches are found faster without it.
 */
const nextProbe = (seen: number, matched: number): number =>
  matched * MAX_CHECKED_PER_MATCH >= seen ? seen * GROWTH : 0

/**
 * Counts the events that are checked at the start of a query's order, as long as enough of them match: see
 * {@link nextProbe}. It also ends once the events that do not match are large, so its work is bounded for any events.
 */
export interface Probe {
  /** Number of further events to check; 0 if the index should be used. */
  left(): number
  /** True while so many events match that predicates in SQL would exclude too few. */
  isDense(): boolean
  /** Reports checked events, after `matched` was called for each match among them. */
  passed(events: number): void
  matched(events?: number): void
  /** Reports checked events that do not match, with the size of their attributes in characters of JSON. */
  missed(size: number): void
  /** The numbers of checked and of matching events so far. */
  counts(): { readonly seen: number; readonly matches: number }
}

/** `mayBeDense` is false if predicates in SQL are faster however many events match. */
export function createProbe(first: number, mayBeDense = true): Probe {
  let [seen, matches, end, missedSize] = [0, 0, first, 0]
  return {
    left: () => (missedSize > MAX_PROBE_SIZE ? 0 : end - seen),
    isDense: () => mayBeDense && matches * MAX_CHECKED_PER_MATCH_DENSE >= seen,
    passed(events) {
      seen += events
      if (seen >= end) end = seen + nextProbe(seen, matches)
    },
    matched(events = 1) {
      matches += events
    },
    missed(size) {
      missedSize += size
    },
    counts: () => ({ seen, matches }),
  }
}
