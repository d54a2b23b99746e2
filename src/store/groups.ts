import type { Grouping } from '../filter/ast.js'
import type { BucketsQuery } from './counts.js'
import type { OptionNames } from '../options.js'

/** A value of an attribute; null for events without one. */
export type GroupValue = string | number | boolean | null

/** Settings for grouping the matching events. */
export interface GroupsQuery {
  readonly where: Grouping | undefined
  /** Filter of the events that the reader may see, in addition to `where`. */
  readonly visible: Grouping | undefined
  /** One or two attributes; `level` is allowed too. */
  readonly by: readonly string[]
  /** Attributes for whose numbers percentiles are returned. */
  readonly numbers: readonly string[]
  /** Settings of the counts of each group over time; `undefined` for none. */
  readonly buckets: BucketsQuery | undefined
  /** Maximum number of groups to return. */
  readonly top: number
  /** Milliseconds after which reading stops and the figures are estimates. */
  readonly within: number
}

/** Options of {@link AuditLog.groups}. */
export interface GroupOptions {
  /** One or two attributes, by the names that filters use, or `level`. */
  readonly by: readonly string[]
  /** At most 5 attributes for whose numbers percentiles are returned. @default none */
  readonly numbers?: readonly string[] | undefined
  /** Counts of each group over time: at most `count` buckets (1 to 1000, default 96) in an IANA time zone (default UTC). */
  readonly buckets?: { readonly count?: number; readonly zone?: string } | undefined
  /** Maximum number of groups, 1 to 1000. @default 20 */
  readonly top?: number | undefined
  /** Milliseconds, 0 to 60,000, after which the figures are estimates. @default 2000 */
  readonly within?: number | undefined
  /** A further filter, of the events that the user may see. */
  readonly visible?: Grouping | undefined
  readonly signal?: AbortSignal | undefined
  /** See {@link AuditLog.consistencyToken}. */
  readonly consistencyToken?: string | undefined
}

export const GROUP_OPTIONS: OptionNames<GroupOptions> = {
  by: true,
  numbers: true,
  buckets: true,
  top: true,
  within: true,
  visible: true,
  signal: true,
  consistencyToken: true,
}

/** A percentile: the smallest number that is not less than this share of the numbers. */
export interface Percentile {
  readonly value: number
  /**
   * The ends of the 95 % confidence interval, both equal to `value` if it is exact. An end is null if the read
   * numbers do not bound it.
   */
  readonly low: number | null
  readonly high: number | null
}

/** Percentiles of the numbers of an attribute. */
export interface NumberSummary {
  /** True if they are computed from all numbers of the group. */
  readonly exact: boolean
  /** Number of numbers that were read. */
  readonly read: number
  readonly p50: Percentile
  readonly p95: Percentile
  readonly p99: Percentile
}

/** The matching events with these values. */
export interface EventGroup {
  /** One value for each attribute of `by`. */
  readonly values: readonly GroupValue[]
  readonly count: number
  /** True if `count` is exact. Otherwise it is an estimate. */
  readonly exact: boolean
  /** The 95 % confidence interval of `count` is `count` ± `error`; 0 if it is exact. */
  readonly error: number
  /** Events in each bucket, scaled to `count`; `undefined` without buckets, and if no event of the group was read. */
  readonly buckets: readonly number[] | undefined
  /** Figures by attribute, without attributes that have no numbers in the group. */
  readonly numbers: Readonly<Record<string, NumberSummary>>
}

/** The most frequent combinations of values. An event with several values of an attribute is in several groups. */
export interface EventGroups {
  readonly by: readonly string[]
  /** The most frequent first; ties in the order of their values, events without a value last. */
  readonly groups: readonly EventGroup[]
  /** Number of groups; a lower bound unless `exact.groups`. Counting stops at 100,000 groups. */
  readonly distinct: number
  /** Number of matching events. */
  readonly total: number
  readonly exact: {
    /** True if `total` is exact. */
    readonly total: boolean
    /** True if no group is missing and each count is exact. Otherwise frequent groups may still be missing. */
    readonly groups: boolean
  }
  /** Number of matching events that were read. */
  readonly read: number
  /**
   * The edges of the groups' buckets: bucket i begins at edge i and ends before edge i + 1. `undefined` if none were
   * requested.
   */
  readonly buckets:
    | { readonly width: number; readonly zone: string; readonly edges: readonly string[] }
    | undefined
  readonly took_ms: number
}
