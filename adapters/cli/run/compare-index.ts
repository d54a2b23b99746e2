import type { AuditEvent, AuditLog } from 'daybook'
import type { JsonValue } from '../../../src/event/event.js'
import { formatTimestamp, type Microseconds, parseTimestamp } from '../../../src/event/timestamp.js'
import { bothOf, type EventQuery, type Grouping, oneCondition } from '../../../src/filter/ast.js'
import { compileFilter } from '../../../src/filter/evaluate.js'
import { formatQuery } from '../../../src/filter/format.js'

/** A filter for which the index has another number of events than the events themselves. */
export interface IndexDifference {
  /** As in a query string. */
  readonly filter: string
  readonly read: number
  readonly counted: number
}

export interface CompareOptions {
  /** True to compare over all events, false over a part of a large log. */
  readonly all: boolean
  readonly signal: AbortSignal
  readonly onProgress: (done: number, total: number) => void
}

const FILTERS = 16
/** The events of a part. Counts of fewer than some 30,000 events need no index. */
const PART = 100_000
const MAX_VALUE_LENGTH = 200
const COUNT_WITHIN_MS = 60_000

const query = (
  where: Grouping | undefined,
  direction: 'asc' | 'desc',
  limit = 1000,
): EventQuery => ({
  where,
  sorts: [{ attribute: 'created_at', direction }],
  limit,
})

const from = (time: string): Grouping => oneCondition('created_at', 'gteq', [time])
const between = (first: string, last: string): Grouping => ({
  combinator: 'and',
  conditions: [from(first), oneCondition('created_at', 'lteq', [last])].flatMap(
    ({ conditions }) => conditions,
  ),
  groupings: [],
})

const oneOf = <Item>(items: readonly Item[]): Item =>
  items[Math.floor(Math.random() * items.length)]!

/** The names and values of an object, and of the objects in it, as queries name them. */
function* scalarsOf(value: JsonValue, name: string): Generator<readonly [string, string]> {
  if (value === null || value === '') return
  if (typeof value !== 'object') {
    const text = String(value)
    if (name !== '' && text.length <= MAX_VALUE_LENGTH) yield [name, text]
  } else if (!Array.isArray(value)) {
    for (const [key, member] of Object.entries(value as Readonly<Record<string, JsonValue>>))
      yield* scalarsOf(member, name === '' ? key : `${name}_${key}`)
  }
}

/** A filter that finds the event by one of its values. */
function filterFor({ type, username, attributes }: AuditEvent): Grouping {
  const own: (readonly [string, string])[] = [['type', type]]
  if (username !== null) own.push(['username', username])
  const [name, value] = oneOf([...own, ...scalarsOf(attributes, '')])
  return oneCondition(name, 'eq', [value])
}

/** Filters for events at random times of the range. */
async function chooseFilters(
  audit: AuditLog,
  [first, last]: readonly [Microseconds, Microseconds],
  signal: AbortSignal,
): Promise<readonly Grouping[]> {
  const filters = new Map<string, Grouping>()
  for (let n = 0; n < FILTERS; n++) {
    const time = first + Math.floor(Math.random() * (last - first + 1))
    const { events } = await audit.list(query(from(formatTimestamp(time)), 'asc', 1), { signal })
    const filter = events[0] && filterFor(events[0])
    if (filter) filters.set(formatQuery(query(filter, 'asc')), filter)
  }
  return [...filters.values()]
}

const timeOf = ({ created_at }: AuditEvent): Microseconds => parseTimestamp(created_at)!

/** Counts events by reading them, and by the index. Resolves to the differences. */
async function compare(
  audit: AuditLog,
  filters: readonly Grouping[],
  first: string,
  { all, last, signal, onProgress }: CompareOptions & { readonly last: string },
): Promise<readonly (IndexDifference & { readonly where: Grouping })[]> {
  const count = async (where: Grouping): Promise<number | undefined> => {
    const { total, exact } = await audit.count(query(where, 'asc'), {
      signal,
      within: COUNT_WITHIN_MS,
    })
    return exact.total ? total : undefined
  }
  const total = await count(between(first, last))
  const matchers = filters.map(compileFilter)
  const read = filters.map(() => 0)
  let done = 0
  let end = first
  for await (const page of audit.pages(query(between(first, last), 'asc'), { signal })) {
    for (const event of page)
      for (const [i, matches] of matchers.entries()) if (matches(event)) read[i]!++
    done += page.length
    end = page.at(-1)!.created_at
    onProgress(done, all ? (total ?? done) : Math.min(total ?? done, PART))
    if (!all && done >= PART) break
  }
  const range = between(first, end)
  // Events that were removed or imported meanwhile are not differences.
  if ((await count(range)) !== done) return []
  const differences = []
  for (const [i, filter] of filters.entries()) {
    const counted = await count(bothOf(filter, range)!)
    if (counted !== undefined && counted !== read[i])
      differences.push({
        filter: formatQuery(query(filter, 'asc')).replace(/&?filter\[sorts\].*$/, ''),
        read: read[i]!,
        counted,
        where: filter,
      })
  }
  return differences
}

/**
 * Compares the index with the events: counts of random values that events have, by the index and by reading the events. A
 * difference counts only if it is found twice, because live events may change meanwhile.
 */
export async function compareIndex(
  audit: AuditLog,
  options: CompareOptions,
): Promise<readonly IndexDifference[]> {
  const { all, signal } = options
  const [oldest] = (await audit.list(query(undefined, 'asc', 1), { signal })).events
  const [newest] = (await audit.list(query(undefined, 'desc', 1), { signal })).events
  if (!oldest || !newest) return []
  const { total } = await audit.count('', { signal })
  // A part must not begin among the last events.
  const latest = total <= PART ? 0 : 1 - PART / total
  const [start, end] = [timeOf(oldest), timeOf(newest)]
  const begin = all ? start : start + Math.floor(Math.random() * latest * (end - start))
  const last = newest.created_at
  const first = formatTimestamp(begin)
  const part = all ? end : begin + Math.ceil(Math.min(1, PART / total) * (end - start))
  const filters = await chooseFilters(audit, [begin, Math.min(part, end)], signal)
  const found = await compare(audit, filters, first, { ...options, last })
  if (found.length === 0) return []
  const again = await compare(
    audit,
    found.map(({ where }) => where),
    first,
    { ...options, last },
  )
  return again.map(({ filter, read, counted }) => ({ filter, read, counted }))
}
