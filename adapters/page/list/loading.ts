import { batch, computed, effect, signal, untracked } from '@preact/signals'
import type { AuditEvent } from '../../../src/event/event.js'
import type { Sort } from '../../../src/filter/ast.js'
import { fault, openId, query, search } from '../data/address.js'
import { listEvents, readEvent } from '../data/api.js'
import { areOld, counts } from '../data/counts.js'
import { rangeAt } from '../data/query.js'
import { rowAtTime, timeAtRow } from './row-estimate.js'
import { type Held, heldAround, HOLDS_NOTHING, withNext, withPrevious } from './loaded-window.js'
import {
  firstPage,
  isNewestFirst,
  isPaged,
  nextPage,
  type PageRequest,
  pagesAround,
  previousPage,
} from './paging.js'

/* What is loaded of the list, and what is being loaded. */

const FIRST_PAGE = 100
const PAGE = 200
const MOST = 1000
const TIMEOUT_MS = 30_000

export const held = signal<Held>(HOLDS_NOTHING)

/** The loaded events, in the order of the list. Changes only when the events do. */
export const loadedEvents = computed(() => held.value.events)

/** The first page of the query is on its way. */
export const isLoading = signal(false)

/** Why the last page did not come. */
export const failure = signal<Error | undefined>(undefined)

const shown = signal<{ readonly search: string; readonly sorts: readonly Sort[] } | undefined>(
  undefined,
)

/** The rows are those of the query before, or there are none yet. */
export const isStale = computed(() => shown.value?.search !== search.value)

/** The order that the rows have. */
export const shownSorts = computed(() => shown.value?.sorts ?? [])

/** Where to scroll once it is there: the id of an event, or the top. */
export const place = signal<string | undefined>(undefined)

export const TOP = ''

/** Aborted by the next query: what it asked for is of no use then. */
let current = new AbortController()

/** Relative ranges begin at one time for all pages of a query. */
let askedAt = new Date()

let newest = ''

/** The query's first page has been asked for at that time. */
export const timeOfAsking = (): Date => askedAt

/** Nothing up to this time is missing in what was shown; new events come after it. */
export const newestKnown = (): string => newest

export function knowUpTo(time: string): void {
  if (time > newest) newest = time
}

interface Loaded {
  readonly events: readonly AuditEvent[]
  readonly more: boolean
}

async function load({ query: text, isReversed }: PageRequest, limit: number): Promise<Loaded> {
  const signal = AbortSignal.any([current.signal, AbortSignal.timeout(TIMEOUT_MS)])
  const { events, truncated } = await listEvents(text, limit, signal)
  return { events: isReversed ? events.toReversed() : events, more: truncated }
}

/** What failed and is not asked for again by scrolling. */
let owed: (() => Promise<void>) | undefined

/** What an answer changes is done at once, and not at all where another query was asked meanwhile. */
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
      owed = undefined
    })
  } catch (error) {
    if (signal.aborted) return
    failure.value = error as Error
    owed = again
  }
}

function renew(): AbortController {
  current.abort()
  current = new AbortController()
  return current
}

/** Loads the beginning of the list; what is shown stays until it is there. */
export async function loadFirst(): Promise<void> {
  const mine = renew()
  const now = new Date()
  const [asked, text] = [query.value, search.value]
  const hasPages = isPaged(asked.sorts)
  isLoading.value = true
  await attempt(async () => {
    const { events, more } = await load(firstPage(asked, now), hasPages ? FIRST_PAGE : MOST)
    return () => {
      askedAt = now
      newest = isNewestFirst(asked.sorts) && events[0] ? events[0].created_at : ''
      newest ||= rangeAt(asked.range, now).from ?? '1970-01-01T00:00:00Z'
      held.value = { events, before: 0, hasFirst: true, hasLast: !(more && hasPages) }
      shown.value = { search: text, sorts: asked.sorts }
      place.value = TOP
    }
  }, loadFirst)
  if (current === mine) isLoading.value = false
}

let extending: AbortController | undefined

/** One page at a time, and none while the last one is still owed. */
async function extend(work: () => Promise<() => void>): Promise<void> {
  if (extending === current || failure.value || isStale.value) return
  const mine = current
  extending = mine
  await attempt(work)
  if (extending === mine) extending = undefined
}

/** Loads the next page at the end of what is held. */
export async function loadNext(): Promise<void> {
  const last = held.value.events.at(-1)
  if (!last || held.value.hasLast) return
  await extend(async () => {
    const { events, more } = await load(nextPage(query.value, last, askedAt), PAGE)
    return () => {
      // New events may have pushed the end out meanwhile.
      if (held.value.events.at(-1)?.id === last.id) held.value = withNext(held.value, events, more)
    }
  })
}

/** Loads the page before what is held. */
export async function loadPrevious(): Promise<void> {
  const first = held.value.events[0]
  if (!first || held.value.hasFirst) return
  await extend(async () => {
    const { events, more } = await load(previousPage(query.value, first, askedAt), PAGE)
    return () => {
      if (held.value.events[0]?.id === first.id) held.value = withPrevious(held.value, events, more)
    }
  })
}

const buckets = computed(() =>
  isNewestFirst(query.value.sorts) && !areOld.value ? counts.value?.buckets?.buckets : undefined,
)

/** How many rows there are; `undefined` where it is not known. */
export const totalRows = computed(() => (areOld.value ? undefined : counts.value?.total))

/** Holds the list around a time instead, and shows `id` there, or the nearest. */
export async function loadAround(time: string, id?: string, row?: number): Promise<void> {
  if (isLoading.value) return
  renew()
  await attempt(
    async () => {
      const { previous, next } = pagesAround(query.value, time, askedAt)
      const [before, after] = await Promise.all([load(previous, FIRST_PAGE), load(next, PAGE)])
      return () => {
        held.value = heldAround(row ?? rowAtTime(buckets.value ?? [], time), before, after)
        place.value = id ?? (after.events[0] ?? before.events.at(-1))?.id
      }
    },
    () => loadAround(time, id, row),
  )
}

/** Whether {@link loadAtRow} can tell where a row is. */
export const canJump = computed(() => buckets.value !== undefined)

/** Holds the list around a row that is far from what is held, as near as the counts can tell. */
export async function loadAtRow(row: number): Promise<void> {
  const time = buckets.value && timeAtRow(buckets.value, row)
  if (time !== undefined) await loadAround(time, undefined, row)
}

/** After a failure: asks again for what did not come. */
export function tryAgain(): void {
  failure.value = undefined
  void owed?.()
}

/** What the address opens at the start is shown with the list around it. */
async function showOpen(id: string): Promise<void> {
  if (held.value.events.some((event) => event.id === id)) {
    place.value = id
    return
  }
  try {
    const { created_at } = await readEvent(id)
    await loadAround(created_at, id)
  } catch {
    // The panel tells.
  }
}

let opened = openId.peek()

async function ask(): Promise<void> {
  await loadFirst()
  const id = opened
  opened = undefined
  if (id !== undefined) await showOpen(id)
}

function askNothing(): void {
  renew()
  isLoading.value = false
  failure.value = undefined
}

/** Loads whatever the address asks for, now and whenever it changes. */
export function followQuery(): void {
  effect(() => {
    const isFaulty = fault.value !== undefined
    void search.value
    untracked(isFaulty ? askNothing : () => void ask())
  })
}
