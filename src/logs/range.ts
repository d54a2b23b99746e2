import { bothOf, oneCondition } from '../filter/ast.js'
import { parsePlaces } from './cursor.js'
import { type BoundOf, LOGS_OPTIONS, type LogsOptions } from './named-logs.js'
import type { OptionNames } from '../options.js'

/** Selection of the events that a call reads. */
export interface LogsUntilOptions extends LogsOptions {
  /** Includes only events up to this cursor, such as a cursor of `AuditLogs.cursor`. @default all */
  readonly until?: string | undefined
}

export const LOGS_UNTIL_OPTIONS: OptionNames<LogsUntilOptions> = { ...LOGS_OPTIONS, until: true }

/** Selection of the events that a call reads. */
export interface LogsRangeOptions extends LogsUntilOptions {
  /** Includes only events after this cursor. @default all */
  readonly cursor?: string | undefined
}

export const LOGS_RANGE_OPTIONS: OptionNames<LogsRangeOptions> = {
  ...LOGS_UNTIL_OPTIONS,
  cursor: true,
}

/** The bounds of the range in each log; `undefined` for the whole logs. Throws `INVALID_VALUE`. */
export function rangeOf({
  cursor,
  until,
}: Pick<LogsRangeOptions, 'cursor' | 'until'>): BoundOf | undefined {
  if (cursor === undefined && until === undefined) return undefined
  const from = cursor === undefined ? undefined : parsePlaces(cursor)
  const to = until === undefined ? undefined : parsePlaces(until, 'until')
  return (log) =>
    bothOf(
      from && oneCondition('created_at', 'gt', [from.after(log)]),
      to && oneCondition('created_at', 'lteq', [to.after(log)]),
    )
}
