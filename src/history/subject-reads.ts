import { parseEventId } from '../event/event-id.js'
import type { AuditEvent } from '../event/event.js'
import { linkPath, type LinkRules } from '../event/links.js'
import { type EventQuery, type Grouping, MAX_LIMIT } from '../filter/ast.js'
import { allOf, type HistoryResource, identityOf, test } from './history.js'

/** The reads of a resource by one user. */
export interface SubjectRead {
  /** Null if there was no user. */
  readonly username: string | null
  /** The times of the first and the last read, in the form of `created_at`. */
  readonly first: string
  readonly last: string
  readonly count: number
  /** False if another process counts the reads, or was killed while it counted: reads of its last second may be missing. */
  readonly exact: boolean
}

/** The path of the resource; `undefined` if its attributes do not give one. */
function pathOf(resource: HistoryResource, rules: LinkRules): string | undefined {
  if (typeof resource === 'string') return resource
  const [[name, value] = ['', ''], ...more] = Object.entries(resource)
  const rule = rules.get(name)
  return rule && more.length === 0 && typeof value !== 'boolean' ? linkPath(rule, value) : undefined
}

/** Reads of the list that holds the resource, whose responses named it. */
function listed(path: string | undefined): readonly Grouping[] {
  const at = path?.lastIndexOf('/') ?? -1
  if (path === undefined || at < 1) return []
  return [
    allOf([
      test('source', 'eq', [path.slice(0, at)]),
      test('read_ids', 'eq', [path.slice(at + 1)]),
    ]),
  ]
}

/** The query for the events of reads of the resource. Throws `INVALID_VALUE`. */
export function subjectReadsQuery(resource: HistoryResource, rules: LinkRules): EventQuery {
  const identity = identityOf(resource)
  const path = pathOf(resource, rules)
  const named = allOf(identity.map(([name, value]) => test(name, 'eq', [String(value)])))
  const bySource = path === undefined ? [] : [allOf([test('source', 'eq', [path])])]
  const found: Grouping = {
    combinator: 'or',
    conditions: [],
    groupings: [named, ...bySource, ...listed(path)],
  }
  return {
    where: {
      combinator: 'and',
      conditions: [test('system', 'true'), test('access', 'eq', ['read'])],
      groupings: [found],
    },
    sorts: [{ attribute: 'created_at', direction: 'asc' }],
    limit: MAX_LIMIT,
  }
}

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise

/** The reads that an event stands for. */
function readOf({ username, created_at, attributes }: AuditEvent): SubjectRead {
  const { collapsed, count, first_at, last_at, interrupted } = attributes
  if (collapsed !== true || typeof count !== 'number')
    return { username, first: created_at, last: created_at, count: 1, exact: true }
  const first = textOr(first_at, created_at)
  const last = textOr(last_at, created_at)
  return { username, first, last, count, exact: interrupted !== true }
}

const suffixOf = ({ id }: AuditEvent): string => parseEventId(id)?.suffix ?? id

const added = (a: SubjectRead, b: SubjectRead): SubjectRead => ({
  username: a.username,
  first: a.first < b.first ? a.first : b.first,
  last: a.last > b.last ? a.last : b.last,
  count: a.count + b.count,
  exact: a.exact && b.exact,
})

/**
 * The reads by user, the first reader first. `counted` are events that will be recorded, unless the pages have them. Keeps one page of
 * events, and a row for each user.
 */
export async function subjectReadsOf(
  pages: AsyncIterable<readonly AuditEvent[]>,
  counted: readonly AuditEvent[],
): Promise<readonly SubjectRead[]> {
  const rows = new Map<string | null, SubjectRead>()
  const left = new Map(counted.map((event) => [suffixOf(event), event]))
  const add = (event: AuditEvent): void => {
    const read = readOf(event)
    const known = rows.get(read.username)
    rows.set(read.username, known ? added(known, read) : read)
    left.delete(suffixOf(event))
  }
  for await (const events of pages) for (const event of events) add(event)
  for (const event of left.values()) add(event)
  return [...rows.values()].toSorted((a, b) => (a.first < b.first ? -1 : 1))
}
