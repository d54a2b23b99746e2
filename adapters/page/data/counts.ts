import { computed, effect, signal, untracked } from '@preact/signals'
import type { EventCounts } from '../../../src/store/counts.js'
import { may } from './account.js'
import { fault, joinNames, members, query, search, setMember, splitNames, zone } from './address.js'
import { countEvents } from './api.js'
import { concealedIn } from './concealed.js'
import { apiQuery, rangeAt } from './query.js'
import { readStored, store } from './storage.js'

/*
 * One request counts the events for chart, legend and facets. A new query cancels the request; new events repeat it.
 */

/** Maximum number of bars. The server chooses the narrowest round width that fits. */
const MAX_BUCKETS = 120

/** Number of values in a closed facet. It shows only five, but the selected values are then usually included. */
const CLOSED_FACET_VALUES = 20

/** The server's maximum. */
const OPEN_FACET_VALUES = 1000

interface Counted {
  readonly counts: EventCounts
  readonly search: string
  /** The ends of the range at the time of the request. */
  readonly range: ReturnType<typeof rangeAt>
}

const counted = signal<Counted | undefined>(undefined)

/** The counts of the current query; while they load, the counts of the previous one. */
export const counts = computed(() => counted.value?.counts)

/** The ends of the counted range; `undefined` for an open end. */
export const countedRange = computed(
  () => counted.value?.range ?? { from: undefined, to: undefined },
)

/** True if the counts belong to an earlier query. */
export const areCountsStale = computed(
  () => counted.value !== undefined && counted.value.search !== search.value,
)

/** The number of loaded events of a query, and whether these are all. */
export const listed = signal({ search: '', total: 0, exact: false })

export const isCounting = signal(false)

/** The error of the last request. While it is set, the counts are from an earlier request. */
export const countError = signal<Error | undefined>(undefined)

/** The facet that shows all its values. */
export const openFacet = signal<string | undefined>(undefined)

/** Few events have this attribute, so its default facet is shown only when it has values. */
const OPTIONAL_FACET = 'url_params_project_code'

const DEFAULT_FACETS: readonly string[] = ['type', 'username', OPTIONAL_FACET]

/** The server's maximum number of facets per request, minus level. */
export const MAX_FACETS = 19

const STORAGE_KEY = 'daybook.facets'

/** `undefined` until the user changes the facets. */
const chosenFacets = signal(readChosen())

function readChosen(): readonly string[] | undefined {
  try {
    const kept: unknown = JSON.parse(readStored(STORAGE_KEY) ?? 'null')
    if (Array.isArray(kept)) return kept.filter((name) => typeof name === 'string')
  } catch {
    // The text is not valid JSON, so the defaults apply.
  }
  return undefined
}

/** The facets of the address, else the user's choice, else the defaults. Has the form of the member `facets`. */
export const facetsText = computed(
  () => members.facets.value ?? joinNames(chosenFacets.value ?? DEFAULT_FACETS),
)

const requestedFacets = computed(() => splitNames(facetsText.value).slice(0, MAX_FACETS))

/** Facets that the service has refused, because the user may not see their attributes. They are left out of later requests. */
export const concealedFacets = signal<ReadonlySet<string>>(new Set())

/** The attributes shown as facets, besides level. */
export const facetNames = computed(() => {
  const isSeen = (counts.value?.facets[OPTIONAL_FACET]?.distinct ?? 0) > 0
  const isDefault = facetsText.value === joinNames(DEFAULT_FACETS)
  return requestedFacets.value.filter((name) => !isDefault || name !== OPTIONAL_FACET || isSeen)
})

/** Sets the facets and stores them in this browser. */
export function chooseFacets(names: readonly string[]): void {
  chosenFacets.value = names
  store(STORAGE_KEY, JSON.stringify(names))
  if (members.facets.value !== undefined) setMember('facets', joinNames(names))
}

/** The request to send; `undefined` while the address is invalid, or if the user may not count. */
const request = computed(() =>
  fault.value === undefined && may('count')
    ? {
        search: search.value,
        query: query.value,
        wanted: {
          buckets: MAX_BUCKETS,
          zone: zone.value,
          facets: [...new Set(['level', ...requestedFacets.value])].filter(
            (name) => !concealedFacets.value.has(name),
          ),
          top: openFacet.value === undefined ? CLOSED_FACET_VALUES : OPEN_FACET_VALUES,
        },
      }
    : undefined,
)

let running: AbortController | undefined
let next: ReturnType<typeof setTimeout> | undefined
let isRecountDue = false

/** Milliseconds until the next count: ten times its duration, so that open pages do not keep the server busy. */
const pause = (): number => Math.max(3000, 10 * (counts.value?.took_ms ?? 0))

function stop(): void {
  running?.abort()
  running = undefined
  clearTimeout(next)
  next = undefined
  isRecountDue = false
  isCounting.value = false
}

async function count({ search, query, wanted }: NonNullable<typeof request.value>): Promise<void> {
  stop()
  const controller = new AbortController()
  running = controller
  isCounting.value = true
  const now = new Date()
  try {
    const text = apiQuery({ ...query, sorts: [] }, now)
    const answer = await countEvents(text, wanted, controller.signal)
    if (running !== controller) return
    counted.value = { counts: answer, search, range: rangeAt(query.range, now) }
    countError.value = undefined
  } catch (error) {
    if (running !== controller) return
    const concealed = concealedIn(error as Error)
    if (concealed !== undefined && wanted.facets.includes(concealed)) {
      // This repeats the request without it.
      concealedFacets.value = new Set([...concealedFacets.value, concealed])
      return
    }
    countError.value = error as Error
  }
  const isDue = isRecountDue
  stop()
  if (isDue) recountSoon()
}

/** Repeats the current count. */
export function recount(): void {
  if (request.value) void count(request.value)
}

function countWhenVisible(): void {
  if (document.hidden) document.addEventListener('visibilitychange', recount, { once: true })
  else recount()
}

/** Schedules another count after new events. Calls are coalesced. */
export function recountSoon(): void {
  if (running) isRecountDue = true
  else next ??= setTimeout(countWhenVisible, pause())
}

/** Counts whenever the query, the zone or the facets change. */
export function followCounts(): void {
  effect(() => {
    stop()
    const now = request.value
    if (now) untracked(() => void count(now))
  })
}
