import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { EventQuery, Grouping } from '../filter/ast.js'
import { compileFilter } from '../filter/evaluate.js'
import { formatQuery } from '../filter/format.js'
import { parseQuery } from '../filter/parse.js'
import type { QueryInput } from '../filter/query-input.js'
import { checkOptions } from '../options.js'
import { type CleaningOptions, LEGAL_HOLD, type LegalHold } from './rule.js'

export interface Filter {
  readonly where: Grouping
  readonly matches: (event: AuditEvent) => boolean
  /** As a query string. */
  readonly text: string
}

/** Filters of the events that no rule removes. */
export type Holds = readonly Filter[]

/**
 * Reads a filter. Throws `INVALID_OPTION`, with a message that begins with `at`, for sorts, a limit,
 * and a filter without conditions, which would match all events.
 */
export function readFilter(given: QueryInput, at: string): Filter {
  const { where, sorts, limit } = parse(given, at)
  const fault = (message: string): AuditLogError =>
    new AuditLogError('INVALID_OPTION', `${at} ${message}`)
  if (sorts.length > 0) throw fault('cannot have sorts')
  if (limit !== Infinity) throw fault('cannot have a limit')
  if (!where) throw fault('has no condition, so it would match all events')
  const text = formatQuery({ where, sorts: [], limit: 1 }).replace(/&limit=1$/, '')
  return { where, matches: compileFilter(where), text }
}

/** The limit is `Infinity` if none is given. */
function parse(given: QueryInput, at: string): EventQuery {
  const isParsed =
    given !== null && typeof given === 'object' && 'where' in given && 'sorts' in given
  if (isParsed) return { ...given, limit: Infinity }
  try {
    return parseQuery(given, { maxLimit: Infinity })
  } catch (error) {
    const { message, parameter, suggestion } = error as AuditLogError
    const details = { parameter, suggestion, cause: error }
    throw new AuditLogError('INVALID_OPTION', `${at}: ${message}`, details)
  }
}

/** Throws `INVALID_OPTION` for an invalid hold, and any error of the host's function. */
export async function readHolds(given: CleaningOptions['holds'] = []): Promise<Holds> {
  return checkHolds(typeof given === 'function' ? await given() : given)
}

export function checkHolds(holds: Exclude<CleaningOptions['holds'], () => unknown> = []): Holds {
  if (!Array.isArray(holds)) throw new AuditLogError('INVALID_OPTION', 'holds must be a list')
  return holds.map((hold: unknown, index) => {
    checkOptions(hold, LEGAL_HOLD, `legal hold ${index}`)
    const { name, filter } = Object(hold) as LegalHold
    return readFilter(filter, `legal hold ${name ?? index}: filter`)
  })
}
