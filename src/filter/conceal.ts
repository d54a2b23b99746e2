import { AuditLogError } from '../errors.js'
import { concealedNames, concealer } from '../event/concealed.js'
import type { AuditEvent } from '../event/event.js'
import type { LinkTable } from '../event/links.js'
import { ANY_TEXT, isOwnField, SOURCE } from '../event/own-fields.js'
import type { Condition, EventQuery, Grouping } from './ast.js'

/** The attributes that a user does not see, by the names that filters use. */
export type Concealed = readonly string[]

/** The view of a log without some attributes. */
export interface Concealment {
  /** Sorted. Equal for equal views. */
  readonly names: readonly string[]
  /** The event without the attributes. */
  event(event: AuditEvent): AuditEvent
  /** The filter as one on events without the attributes. Throws `UNKNOWN_ATTRIBUTE` for a condition on one of them. */
  where(where: Grouping | undefined): Grouping | undefined
  /** As `where`, and throws `UNKNOWN_ATTRIBUTE` for a sort by one of the attributes. */
  query(query: EventQuery): EventQuery
  /** Throws `UNKNOWN_ATTRIBUTE` if the values of one of these attributes may be concealed. */
  check(names: Iterable<string>, parameter: string): void
  /** True if values of the attribute may be concealed. */
  hides(name: string): boolean
}

/** Attributes of which parts are concealed that their names do not tell. */
const IN_PART = /^(?:changes|recording)(?:_|$)/

/** The names. Throws `INVALID_OPTION` for anything but a list of names of attributes. */
export function readNames(given: Concealed): readonly string[] {
  const fault = (message: string): AuditLogError =>
    new AuditLogError('INVALID_OPTION', `conceal: ${message}`)
  if (!Array.isArray(given))
    throw fault('must return a list of names of attributes; return [] to conceal nothing')
  for (const name of given) {
    if (typeof name !== 'string' || name === '' || name === ANY_TEXT)
      throw fault(`${JSON.stringify(name)} is no name of an attribute`)
    if (isOwnField(name))
      throw fault(`${name} is a field that each event has; only attributes can be concealed`)
  }
  return given
}

/**
 * Reads the result of the host's `conceal`; `undefined` if nothing is concealed. A link attribute conceals the source, because
 * that is made from it. Throws `INVALID_OPTION`, also for `undefined`, null and names of own fields.
 */
export function readConcealed(given: Concealed, links: LinkTable): Concealment | undefined {
  const names = new Set(readNames(given))
  if (names.size === 0) return undefined
  if (links.some(({ attribute }) => names.has(attribute))) names.add(SOURCE)
  return concealmentOf([...names].toSorted())
}

/** The attributes that at least one of the views lacks. */
export function unionOf(views: readonly (Concealment | undefined)[]): Concealment | undefined {
  const names = new Set(views.flatMap((view) => view?.names ?? []))
  return names.size > 0 ? concealmentOf([...names].toSorted()) : undefined
}

function concealmentOf(names: readonly string[]): Concealment {
  const all = concealedNames(names)
  const leadsInto = (name: string): boolean =>
    all.some((one) => name === one || name.startsWith(`${one}_`))
  const isAbove = (name: string): boolean => all.some((one) => one.startsWith(`${name}_`))
  const hides = (name: string): boolean => leadsInto(name) || IN_PART.test(name)

  const refuse = (name: string, parameter: string): never => {
    const message = `${parameter}: the attribute ${JSON.stringify(name)} is not available to this user`
    throw new AuditLogError('UNKNOWN_ATTRIBUTE', message, { parameter })
  }
  const condition = (one: Condition): Condition => {
    const { attributes, joinedName } = one
    const reached = joinedName === undefined ? attributes : [...attributes, joinedName]
    const concealed = reached.find(leadsInto)
    if (concealed !== undefined) refuse(concealed, 'filter')
    const isPart = (name: string): boolean =>
      name === ANY_TEXT || IN_PART.test(name) || isAbove(name)
    return reached.some(isPart) ? { ...one, concealed: names } : one
  }
  const grouping = ({ conditions, groupings, ...rest }: Grouping): Grouping => ({
    ...rest,
    conditions: conditions.map(condition),
    groupings: groupings.map(grouping),
  })
  const check = (asked: Iterable<string>, parameter: string): void => {
    for (const name of asked) if (hides(name)) refuse(name, parameter)
  }
  return {
    names,
    event: concealer(names),
    where: (where) => where && grouping(where),
    query(query) {
      const sorts = query.sorts.map(({ attribute }) => attribute)
      check(sorts, 'filter[sorts]')
      return { ...query, where: query.where && grouping(query.where) }
    },
    check,
    hides,
  }
}
