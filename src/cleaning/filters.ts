import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { parseActing } from '../filter/acting-filter.js'
import type { Grouping } from '../filter/ast.js'
import { compileFilter } from '../filter/evaluate.js'
import { formatQuery } from '../filter/format.js'
import type { QueryInput } from '../filter/query-input.js'
import type { SealedNames } from '../filter/sealed-names.js'
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
 * Reads a filter. Throws `INVALID_OPTION`, with a message that begins with `at`, for sorts, a limit, a filter without
 * conditions, which would match all events, for a part that would be left out, and for an encrypted attribute, which would match no event.
 */
export function readFilter(given: QueryInput, at: string, names: SealedNames): Filter {
  const where = parse(given, at)
  names.checkOption(where, at)
  if (!where)
    throw new AuditLogError(
      'INVALID_OPTION',
      `${at} has no condition, so it would match all events`,
    )
  const text = formatQuery({ where, sorts: [], limit: 1 }).replace(/&limit=1$/, '')
  return { where, matches: compileFilter(where), text }
}

function parse(given: QueryInput, at: string): Grouping | undefined {
  try {
    return parseActing(given)
  } catch (error) {
    const { message, parameter, suggestion } = error as AuditLogError
    const details = { parameter, suggestion, cause: error }
    throw new AuditLogError('INVALID_OPTION', `${at}: ${message}`, details)
  }
}

/** Throws `INVALID_OPTION` for an invalid hold, and any error of the host's function. */
export async function readHolds(
  given: CleaningOptions['holds'] = [],
  names: SealedNames,
): Promise<Holds> {
  return checkHolds(typeof given === 'function' ? await given() : given, names)
}

/** `undefined` is not a default here: a function that forgets to return its holds must not let events be removed. */
export function checkHolds(
  holds: Exclude<CleaningOptions['holds'], () => unknown>,
  names: SealedNames,
): Holds {
  if (!Array.isArray(holds)) throw new AuditLogError('INVALID_OPTION', 'holds must be a list')
  return holds.map((hold: unknown, index) => {
    checkOptions(hold, LEGAL_HOLD, `legal hold ${index}`)
    const { name, filter } = Object(hold) as LegalHold
    return readFilter(filter, `legal hold ${name ?? index}: filter`, names)
  })
}
