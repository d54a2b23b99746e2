import { readRules } from '../../../src/cleaning/read-rules.js'
import { readStoredStatuses } from '../../../src/cleaning/status.js'
import type { AuditEvent, JsonObject } from '../../../src/event/event.js'
import { bothOf, type EventQuery, MAX_LIMIT, oneCondition } from '../../../src/filter/ast.js'
import { parseQuery } from '../../../src/filter/parse.js'
import { NO_SEALED_NAMES } from '../../../src/filter/sealed-names.js'
import type { LevelCounts } from '../../../src/store/counts.js'
import type { SubscriptionRow } from '../feed/managed-subscriptions.js'
import type { LogConfig, OpenLog, Waiting } from '../log/log.js'
import { managedSubscriptions } from '../log/managed-subscriptions.js'
import { CommandError } from '../terminal/exit-codes.js'

/* The figures of `daybook stats`. A figure that a log does not give is null. */

export interface EventFigures {
  readonly total: number
  readonly levels: LevelCounts
  /** False if the numbers are lower bounds. */
  readonly exact: boolean
  readonly oldest: string | null
  readonly newest: string | null
}

export interface SuppressedFigures {
  /** Suppressed calls that an event reports. */
  readonly calls: number
  readonly exact: boolean
  /** The most frequent first. */
  readonly types: readonly { readonly type: string; readonly calls: number }[]
}

export interface CleaningFigures {
  readonly name: string
  readonly running: boolean
  readonly last_run: object | null
  readonly next_run: string | null
}

export interface LogFigures {
  readonly kind: OpenLog['kind']
  readonly events: EventFigures
  readonly disk: { readonly size_bytes: number; readonly free_bytes: number | null } | null
  readonly index: { readonly waiting: number; readonly damaged: number } | null
  readonly suppressed: SuppressedFigures
  readonly cleaning: readonly CleaningFigures[] | null
  readonly subscriptions: readonly SubscriptionRow[] | null
}

const COUNT_WITHIN_MS = 60_000

/** `created_at` of the first event in this direction. */
async function timeOf(
  log: OpenLog,
  direction: 'asc' | 'desc',
  options: Waiting,
): Promise<string | null> {
  const sorts = [{ attribute: 'created_at', direction }]
  const { events } = await log.list({ where: undefined, sorts, limit: 1 }, options)
  return events[0]?.created_at ?? null
}

async function eventFigures(log: OpenLog, options: Waiting): Promise<EventFigures> {
  const all: EventQuery = { where: undefined, sorts: [], limit: MAX_LIMIT }
  const counts = await log.count(all, { within: COUNT_WITHIN_MS, ...options })
  return {
    total: counts.total,
    levels: counts.levels,
    exact: counts.exact.total && counts.exact.levels,
    oldest: await timeOf(log, 'asc', options),
    newest: await timeOf(log, 'desc', options),
  }
}

const GAP = 'warn:audit_log:gap'
const SUPPRESSED = parseQuery(`filter[m]=or&filter[suppressed_count_gt]=0&filter[type_eq]=${GAP}`)
const MAX_PAGES = 20

/** Number of suppressed calls that an event reports: calls of its own type, or, in a gap event, of several types. */
function suppressedIn({
  type,
  attributes,
}: AuditEvent): readonly (readonly [type: string, calls: number])[] {
  const { suppressed_count, losses } = attributes
  if (type !== GAP) return [[type, Number(suppressed_count)]]
  const all = Array.isArray(losses) ? (losses as readonly JsonObject[]) : []
  return all
    .filter(({ reason }) => reason === 'throttled')
    .map(({ type: lost, count }) => [typeof lost === 'string' ? lost : 'others', Number(count)])
}

/** Reads at most 20,000 events, oldest first. */
async function suppressedFigures(log: OpenLog, options: Waiting): Promise<SuppressedFigures> {
  const byType = new Map<string, number>()
  const sorts = [{ attribute: 'created_at', direction: 'asc' }] as const
  let { where } = SUPPRESSED
  let exact = false
  for (let page = 0; page < MAX_PAGES && !exact; page++) {
    const { events, truncated } = await log.list({ where, sorts, limit: MAX_LIMIT }, options)
    for (const [type, calls] of events.flatMap(suppressedIn))
      byType.set(type, (byType.get(type) ?? 0) + calls)
    exact = !truncated
    if (truncated)
      where = bothOf(
        SUPPRESSED.where,
        oneCondition('created_at', 'gt', [events.at(-1)!.created_at]),
      )
  }
  const types = Array.from(byType, ([type, calls]) => ({ type, calls }))
  return {
    calls: types.reduce((sum, { calls }) => sum + calls, 0),
    exact,
    types: types.toSorted((a, b) => b.calls - a.calls),
  }
}

async function cleaningFigures(
  { audit }: OpenLog,
  config: LogConfig | undefined,
  options: Waiting,
): Promise<readonly CleaningFigures[] | null> {
  if (!audit) return null
  const rules = readRules(config?.cleaning?.rules ?? [], NO_SEALED_NAMES)
  const found = await readStoredStatuses(audit.store, rules, Date.now() * 1000, options)
  return found.map(({ name, running, lastRun, nextRun }) => ({
    name,
    running,
    last_run: lastRun,
    next_run: nextRun,
  }))
}

/** Null if a feed has no endpoints for subscriptions, or does not let its user read them. */
async function subscriptionFigures(
  log: OpenLog,
  options: Waiting,
): Promise<readonly SubscriptionRow[] | null> {
  try {
    return await managedSubscriptions(log).list(options)
  } catch (error) {
    if (log.feed && error instanceof CommandError && error.exit !== 'unreachable') return null
    throw error
  }
}

export async function readFigures(
  log: OpenLog,
  config: LogConfig | undefined,
  options: Waiting,
): Promise<LogFigures> {
  const health = await log.audit?.health()
  const { disk, index } = health ?? {}
  return {
    kind: log.kind,
    events: await eventFigures(log, options),
    disk: disk ? { size_bytes: disk.sizeBytes, free_bytes: disk.freeBytes ?? null } : null,
    index: index ? { waiting: index.waiting, damaged: index.damaged } : null,
    suppressed: await suppressedFigures(log, options),
    cleaning: await cleaningFigures(log, config, options),
    subscriptions: await subscriptionFigures(log, options),
  }
}
