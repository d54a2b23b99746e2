import type { Scalar } from '../../filter/attributes.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { Postings } from './postings.js'

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
  /** How many events have it. */
  readonly size: number
  postings(): Postings
}

/** What is known of the values that pass a test by the lines of JSON text that they are kept as. */
export interface LineSearch {
  /** Stands in each line that has not been cut, in any case. */
  readonly part: string
  /** Is given many lines at a time, and says whether one of them may be of a value that passes. */
  readonly mayPass: (lines: string) => boolean
}

/**
 * The index of some events of a log, which are numbered from 0 in the order of their times. What it says
 * may be out of date where events were removed: whoever asks looks at the events themselves.
 * Attributes go by the joined names of the filter grammar, `type`, `username` and `system` by their own.
 * `id` and `created_at` are not in it.
 */
export interface IndexPart {
  /** No other part of the log ever has it. */
  readonly id: string
  readonly size: number
  /** The times of the oldest and of the newest. */
  readonly first: Microseconds
  readonly last: Microseconds
  timeOf(ordinal: number): Microseconds
  /** How many of them are before the time. */
  countBefore(time: Microseconds): number
  /**
   * The values of one type that the attribute has, in their order (text by code point), read as they
   * are asked for; from `from` on where it is given, itself included.
   */
  values(name: string, kind: Kind, order: Order, from?: Scalar): Iterable<ValueEntry>
  /**
   * The same values in any order, without some of those that cannot pass. `undefined` where the work may
   * be laid down.
   */
  search?(name: string, kind: Kind, search: LineSearch): Iterable<ValueEntry | undefined>
  /** The same values in any order, each to be read before the next one is asked for; where that takes less. */
  inAnyOrder?(name: string, kind: Kind): Iterable<ValueEntry>
  /** False only where no event has the value in the attribute, as far as that is known at once. */
  mayHave?(name: string, value: Scalar): boolean
  /** The events that have the value in the attribute, a long text cut. */
  find(name: string, value: Scalar): Postings
  /** The events that have any value in the attribute. */
  valued(name: string): Postings
  /** The events in which the name leads to an object or an array that has members. */
  containers(name: string): Postings
  /** The events that may have anything in any attribute, as they have too much to be indexed. */
  readonly unindexed: Postings
}

// Longer texts are mostly told apart by their beginnings, and would fill the index.
const MAX_CHARS = 512

const SURROGATE = /[\uD800-\uDFFF]/

/**
 * The text as an index has it: so many of its first characters. As it is whole characters that count,
 * the beginnings are in the order of the texts.
 */
export function indexedText(text: string, most = MAX_CHARS): string {
  if (text.length <= most) return text
  const start = text.slice(0, most)
  if (!SURROGATE.test(start)) return start
  return Array.from(text.slice(0, 2 * most))
    .slice(0, most)
    .join('')
}

export const indexedValue = (value: Scalar): Scalar =>
  typeof value === 'string' ? indexedText(value) : value

const QUOTES = 2

/** Whether one of the lines, which are texts as JSON, may stand for longer texts too. */
export function mayHaveCut(lines: string): boolean {
  for (let at = 0; at + MAX_CHARS + QUOTES <= lines.length;) {
    const found = lines.indexOf('\n', at)
    const end = found < 0 ? lines.length : found
    if (end - at >= MAX_CHARS + QUOTES) return true
    at = end + 1
  }
  return false
}

/** True for what may stand for longer texts too. */
export const mayBeCut = (value: Scalar): boolean =>
  typeof value === 'string' && value.length >= MAX_CHARS
