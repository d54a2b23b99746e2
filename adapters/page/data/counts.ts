import { computed, effect, signal, untracked } from '@preact/signals'
import type { EventCounts } from '../../../src/store/counts.js'
import { fault, query, search } from './address.js'
import { countEvents } from './api.js'
import { zone } from './format.js'
import { apiQuery, rangeAt } from './query.js'

/*
 * Chart, legend and facets come from one call: asked with each query, cancelled by the next, and
 * again as events come in.
 */

/** Most bars: the server takes the narrowest round width that keeps within it. */
const BUCKETS = 120

/** Beyond the five that a facet shows, so that chosen values are mostly among them. */
const FEW_VALUES = 20

/** What the server gives at most. */
const ALL_VALUES = 1000

interface Counted {
  readonly counts: EventCounts
  readonly search: string
  /** The ends of the range when it was asked; an open end was then. */
  readonly range: ReturnType<typeof rangeAt>
}

const counted = signal<Counted | undefined>(undefined)

/** The counts of the present query; those of the one before while they are being asked for. */
export const counts = computed(() => counted.value?.counts)

/** The ends of the stretch that was counted; an open one is `undefined`. */
export const countedRange = computed(
  () => counted.value?.range ?? { from: undefined, to: undefined },
)

/** The counts are those of a query before. */
export const areOld = computed(
  () => counted.value !== undefined && counted.value.search !== search.value,
)

export const isCounting = signal(false)

/** Why the last asking failed; the counts are then older ones. */
export const countingFault = signal<Error | undefined>(undefined)

/** The facet of which all values are shown. */
export const openFacet = signal<string | undefined>(undefined)

/** The attribute of this facet is in few events, so that it is shown only where it has values. */
const SOMETIMES = 'url_params_project_code'

const DEFAULT_FACETS: readonly string[] = ['type', 'username', SOMETIMES]

const KEPT = 'daybook.facets'

/** `undefined` while the reader has chosen none. */
const chosenFacets = signal(readChosen())

function readChosen(): readonly string[] | undefined {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? 'null')
    if (Array.isArray(kept)) return kept.filter((name) => typeof name === 'string')
  } catch {
    // Written by somebody else: the defaults do.
  }
  return undefined
}

const askedFacets = computed(() => chosenFacets.value ?? DEFAULT_FACETS)

/** The attributes that are shown as facets, beside level. */
export const facetNames = computed(() => {
  if (chosenFacets.value) return chosenFacets.value
  const isSeen = (counts.value?.facets[SOMETIMES]?.distinct ?? 0) > 0
  return DEFAULT_FACETS.filter((name) => name !== SOMETIMES || isSeen)
})

/** Shows these facets from now on, in this browser. */
export function chooseFacets(names: readonly string[]): void {
  chosenFacets.value = names
  localStorage.setItem(KEPT, JSON.stringify(names))
}

/** What to ask for; `undefined` while the address cannot be read. */
const asked = computed(() =>
  fault.value === undefined
    ? {
        search: search.value,
        query: query.value,
        wanted: {
          buckets: BUCKETS,
          zone: zone.value,
          facets: ['level', ...askedFacets.value],
          top: openFacet.value === undefined ? FEW_VALUES : ALL_VALUES,
        },
      }
    : undefined,
)

let asking: AbortController | undefined
let next: ReturnType<typeof setTimeout> | undefined
let isAskedAgain = false

/** Milliseconds; tenfold the time it takes, so that pages left open do not keep the server busy. */
const pause = (): number => Math.max(3000, 10 * (counts.value?.took_ms ?? 0))

function stop(): void {
  asking?.abort()
  asking = undefined
  clearTimeout(next)
  next = undefined
  isAskedAgain = false
  isCounting.value = false
}

async function count({ search, query, wanted }: NonNullable<typeof asked.value>): Promise<void> {
  stop()
  const controller = new AbortController()
  asking = controller
  isCounting.value = true
  const now = new Date()
  try {
    const text = apiQuery({ ...query, sorts: [] }, now)
    const answer = await countEvents(text, wanted, controller.signal)
    if (asking !== controller) return
    counted.value = { counts: answer, search, range: rangeAt(query.range, now) }
    countingFault.value = undefined
  } catch (error) {
    if (asking !== controller) return
    countingFault.value = error as Error
  }
  const isBumped = isAskedAgain
  stop()
  if (isBumped) bumpCounts()
}

/** Asks again for the same. */
export function countAgain(): void {
  if (asked.value) void count(asked.value)
}

function countWhenSeen(): void {
  if (document.hidden) document.addEventListener('visibilitychange', countAgain, { once: true })
  else countAgain()
}

/** Counts again soon, for events have come in; may be called as often as they do. */
export function bumpCounts(): void {
  if (asking) isAskedAgain = true
  else next ??= setTimeout(countWhenSeen, pause())
}

/** Counts whenever the query, the zone or the facets change. */
export function followCounts(): void {
  effect(() => {
    stop()
    const now = asked.value
    if (now) untracked(() => void count(now))
  })
}
