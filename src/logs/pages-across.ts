import type { AuditEvent } from '../event/event.js'
import { bothOf, type EventQuery, MAX_LIMIT, oneCondition } from '../filter/ast.js'
import { scanDirection } from '../filter/order.js'
import { compareText } from '../filter/values.js'
import { pagesDirection } from '../store/pages.js'
import type { ListOptions } from '../store/store.js'
import {
  type BoundOf,
  inGroups,
  inLog,
  type LogEvent,
  type LogsContext,
  type NamedLog,
  namedLogs,
} from './named-logs.js'
import { LOGS_RANGE_OPTIONS, type LogsRangeOptions, rangeOf } from './range.js'
import type { OptionNames } from '../options.js'

export type LogsPagesOptions = LogsRangeOptions & Pick<ListOptions, 'lazy'>

export const LOGS_PAGES_OPTIONS: OptionNames<LogsPagesOptions> = {
  ...LOGS_RANGE_OPTIONS,
  lazy: true,
}

/** Maximum number of events that are read ahead, of all logs together. */
const MAX_BUFFERED = 20_000

/** Minimum number of events that one query reads. */
const MIN_READ = 10

/** The next events of one log, in the order of the pages. */
interface Source {
  readonly key: string
  readonly read: (options: ListOptions) => Promise<void>
  /** The next event; `undefined` if no event is left or `read` must be called first. */
  head(): AuditEvent | undefined
  advance(): void
  /** True if no event is left. */
  isOver(): boolean
}

interface SourceOptions {
  readonly limit: number
  readonly isDescending: boolean
  readonly boundOf: BoundOf | undefined
}

function createSource(
  { key, log, visible }: NamedLog,
  { where, sorts }: EventQuery,
  { limit, isDescending, boundOf }: SourceOptions,
): Source {
  const visibleWhere = bothOf(bothOf(visible, where), boundOf?.(key))
  let events: readonly AuditEvent[] = []
  let next = 0
  let isLast = false
  return {
    key,
    async read(options) {
      const last = events.at(-1)
      const bound =
        last && oneCondition('created_at', isDescending ? 'lt' : 'gt', [last.created_at])
      const query = { where: bothOf(visibleWhere, bound), sorts, limit }
      const page = await log().list(query, { ...options, durable: true })
      events = sorts.length === 0 ? page.events.toReversed() : page.events
      next = 0
      isLast = !page.truncated
    },
    head: () => events[next],
    advance: () => void (next += 1),
    isOver: () => isLast && next >= events.length,
  }
}

/** A heap of the sources that have a next event. The top source has the event that comes first. */
function createHeap(isBefore: (left: Source, right: Source) => boolean) {
  const heap: Source[] = []
  const swap = (a: number, b: number): void => {
    const kept = heap[a]!
    heap[a] = heap[b]!
    heap[b] = kept
  }
  const sink = (): void => {
    for (let at = 0; ;) {
      let first = at
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && isBefore(heap[child]!, heap[first]!)) first = child
      if (first === at) return
      swap(at, first)
      at = first
    }
  }
  return {
    top: () => heap[0],
    add(source: Source): void {
      heap.push(source)
      for (let at = heap.length - 1; at > 0;) {
        const parent = (at - 1) >> 1
        if (!isBefore(heap[at]!, heap[parent]!)) return
        swap(at, parent)
        at = parent
      }
    },
    /** Restores the order after the top source has advanced. */
    sink,
    removeTop(): void {
      const last = heap.pop()!
      if (heap.length === 0) return
      heap[0] = last
      sink()
    },
  }
}

async function openSources(
  named: readonly NamedLog[],
  query: EventQuery,
  { signal, lazy, isDescending, boundOf }: MergeOptions & { readonly isDescending: boolean },
): Promise<readonly Source[]> {
  const share = Math.floor(MAX_BUFFERED / Math.max(1, named.length))
  const limit = Math.max(MIN_READ, Math.min(MAX_LIMIT, share))
  const sources = await inGroups(named, signal, async (one, waiting) => {
    const source = createSource(one, query, { limit, isDescending, boundOf })
    await source.read({ signal: waiting, lazy })
    return source
  })
  return sources.filter((source) => !source.isOver())
}

interface MergeOptions extends Pick<LogsPagesOptions, 'signal' | 'lazy'> {
  readonly boundOf?: BoundOf
}

/**
 * All matching events of the logs in pages of at most 1000, by `created_at`, then by log. Reads each event once, and holds
 * at most about 20,000 events, or 10 of each log.
 */
export async function* mergePages(
  named: readonly NamedLog[],
  query: EventQuery,
  options: MergeOptions,
): AsyncGenerator<readonly LogEvent[], void, void> {
  const { signal, lazy } = options
  const isDescending = scanDirection(query.sorts) === 'desc'
  // Without sorts each page is reversed, so that events of the same time are in the order of the logs.
  const isReversed = query.sorts.length === 0
  const heap = createHeap((left, right) => {
    const [a, b] = [left.head()!.created_at, right.head()!.created_at]
    if (a !== b) return a < b !== isDescending
    return compareText(left.key, right.key) < 0 !== isReversed
  })
  for (const source of await openSources(named, query, { ...options, isDescending }))
    heap.add(source)

  let page: LogEvent[] = []
  const inOrder = (): readonly LogEvent[] => (isReversed ? page.toReversed() : page)
  for (let source = heap.top(); source; source = heap.top()) {
    page.push({ log: source.key, event: source.head()! })
    await advance(source, { signal, lazy })
    if (source.head()) heap.sink()
    else heap.removeTop()
    if (page.length < MAX_LIMIT) continue
    yield inOrder()
    page = []
  }
  if (page.length > 0) yield inOrder()
}

async function advance(source: Source, options: ListOptions): Promise<void> {
  source.advance()
  if (source.head() || source.isOver()) return
  await source.read(options).catch((error: unknown) => {
    throw inLog(source.key, error)
  })
}

/**
 * All matching events of the logs, in the order of `pages`: without sorts the newest page comes first, with the sort
 * `created_at asc` the oldest page. Each page has its oldest event first.
 */
export async function* pagesAcross(
  context: LogsContext,
  query: EventQuery,
  options: LogsPagesOptions,
): AsyncGenerator<readonly LogEvent[], void, void> {
  pagesDirection(query.sorts)
  const named = await namedLogs(context, options, rangeOf(options))
  yield* mergePages(named, query, options)
}
