import { AuditLogError } from '../errors.js'
import type { JsonObject } from '../event/event.js'
import { formatQuery } from '../filter/format.js'
import { parseQuery } from '../filter/parse.js'

/** A named query, with the display settings of the audit page. It never lets a reader see more events. */
export interface View {
  readonly id: string
  readonly name: string
  /**
   * Filter and sorts as a query string; empty for all events. An absolute time range is a part of it, as bounds of
   * `created_at`.
   */
  readonly query: string
  /** A relative time range, such as `24h`; null without one. */
  readonly range: string | null
  /**
   * Members of the page's address that are not part of the query, by name, such as `columns`, `facets` and `zone`.
   */
  readonly display: Readonly<Record<string, string>>
  /** True if all users who may list views see it. */
  readonly shared: boolean
  /** The user who made it. */
  readonly owner: string
  readonly created_at: string
  readonly updated_at: string
}

/** The members of a view that users set. */
export type ViewDefinition = Pick<View, 'name' | 'query' | 'range' | 'display' | 'shared'>

/** Lengths are in UTF-16 code units. */
export const VIEW_LIMITS = {
  views: 1000,
  viewsOfOwner: 100,
  name: 200,
  query: 8000,
  range: 200,
  displayMembers: 20,
  display: 8000,
} as const

export const DISPLAY_NAME = /^[a-z][a-z0-9_]{0,31}$/

// Line breaks of Unicode are no control characters.
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u

const invalid = (member: string, problem: string): AuditLogError =>
  new AuditLogError('INVALID_VIEW', `${member} ${problem}`, { pointer: `/${member}` })

function readText(member: 'name' | 'range', value: unknown): string {
  const max = VIEW_LIMITS[member]
  const text = typeof value === 'string' ? value.trim() : ''
  if (text === '' || text.length > max || CONTROL.test(text))
    throw invalid(member, `must be a text of 1 to ${max} characters without control characters`)
  return text
}

/** The query as `formatQuery` writes it, so that the same query always has the same text. */
function readQueryText(value: unknown): string {
  if (typeof value !== 'string' || value.length > VIEW_LIMITS.query)
    throw invalid('query', `must be a query string of at most ${VIEW_LIMITS.query} characters`)
  let query
  try {
    query = parseQuery(value, { maxLimit: Infinity })
  } catch (error) {
    const { message, parameter, suggestion } = error as AuditLogError
    const details = { pointer: '/query', parameter, suggestion, cause: error }
    throw new AuditLogError('INVALID_VIEW', `query: ${message}`, details)
  }
  if (query.limit !== Infinity) throw invalid('query', 'cannot have a limit')
  return formatQuery({ ...query, limit: 1 }).replace(/&?limit=1$/, '')
}

function readDisplay(value: unknown): Readonly<Record<string, string>> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw invalid('display', 'must be an object of texts')
  const members = Object.entries(value as JsonObject)
  if (members.length > VIEW_LIMITS.displayMembers)
    throw invalid('display', `has at most ${VIEW_LIMITS.displayMembers} members`)
  let length = 0
  for (const [name, text] of members) {
    if (!DISPLAY_NAME.test(name))
      throw invalid('display', `cannot have the member ${JSON.stringify(name)}`)
    if (typeof text !== 'string' || CONTROL.test(text))
      throw invalid(`display/${name}`, 'must be a text without control characters')
    length += text.length
  }
  if (length > VIEW_LIMITS.display)
    throw invalid('display', `has at most ${VIEW_LIMITS.display} characters`)
  return Object.fromEntries(members) as Record<string, string>
}

function readShared(value: unknown): boolean {
  if (typeof value !== 'boolean') throw invalid('shared', 'must be true or false')
  return value
}

const readers: { readonly [Name in keyof ViewDefinition]: (value: unknown) => View[Name] } = {
  name: (value) => readText('name', value),
  query: readQueryText,
  range: (value) => (value === null ? null : readText('range', value)),
  display: readDisplay,
  shared: readShared,
}

export const SETTABLE = Object.keys(readers) as readonly (keyof ViewDefinition)[]

/** The members that are given. Throws `INVALID_VIEW` with a pointer to the wrong member. */
export function readChange(given: JsonObject): Partial<ViewDefinition> {
  const members = SETTABLE.filter((name) => given[name] !== undefined)
  return Object.fromEntries(members.map((name) => [name, readers[name](given[name])]))
}

/** A new view; only `name` is required. Throws `INVALID_VIEW` with a pointer to the wrong member. */
export function readDefinition(given: JsonObject): ViewDefinition {
  if (given['name'] === undefined) throw invalid('name', 'is missing')
  const change = readChange(given)
  return { name: '', query: '', range: null, display: {}, shared: false, ...change }
}
