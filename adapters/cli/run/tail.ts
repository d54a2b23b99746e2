import { formatTimestamp } from '../../../src/event/timestamp.js'
import { type Level, LEVEL_PREFIXES, LEVELS } from '../../../src/event/level.js'
import { bothOf, type EventQuery, type Grouping, oneCondition } from '../../../src/filter/ast.js'
import type { Call } from '../call/command.js'
import { hintAtMissing } from '../call/hints.js'
import { readQuery } from '../call/query.js'
import { readTime } from '../call/times.js'
import { messageOf } from '../terminal/exit-codes.js'
import { printNotice } from '../terminal/notice.js'
import { rowWriter } from '../call/rows.js'
import { usageError } from '../terminal/exit-codes.js'

/** The `created_at` after which the tail begins; `undefined` for new events only. */
function startOf(options: Call['options']): string | undefined {
  const { since, after } = options
  if (since !== undefined && after !== undefined)
    throw usageError('--since and --after cannot be used together')
  if (typeof after === 'string') return formatTimestamp(readTime(after, '--after', options))
  // Events at this time itself are included.
  return typeof since === 'string'
    ? formatTimestamp(readTime(since, '--since', options) - 1)
    : undefined
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
  const { since: _start, ...others } = options
  const query = readQuery({ ...call, options: others })
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
  await hintAtMissing(call, log, query)
  for await (const event of log.tail(wanted, { after, signal: terminal.signal, onOutage }))
    await rows.write(event)
}
