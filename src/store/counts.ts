import type { JsonValue } from '../event/event.js'
import type { Grouping } from '../filter/ast.js'
import type { Level } from '../event/level.js'
import type { Microseconds } from '../event/timestamp.js'
import type { OptionNames } from '../options.js'

/** The number of events of each level. A level without events has no member. */
export type LevelCounts = Readonly<Partial<Record<Level, number>>>

/** Query of figures about the matching events. */
export interface CountsQuery {
  readonly where: Grouping | undefined
  /**
   * Filter of the events that the reader may see, in addition to `where`. It applies to every facet, and no figure or time
   * bound reveals an event outside of it. `undefined` means everything.
   */
  readonly visible: Grouping | undefined
  /** Settings of the counts over time; `undefined` for none. */
  readonly buckets: BucketsQuery | undefined
  /**
   * Attributes whose most frequent values to return; `level` is allowed too. Each is counted without
   * the query's own conditions on that attribute.
   */
  readonly facets: readonly string[]
  /** Maximum number of values per facet, 1 to 1000. */
  readonly top: number
  /** True to return the names of attributes that occur. */
  readonly attributes: boolean
  /** Time in milliseconds after which the count ends. With 0, the counted events are always the same. */
  readonly within: number
}

export interface BucketsQuery {
  /** Maximum number of buckets, 1 to 1000. */
  readonly count: number
  /** The IANA time zone whose full hours or days are the beginnings of the buckets. */
  readonly zone: string
}

/** The matching events of a time range, without its end. */
export interface Bucket {
  /** RFC 3339, UTC. */
  readonly from: string
  readonly to: string
  readonly total: number
  readonly levels: LevelCounts
  /**
   * Counted share of the bucket's time, from 0 to 1; left out for 1. `total / share` is right only if the events are
   * spread evenly over the bucket. Use it for the height of a bar, not as a number.
   */
  readonly share?: number
}

export interface Buckets {
  /** Width of one bucket in seconds. Days and months of the zone may be longer or shorter. */
  readonly width: number
  readonly zone: string
  /** Oldest first, without gaps: empty buckets are included. No buckets if no event matches. */
  readonly buckets: readonly Bucket[]
}

export interface ValueCount {
  readonly value: JsonValue
  /** Events that have the value at least once. */
  readonly count: number
}

export interface Facet {
  /**
   * The most frequent first; ties in the order that sorting uses. Text of more than 1000 characters
   * is left out.
   */
  readonly values: readonly ValueCount[]
  /**
   * Number of distinct values. Counting ignores new values after 100,000 values or four million characters of text.
   */
  readonly distinct: number
  /** Events without a value. */
  readonly missing: number
  /**
   * True if these figures are exact. Otherwise each figure is a lower bound. They may be lower bounds where the total
   * is exact.
   */
  readonly exact: boolean
}

/** An attribute by the name that filters use, such as `request_body_name`. */
export interface SeenAttribute {
  readonly name: string
  /** JSON types of its values, most frequent first. */
  readonly types: readonly ('string' | 'number' | 'boolean' | 'null')[]
  /** Events with the attribute. */
  readonly count: number
  /** Up to 5 of its most frequent values, of at most 100 characters. */
  readonly values: readonly ValueCount[]
}

/** Marks the exact figures. Other figures are lower bounds: the events that were counted when the time was over. */
export interface ExactFigures {
  readonly total: boolean
  readonly levels: boolean
  readonly buckets: boolean
  readonly attributes: boolean
}

/**
 * Figures for all matching events, not only for a page of them. A figure that is not exact is a lower bound, from
 * events that are spread over the whole time range. The total, the levels and the buckets do not depend on the
 * requested facets and attributes.
 */
export interface EventCounts {
  readonly total: number
  readonly levels: LevelCounts
  readonly buckets: Buckets | undefined
  /** Facets by the requested names. */
  readonly facets: Readonly<Record<string, Facet>>
  /** The most frequent attributes in this order, at most 1000; `undefined` if they were not requested. */
  readonly attributes: readonly SeenAttribute[] | undefined
  /** Figures that were not requested count as exact. Each facet has its own `exact`. */
  readonly exact: ExactFigures
  readonly took_ms: number
}

/** Options of {@link AuditLog.count}. */
export interface CountOptions {
  /** Counts over time: at most `count` buckets (1 to 1000, default 96) in an IANA time zone (default UTC). */
  readonly buckets?: { readonly count?: number; readonly zone?: string } | undefined
  /** At most 20 attributes, by the names that filters use, or `level`. @default none */
  readonly facets?: readonly string[] | undefined
  /** Most values of a facet, 1 to 1000. @default 5 */
  readonly top?: number | undefined
  /** True to return the attributes that occur. @default false */
  readonly attributes?: boolean | undefined
  /** Time in milliseconds, 0 to 60,000, after which incomplete figures become lower bounds. @default 2000 */
  readonly within?: number | undefined
  /** Filter of the events that the user may see. Facets respect it, too. */
  readonly visible?: Grouping | undefined
  readonly signal?: AbortSignal | undefined
  /** See {@link AuditLog.consistencyToken}. */
  readonly consistencyToken?: string | undefined
}

export const COUNT_OPTIONS: OptionNames<CountOptions> = {
  buckets: true,
  facets: true,
  top: true,
  attributes: true,
  within: true,
  visible: true,
  signal: true,
  consistencyToken: true,
}

export const BUCKETS_OPTIONS: OptionNames<NonNullable<CountOptions['buckets']>> = {
  count: true,
  zone: true,
}

/** A range of time, both ends included. */
export interface TimeRange {
  readonly from: Microseconds
  readonly to: Microseconds
}
