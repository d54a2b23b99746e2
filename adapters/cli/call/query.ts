import { AuditLogError } from '../../../src/errors.js'
import { DAY, formatTimestamp, HOUR, MINUTE, systemClock } from '../../../src/event/timestamp.js'
import { bothOf, type EventQuery, oneCondition } from '../../../src/filter/ast.js'
import { parseQuery } from '../../../src/filter/parse.js'
import type { Target } from '../log/target.js'
import { usageError } from '../terminal/exit-codes.js'
import type { Call, Option } from './command.js'
import { readTime, type ShownZone, withZone } from './times.js'

/** The options of every command that takes a query. */
export const queryOptions: readonly Option[] = [
  {
    flags: '-f, --filter <condition>',
    description:
      'a condition as in the query, without brackets: type_start=error:, or n_gteq=490; an empty value needs the =',
    repeatable: true,
  },
  {
    flags: '-q, --q <text>',
    description: 'words and phrases that the event contains: \'deploy "by hand" -staging\'',
    repeatable: true,
  },
]

/** The option of every command that shows events. */
export const concealOption: Option = {
  flags: '--conceal <name>',
  description:
    'leave out an attribute, as if the events did not have it; a query that names it is refused. Not for a feed',
  repeatable: true,
}

/** The options of commands that read the events of a range of time. */
export const rangeOptions: readonly Option[] = [
  {
    flags: '--since <time>',
    description:
      'events from this time on: how long ago (30s, 1h30m, 2 hours, 7d), yesterday, 14:00, 2026-11-24 or 2026-11-24T06:00:00Z',
  },
  { flags: '--until <time>', description: 'events before this time, written as that of --since' },
]

export const limitOption: Option = {
  flags: '-n, --limit <n>',
  description: 'the largest number of events, 1 to 1000',
  default: '10',
}

/** `n_gteq=490` as a parameter. A repeated name becomes a list, as `type_in` needs it. */
function conditionsOf(filters: readonly string[]): string[] {
  const read = filters.map((text): [name: string, value: string] => {
    const sign = text.indexOf('=')
    if (sign < 1) throw usageError(`--filter ${text}: must be <attribute>_<predicate>=<value>`)
    return [text.slice(0, sign), text.slice(sign + 1)]
  })
  const isList = (name: string): boolean =>
    /_(?:in|not_in|any|all)$/.test(name) || read.filter(([other]) => other === name).length > 1
  return read.map(
    ([name, value]) => `filter[${name}]${isList(name) ? '[]' : ''}=${encodeURIComponent(value)}`,
  )
}

/** Parameters of the audit page for its display, not for its events. */
const SHOWING = /^(?:view|facets|columns|groups|numbers|zone)=/

const RELATIVE_RANGE = /^([1-9]\d{0,4})([mhdw])$/
const RANGE_UNITS: Readonly<Record<string, number>> = {
  m: MINUTE,
  h: HOUR,
  d: DAY,
  w: 7 * DAY,
}

/** `range=24h` of the audit page as a condition. */
function rangeCondition(range: string): string {
  const [, count, unit] = RELATIVE_RANGE.exec(range) ?? []
  if (range === 'all') return ''
  if (count === undefined)
    throw usageError(
      `range=${range}: only the page can read it; give bounds, such as filter[created_at_gteq]`,
    )
  const start = systemClock()() - Number(count) * RANGE_UNITS[unit!]!
  return `filter[created_at_gteq]=${formatTimestamp(start)}`
}

/** The query string of an address of the feed or of the audit page. */
const queryOfAddress = (query: string): string =>
  query
    .replace(/^\?/, '')
    .split('&')
    .filter((part) => !SHOWING.test(part))
    .map((part) => (part.startsWith('range=') ? rangeCondition(part.slice(6)) : part))
    .filter((part) => part !== '')
    .join('&')

/** The query string of an argument, which may also be an address with a query. */
function textOf(argument: string): string {
  const address = /^https?:\/\/[^?#]*(?:\?([^#]*))?/.exec(argument)
  return queryOfAddress(address ? (address[1] ?? '') : argument)
}

function parse(text: string): EventQuery {
  try {
    return parseQuery(text)
  } catch (error) {
    if (!(error instanceof AuditLogError)) throw error
    throw usageError(error.message, error.suggestion)
  }
}

/** Adds the query in the log's address, if it has one. The address of an audit page may have one. */
function withinAddress(query: EventQuery, target: Target): EventQuery {
  const text = target.kind === 'http' ? queryOfAddress(target.url.search) : ''
  if (text === '') return query
  const { where, sorts } = parse(text)
  const isSorted = query.sorts.length > 0
  return { ...query, where: bothOf(where, query.where), sorts: isSorted ? query.sorts : sorts }
}

/** Restricts the query to the events from `--since` on and before `--until`. */
function withinRange(
  query: EventQuery,
  { since, until, ...zone }: ShownZone & { readonly since?: string; readonly until?: string },
): EventQuery {
  const now = systemClock()()
  const from = since === undefined ? undefined : readTime(since, '--since', zone, now)
  const to = until === undefined ? undefined : readTime(until, '--until', zone, now)
  if (from !== undefined && to !== undefined && from >= to)
    throw usageError(`--since ${since!}: must be before --until ${until!}`)
  const bound = (predicate: 'gteq' | 'lt', time: number | undefined) =>
    time === undefined ? undefined : oneCondition('created_at', predicate, [formatTimestamp(time)])
  return { ...query, where: bothOf(query.where, bothOf(bound('gteq', from), bound('lt', to))) }
}

/**
 * Reads the argument `query` and the options of {@link queryOptions} and {@link rangeOptions}. Times of `created_at`
 * without a zone are in the zone in which the command prints times. Throws a usage error that names the nearest word.
 */
export function readQuery({ arguments: { query }, options, target }: Call): EventQuery {
  const {
    filter = [],
    q = [],
    limit,
  } = options as {
    readonly filter?: readonly string[]
    readonly q?: readonly string[]
    readonly limit?: string
  }
  const parts = [
    textOf(typeof query === 'string' ? query : ''),
    ...conditionsOf(filter),
    ...q.map((text) => `q=${encodeURIComponent(text)}`),
  ].filter((part) => part !== '')
  const text = parts.join('&')
  const hasLimit = /(?:^|&)limit=/.test(text)
  const limited = hasLimit || limit === undefined ? text : `${text}&limit=${limit}`
  const read = parse(limited)
  const where = read.where && withZone(read.where, options)
  return withinAddress(withinRange({ ...read, where }, options), target)
}
