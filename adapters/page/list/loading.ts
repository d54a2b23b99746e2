import { batch, computed, effect, signal, untracked } from '@preact/signals'
import type { AuditEvent } from '../../../src/event/event.js'
import type { Sort } from '../../../src/filter/ast.js'
import { fault, openId, query, search, zone } from '../data/address.js'
import { listEvents, readEvent } from '../data/api.js'
import { areCountsStale, counts, listed } from '../data/counts.js'
import { apiQueryWith, conditionOn, rangeAt, resolvers } from '../data/query.js'
import { rowAtTime, timeAtRow } from './row-estimate.js'
import {
  type LoadedWindow,
  windowAround,
  EMPTY_WINDOW,
  withNext,
  withPrevious,
} from './loaded-window.js'
import {
  firstPage,
  isByTime,
  isNewestFirst,
  isPaged,
  nextPage,
  type PageRequest,
  pagesAround,
  previousPage,
} from './paging.js'

/* The loaded part of the list, and the requests that extend it. */

const FIRST_PAGE = 100
const PAGE = 200
const MAX_UNPAGED = 1000
const TIMEOUT_MS = 30_000

export const loadedWindow = signal<LoadedWindow>(EMPTY_WINDOW)

/** The loaded events, in the order of the list. Changes only when the events do. */
export const loadedEvents = computed(() => loadedWindow.value.events)

/** True while the first page of the query is loading. */
export const isLoading = signal(false)

/** The error of the last request for a page. */
export const failure = signal<Error | undefined>(undefined)

const shown = signal<{ readonly search: string; readonly sorts: readonly Sort[] } | undefined>(
  undefined,
)

/** Warnings about the query of the rows, in sentences. */
export const warnings = signal<readonly string[]>([])

/** True if the rows belong to the previous query, or nothing is loaded yet. */
export const isStale = computed(() => shown.value?.search !== search.value)

/** The order of the loaded rows. */
export const shownSorts = computed(() => shown.value?.sorts ?? [])

/** The place to scroll to after the next render: the id of an event, or {@link TOP}. */
export const scrollTarget = signal<string | undefined>(undefined)

export const TOP = ''

/** Aborts the requests of the current query when the next one starts. */
let current = new AbortController()

/** True if the list cannot load more than the first events of its order. */
export const isCut = signal(false)

/** Relative ranges are resolved against this time, the same for all pages of a query. */
let queriedAt = new Date()

let newest = ''

/** The time of the request for the query's first page. */
export const queryTime = (): Date => queriedAt

/** Time of the newest known event. New events come after it. */
export const newestKnown = (): string => newest

export function markKnownUpTo(time: string): void {
  if (time > newest) newest = time
}

interface Loaded {
  readonly events: readonly AuditEvent[]
  readonly more: boolean
  readonly warnings: readonly string[]
}

async function load({ query: text, isReversed }: PageRequest, limit: number): Promise<Loaded> {
  const signal = AbortSignal.any([current.signal, AbortSignal.timeout(TIMEOUT_MS)])
  const { events, truncated, ...page } = await listEvents(text, limit, signal)
  return { ...page, events: isReversed ? events.toReversed() : events, more: truncated }
}

/** Repeats the failed request, unless scrolling repeats it. */
let failedRequest: (() => Promise<void>) | undefined

/** Runs a request and applies its result in one batch. Ignores the result if another query has started. */
async function attempt(
  work: () => Promise<() => void>,
  again?: () => Promise<void>,
): Promise<void> {
  const { signal } = current
  try {
    const take = await work()
    if (signal.aborted) return
    batch(() => {
      take()
      failure.value = undefined
      failedRequest = undefined
    })
  } catch (error) {
    if (signal.aborted) return
    failure.value = error as Error
    failedRequest = again
  }
}

function renew(): AbortController {
  current.abort()
  current = new AbortController()
  return current
}

/** Loads the first page. The old rows stay until it arrives. */
export async function loadFirst(): Promise<void> {
  const mine = renew()
  const now = new Date()
  const [requested, text] = [query.value, search.value]
  const hasPages = isPaged(requested.sorts)
  isLoading.value = true
  await attempt(async () => {
    const limit = hasPages ? FIRST_PAGE : MAX_UNPAGED
    const { events, more, warnings: found } = await load(firstPage(requested, now), limit)
    return () => {
      warnings.value = found
      isCut.value = more && !hasPages
      queriedAt = now
      newest = isNewestFirst(requested.sorts) && events[0] ? events[0].created_at : ''
      newest ||= rangeAt(requested.range, now).from ?? '1970-01-01T00:00:00Z'
      loadedWindow.value = { events, before: 0, hasFirst: true, hasLast: !(more && hasPages) }
      shown.value = { search: text, sorts: requested.sorts }
      scrollTarget.value = TOP
    }
  }, loadFirst)
  if (current === mine) isLoading.value = false
}

