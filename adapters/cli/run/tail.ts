import {
  DAY,
  formatTimestamp,
  HOUR,
  MINUTE,
  parseTimestamp,
  SECOND,
  systemClock,
} from '../../../src/event/timestamp.js'
import { type Level, LEVEL_PREFIXES, LEVELS } from '../../../src/event/level.js'
import { bothOf, type EventQuery, type Grouping, oneCondition } from '../../../src/filter/ast.js'
import type { Call } from '../call/command.js'
import { readQuery } from '../call/query.js'
import { messageOf } from '../terminal/exit-codes.js'
import { printNotice } from '../terminal/notice.js'
import { rowWriter } from '../call/rows.js'
import { usageError } from '../terminal/exit-codes.js'

const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY }

/** The `created_at` after which to begin, `undefined` for new events only. */
function startOf({ since, after }: Readonly<Record<string, unknown>>): string | undefined {
  if (since !== undefined && after !== undefined)
    throw usageError('--since and --after cannot be used together')
  if (typeof after === 'string') {
    const time = parseTimestamp(after)
    if (time === undefined) throw usageError(`--after ${after}: must be a created_at (ISO 8601)`)
    return formatTimestamp(time)
  }
  if (typeof since !== 'string') return undefined
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(since) ?? []
  const time =
    count === undefined ? parseTimestamp(since) : systemClock()() - Number(count) * UNITS[unit!]!
  if (time === undefined)
    throw usageError(`--since ${since}: must be 30s, 10m, 2h or 7d, or a time (ISO 8601)`)
  // Events at this time itself are included.
  return formatTimestamp(time - 1)
}

const prefixesOf = (level: Level): readonly string[] =>
  level === 'custom' ? [] : LEVEL_PREFIXES[level]

/** The query for events of these levels only. */
function withLevels(query: EventQuery, levels: readonly Level[] | undefined): EventQuery {
  if (!levels) return query
  const known = oneCondition('type', 'start_any', levels.flatMap(prefixesOf))
  // Any other type is custom.
  const custom = oneCondition('type', 'not_start_all', LEVELS.flatMap(prefixesOf))
  const groupings = [
    ...(levels.some((level) => level !== 'custom') ? [known] : []),
    ...(levels.includes('custom') ? [custom] : []),
  ]
  const where: Grouping = { combinator: 'or', conditions: [], groupings }
  return { ...query, where: bothOf(query.where, where) }
}

export async function run(call: Call): Promise<void> {
  const { options, terminal } = call
  const query = readQuery(call)
  if (query.sorts.length > 0)
    throw usageError('filter[sorts]: tail has one order, that of recording')
  const after = startOf(options)
  const log = await call.openLog()
  const rows = rowWriter(call, log)
  const onOutage = (error: unknown): void => {
    const text =
      error === undefined ? 'connected again' : `waiting for the log: ${messageOf(error)}`
    printNotice(terminal, text, options['json'] === true)
  }
  const wanted = withLevels(query, options['level'] as readonly Level[] | undefined)
  for await (const event of log.tail(wanted, { after, signal: terminal.signal, onOutage }))
    await rows.write(event)
}
