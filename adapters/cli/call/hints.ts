import type { AuditEvent } from '../../../src/event/event.js'
import { didYouMean, nearest } from '../../../src/event/nearest.js'
import { ANY_TEXT } from '../../../src/event/own-fields.js'
import { type EventQuery, type Grouping, MAX_LIMIT } from '../../../src/filter/ast.js'
import { KNOWN_ATTRIBUTES, missingAttributes } from '../../../src/filter/missing-attributes.js'
import type { OpenLog } from '../log/log.js'
import { printNotice } from '../terminal/notice.js'
import type { Call } from './command.js'

/** Time limit of a hint, in milliseconds. */
const WITHIN_MS = 2000

const attributesIn = (where: Grouping | undefined): readonly string[] =>
  where
    ? [
        ...where.conditions.flatMap(({ attributes }) => attributes),
        ...where.groupings.flatMap(attributesIn),
      ]
    : []

const ALL: EventQuery = { where: undefined, sorts: [], limit: MAX_LIMIT }

/** The names of existing attributes; empty if the user may not count. */
async function occurring(log: OpenLog, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const { attributes = [] } = await log.count(ALL, {
      attributes: true,
      within: WITHIN_MS / 2,
      signal,
    })
    return attributes.map(({ name }) => name)
  } catch {
    return []
  }
}

/**
 * Prints to stderr the attributes of the query that no event has, and similar names. `read` are events that were read
 * already. Prints nothing if the answer takes too long.
 */
export async function hintAtMissing(
  { terminal, options }: Pick<Call, 'terminal' | 'options'>,
  log: OpenLog,
  { where, sorts }: EventQuery,
  read: readonly AuditEvent[] = [],
): Promise<void> {
  const names = [...attributesIn(where), ...sorts.map(({ attribute }) => attribute)]
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), WITHIN_MS)
  const signal = AbortSignal.any([terminal.signal, late.signal])
  try {
    const list = (query: EventQuery) => log.list(query, { signal })
    const missing = await missingAttributes(
      list,
      names.filter((name) => name !== ANY_TEXT),
      read,
    )
    if (missing.length === 0) return
    const known = [...KNOWN_ATTRIBUTES, ...(await occurring(log, signal))]
    for (const name of missing)
      printNotice(
        terminal,
        `no event has the attribute ${JSON.stringify(name)}${didYouMean(nearest(name, known))}`,
        options['json'] === true,
      )
  } catch {
    // A failure is ignored, because this is only a hint.
  } finally {
    clearTimeout(timer)
  }
}
