import type { JsonValue } from '../event/event.js'
import type { Grouping } from '../filter/ast.js'
import type { Level } from '../event/level.js'
import type { Microseconds } from '../event/timestamp.js'

/** How often each level occurs; levels that do not are left out. */
export type LevelCounts = Readonly<Partial<Record<Level, number>>>

/** What is to be counted of the events that match. */
export interface CountsQuery {
  readonly where: Grouping | undefined
  /**
   * What may be seen at all, beside `where`: no facet leaves it out, and events outside of it show in
   * no figure and no bound. `undefined` is everything.
   */
  readonly visible: Grouping | undefined
  /** Counts over time; `undefined` for none. */
  readonly buckets: BucketsQuery | undefined
  /**
   * Attributes whose most frequent values are wanted, and `level`. Each is counted as if the query's
   * own conditions on it were left out.
   */
  readonly facets: readonly string[]
  /** Most values of a facet, 1 to 1000. */
  readonly top: number
  /** Whether the names of attributes that occur are wanted. */
  readonly attributes: boolean
  /**
   * Milliseconds after which the counts are those of a sample, scaled; with 0 always the same sample
   * of the same events.
   */
  readonly within: number
}

export interface BucketsQuery {
  /** Most of them, 1 to 1000. */
  readonly count: number
  /** The IANA time zone in whose round times they begin. */
  readonly zone: string
}

/** Matching events from one time to another, the end not included. */
export interface Bucket {
  /** RFC 3339, UTC. */
  readonly from: string
  readonly to: string
  readonly total: number
  readonly levels: LevelCounts
}

export interface Buckets {
  /** Of one bucket, in seconds; days and months of the zone may be longer or shorter. */
  readonly width: number
  readonly zone: string
  /** Oldest first, without gaps: those with no event are there too. Empty where nothing matches. */
  readonly buckets: readonly Bucket[]
}

export interface ValueCount {
  readonly value: JsonValue
  /** Events that have the value, once or several times. */
  readonly count: number
}

export interface Facet {
  /**
   * The most frequent first, equally frequent ones in the order of sorts. Text of more than 1000
   * characters is not among them.
   */
  readonly values: readonly ValueCount[]
  /**
   * How many different values were seen; 100,000, or four million characters of text, stand for more:
   * only the values that came first are counted then.
   */
  readonly distinct: number
  /** Events that have none. */
  readonly missing: number
}

/** The name of an attribute as filters know it: `request_body_name`. */
export interface SeenAttribute {
  readonly name: string
  /** JSON types of its values, the most frequent first. */
  readonly types: readonly ('string' | 'number' | 'boolean' | 'null')[]
  /** Events that have it. */
  readonly count: number
  /** Up to 5 of its most frequent values, of at most 100 characters. */
  readonly values: readonly ValueCount[]
}

/**
 * Figures over all events that match, not over a page of them. Where `sampled`, they are estimates
 * from `counted` matching events, spread over the whole stretch of time; else they are exact.
 */
export interface EventCounts {
  readonly total: number
  readonly levels: LevelCounts
  readonly buckets: Buckets | undefined
  /** By the names that were asked for. */
  readonly facets: Readonly<Record<string, Facet>>
  /** The 1000 most frequent at most, in this order; `undefined` where they were not asked for. */
  readonly attributes: readonly SeenAttribute[] | undefined
  readonly sampled: boolean
  readonly counted: number
  readonly took_ms: number
}

/** Beside the filter, what {@link AuditLog.count} takes. */
export interface CountOptions {
  /** Counts over time: at most so many buckets (1 to 1000, 96) in a time zone of IANA's (UTC). */
  readonly buckets?: { readonly count?: number; readonly zone?: string } | undefined
  /** At most 20 names of attributes, as filters know them, and `level`. @default none */
  readonly facets?: readonly string[] | undefined
  /** Most values of a facet, 1 to 1000. @default 5 */
  readonly top?: number | undefined
  /** Whether to tell which attributes occur. @default false */
  readonly attributes?: boolean | undefined
  /** Milliseconds, 0 to 60,000, after which a sample has to do. @default 2000 */
  readonly within?: number | undefined
  /** A further filter, which holds for facets too: what the asking user may see. */
  readonly visible?: Grouping | undefined
  readonly signal?: AbortSignal | undefined
}

/** A stretch of time, ends included. */
export interface TimeRange {
  readonly from: Microseconds
  readonly to: Microseconds
}
