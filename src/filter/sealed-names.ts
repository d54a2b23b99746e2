import { AuditLogError } from '../errors.js'
import { concealedNames } from '../event/concealed.js'
import type { EventTypes } from '../event/event-types.js'
import { SEALED_DATA } from '../event/searched.js'
import type { EventQuery, Grouping } from './ast.js'

/** The names of attributes whose values are encrypted, as a query or a count may name them. */
export interface SealedNames {
  /** True if the name, or a name above it, is encrypted. */
  has(name: string): boolean
  /** Throws `SEALED_ATTRIBUTE` if one of the names is encrypted. */
  check(names: Iterable<string>, parameter: string): void
  /** Throws `SEALED_ATTRIBUTE` for a condition on an encrypted name. */
  checkWhere(where: Grouping | undefined): void
  /** As `checkWhere`, also for sorts. */
  checkQuery(query: EventQuery): void
  /** Throws `INVALID_OPTION` for such a condition in a filter of the host, which `option` names. */
  checkOption(where: Grouping | undefined, option: string): void
}

/** Members of the operations of a change, whose names every event with `changes` has. */
const OF_OPERATIONS: ReadonlySet<string> = new Set(
  ['op', 'path', 'value', 'old_value', 'cut', 'cut_bytes'].map((member) => `changes_${member}`),
)

/** No names: of a log that encrypts nothing. */
export const NO_SEALED_NAMES: SealedNames = {
  has: () => false,
  check() {},
  checkWhere() {},
  checkQuery() {},
  checkOption() {},
}

/**
 * The names that the types declare as personal, also in the states of a change, and the ciphertext itself. Those of custom events are
 * not known before they are recorded.
 */
export function sealedNames(types: EventTypes): SealedNames {
  const declared = Object.values(types).flatMap(({ personal = [] }) =>
    personal.flatMap(({ attributes }) => attributes),
  )
  const known = concealedNames([...new Set(declared)]).filter((name) => !OF_OPERATIONS.has(name))
  const names: ReadonlySet<string> = new Set([...known, SEALED_DATA])

  const has = (name: string): boolean => {
    if (names.has(name)) return true
    for (let end = name.indexOf('_'); end >= 0; end = name.indexOf('_', end + 1))
      if (names.has(name.slice(0, end))) return true
    return false
  }
  const check = (asked: Iterable<string>, parameter: string): void => {
    for (const name of asked) if (has(name)) throw sealedAttribute(name, parameter)
  }
  const checkWhere = (where: Grouping | undefined): void => {
    for (const { attributes, joinedName } of where?.conditions ?? [])
      check(joinedName === undefined ? attributes : [...attributes, joinedName], 'filter')
    for (const grouping of where?.groupings ?? []) checkWhere(grouping)
  }
  return {
    has,
    check,
    checkWhere,
    checkQuery({ where, sorts }) {
      check(
        sorts.map(({ attribute }) => attribute),
        'filter[sorts]',
      )
      checkWhere(where)
    },
    checkOption(where, option) {
      try {
        checkWhere(where)
      } catch (error) {
        const message = `${option}: ${(error as AuditLogError).message.replace(/^filter: /, '')}`
        throw new AuditLogError('INVALID_OPTION', message, { cause: error })
      }
    },
  }
}

const sealedAttribute = (name: string, parameter: string): AuditLogError =>
  new AuditLogError(
    'SEALED_ATTRIBUTE',
    `${parameter}: the attribute ${JSON.stringify(name)} is encrypted, so events cannot be found, sorted or counted by it; personal_subject finds the events of a person`,
    { parameter },
  )
