import type { Scalar } from '../../filter/attributes.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { FetchedPostings } from './postings.js'
import type { Stream, Wait } from './work.js'

/** The types of values, in the order in which values of different types are sorted. */
export const Kind = { boolean: 0, number: 1, text: 2 } as const
export type Kind = (typeof Kind)[keyof typeof Kind]

export const kindOf = (value: Scalar): Kind => {
  if (typeof value === 'string') return Kind.text
  return typeof value === 'number' ? Kind.number : Kind.boolean
}

export type Order = 'asc' | 'desc'

/** A value that some of a part's events have in an attribute. */
export interface ValueEntry {
  /** A long text is cut: see {@link indexedText}. */
  readonly value: Scalar
  /** Number of events that have it. */
  readonly size: number
  postings(): FetchedPostings
}

/** A search in values as chunks hold them: lines of JSON text. */
export interface LineSearch {
  /** Contained in each matching line that was not cut, in upper or lower case. */
  readonly part: string
  /** Takes many lines at once and returns whether one of them may match. */
  readonly mayPass: (lines: string) => boolean
}

/**
 * The index of some events of a log, numbered from 0 in the order of their times. It may list events that were
 * removed, so callers check the events themselves. Attributes have the joined names of the filter grammar;
 * `type`, `username` and `system` have their own. `id` and `created_at` are not indexed.
 *
 * A read may return `WAIT`, and iterables may yield it.
 */
export interface FetchedPart {
  /** Unique in the log, also among parts that no longer exist. */
  readonly id: string
  readonly size: number
  /** Time of the oldest event. */
  readonly first: Microseconds
  /** Time of the newest event. */
  readonly last: Microseconds
  timeOf(ordinal: number): Microseconds | Wait
  /** Number of events before the time. */
  countBefore(time: Microseconds): number | Wait
  /**
   * The values of one type that the attribute has, sorted (text by code point), from `from` on, inclusive. Read
   * lazily.
   */
  values(name: string, kind: Kind, order: Order, from?: Scalar): Stream<ValueEntry>
  /**
   * The same values in any order, maybe without some that cannot match.
   */
  search?(name: string, kind: Kind, search: LineSearch): Stream<ValueEntry>
  /** The same values in any order, if that is cheaper. An entry is valid until the next one. */
  inAnyOrder?(name: string, kind: Kind): Stream<ValueEntry>
  /** All values of one type, sorted, if reading all is cheaper than reading some. */
  all?(name: string, kind: Kind): Stream<ValueEntry>
  /** False if it is known, without reading, that no event has the value in the attribute. */
  mayHave?(name: string, value: Scalar): boolean
  /** The events that have the value in the attribute; a long text is cut first. */
  find(name: string, value: Scalar): FetchedPostings | Wait
  /** The events that have any value in the attribute. */
  valued(name: string): FetchedPostings | Wait
  /** The events in which the name leads to an object or array that is not empty. */
  containers(name: string): FetchedPostings | Wait
  /**
   * The events that may have more in the attribute than is listed, so they may match any filter on it. All
   * other events are listed with all that they have in it.
   */
  partial(name: string): FetchedPostings | Wait
  /** The texts of all names, in any order, maybe without some that cannot match. */
  texts(search: LineSearch): Stream<ValueEntry>
  /**
   * The sources, like {@link texts}; if a text of the event ends with what follows the last slash, only the part up to
   * that slash.
   */
  sources(search: LineSearch): Stream<ValueEntry>
  /** The events that may have more texts than are listed. */
  partialTexts(): FetchedPostings | Wait
}

/** A part that is in memory, or in a file of this machine: no read has to wait. */
export interface IndexPart extends FetchedPart {
  timeOf(ordinal: number): Microseconds
  countBefore(time: Microseconds): number
  values(name: string, kind: Kind, order: Order, from?: Scalar): Iterable<ValueEntry>
  inAnyOrder?(name: string, kind: Kind): Iterable<ValueEntry>
  all?(name: string, kind: Kind): Iterable<ValueEntry>
  find(name: string, value: Scalar): FetchedPostings
  valued(name: string): FetchedPostings
  containers(name: string): FetchedPostings
  partial(name: string): FetchedPostings
  partialTexts(): FetchedPostings
}

// The beginnings of longer texts mostly differ, and whole texts would make the index large.
const MAX_CHARS = 512

const SURROGATE = /[\uD800-\uDFFF]/

/**
 * The text as an index has it: its first characters. It is cut between whole characters, so that cut texts
 * sort as the texts do.
 */
export function indexedText(text: string, max = MAX_CHARS): string {
  if (text.length <= max) return text
  const start = text.slice(0, max)
  if (!SURROGATE.test(start)) return start
  return Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join('')
}

export const indexedValue = (value: Scalar): Scalar =>
  typeof value === 'string' ? indexedText(value) : value

const QUOTES = 2

/** True if one of the lines of JSON text may be of a cut text. */
export function mayHaveCut(lines: string): boolean {
  for (let at = 0; at + MAX_CHARS + QUOTES <= lines.length;) {
    const found = lines.indexOf('\n', at)
    const end = found < 0 ? lines.length : found
    if (end - at >= MAX_CHARS + QUOTES) return true
    at = end + 1
  }
  return false
}

/** True if the indexed value may be a cut text. */
export const mayBeCut = (value: Scalar): boolean =>
  typeof value === 'string' && value.length >= MAX_CHARS