let extending: AbortController | undefined

/** Loads one page at a time, and none after a failure. */
async function extend(work: () => Promise<() => void>): Promise<void> {
  if (extending === current || failure.value || isStale.value) return
  const mine = current
  extending = mine
  await attempt(work)
  if (extending === mine) extending = undefined
}

/** Loads the page after the loaded rows. */
export async function loadNext(): Promise<void> {
  const last = loadedWindow.value.events.at(-1)
  if (!last || loadedWindow.value.hasLast) return
  await extend(async () => {
    const { events, more } = await load(nextPage(query.value, last, queriedAt), PAGE)
    return () => {
      // New events may have dropped the last rows meanwhile.
      if (loadedWindow.value.events.at(-1)?.id === last.id)
        loadedWindow.value = withNext(loadedWindow.value, events, more)
    }
  })
}

/** Loads the page before the loaded rows. */
export async function loadPrevious(): Promise<void> {
  const first = loadedWindow.value.events[0]
  if (!first || loadedWindow.value.hasFirst) return
  await extend(async () => {
    const { events, more } = await load(previousPage(query.value, first, queriedAt), PAGE)
    return () => {
      if (loadedWindow.value.events[0]?.id === first.id)
        loadedWindow.value = withPrevious(loadedWindow.value, events, more)
    }
  })
}

const buckets = computed(() =>
  isNewestFirst(query.value.sorts) && !areCountsStale.value
    ? counts.value?.buckets?.buckets
    : undefined,
)

/** The number of rows of the list, or fewer if not all are counted; `undefined` if unknown. */
export const totalRows = computed(() => (areCountsStale.value ? undefined : counts.value?.total))

effect(() => {
  const { events, hasFirst, hasLast } = loadedWindow.value
  if (shown.value)
    listed.value = {
      search: shown.value.search,
      total: events.length,
      exact: hasFirst && hasLast && isPaged(shown.value.sorts),
    }
})

/** Replaces the loaded rows by the rows around a time. Scrolls to the event `id` or the nearest row. */
export async function loadAround(time: string, id?: string, row?: number): Promise<void> {
  if (isLoading.value) return
  renew()
  await attempt(
    async () => {
      const { previous, next } = pagesAround(query.value, time, queriedAt)
      const [before, after] = await Promise.all([load(previous, FIRST_PAGE), load(next, PAGE)])
      return () => {
        loadedWindow.value = windowAround(
          row ?? rowAtTime(buckets.value ?? [], time),
          before,
          after,
        )
        scrollTarget.value = id ?? (after.events[0] ?? before.events.at(-1))?.id
      }
    },
    () => loadAround(time, id, row),
  )
}

/** True if {@link loadAtRow} can estimate the time of a row. */
export const canJump = computed(() => buckets.value !== undefined)

/** Replaces the loaded rows by the rows around a distant row, estimated from the counts. */
export async function loadAtRow(row: number): Promise<void> {
  const time = buckets.value && timeAtRow(buckets.value, row)
  if (time !== undefined) await loadAround(time, undefined, row)
}

/** Repeats the failed request. */
export function tryAgain(): void {
  failure.value = undefined
  void failedRequest?.()
}

/** The open event, if the query finds it. */
async function findInQuery(id: string): Promise<AuditEvent | undefined> {
  const filter = apiQueryWith(query.value, [conditionOn('id', 'eq', [id])], queriedAt)
  return (await listEvents(filter, 1, current.signal)).events[0]
}

/** Loads the list around the open event, so that this event stays visible when the query changes. */
async function showOpen(id: string, isFirst: boolean): Promise<void> {
  const text = search.value
  if (loadedWindow.value.events.some((event) => event.id === id)) {
    scrollTarget.value = id
    return
  }
  if (!isByTime(query.value.sorts)) return
  try {
    // The event of a shared address is shown among its neighbours, also if the query does not match it.
    const event = isFirst ? await readEvent(id) : await findInQuery(id)
    if (event && search.value === text) await loadAround(event.created_at, id)
  } catch {
    // The panel shows the error.
  }
}

let isFirstQuery = true

async function loadQuery(): Promise<void> {
  const id = openId.peek()
  const isFirst = isFirstQuery
  isFirstQuery = false
  await loadFirst()
  if (id !== undefined && id === openId.peek()) await showOpen(id, isFirst)
}

function cancelLoading(): void {
  renew()
  isLoading.value = false
  failure.value = undefined
}

/** Loads the query of the address, now and whenever it changes. */
export function followQuery(): void {
  effect(() => {
    const isFaulty = fault.value !== undefined
    void search.value
    // A calendar range has other ends in another zone.
    if ('last' in query.value.range && resolvers.calendar) void zone.value
    untracked(isFaulty ? cancelLoading : () => void loadQuery())
  })
}
