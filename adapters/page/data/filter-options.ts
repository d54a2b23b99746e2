import { computed, signal } from '@preact/signals'
import type { EventCounts, Facet, SeenAttribute } from '../../../src/store/counts.js'
import type { OwnField } from '../../../src/event/own-fields.js'
import { types } from './account.js'
import { fault, query } from './address.js'
import { countEvents } from './api.js'
import type { FilterableAttribute } from './filterable-attribute.js'
import { apiQuery, type Conjunct, isGrouping } from './query.js'

/*
 * Attributes and values to filter by. Loaded when a field first needs them, and again for another query.
 */

interface Counted {
  readonly counts: EventCounts
  /** True if the counts are of the query; false if they are of all events in its range. */
  readonly isOfQuery: boolean
}

/** Attributes of matching events, with the most frequent users and types. */
const counted = signal<Counted | undefined>(undefined)

/** The most frequent values of each attribute, by attribute name. */
export const valueCounts = signal<ReadonlyMap<string, Facet>>(new Map())

let loadedFor: unknown
let loading = Promise.resolve()

// If nothing matches, the options come from all events in the range.
async function count(): Promise<Counted> {
  const wanted = { attributes: true, facets: ['username', 'type'], top: 20 }
  const counts = await countEvents(apiQuery(query.value), wanted)
  if (counts.total > 0 || !counts.exact.total || query.value.where.length === 0)
    return { counts, isOfQuery: true }
  const all = await countEvents(apiQuery({ ...query.value, where: [] }), wanted)
  return { counts: all, isOfQuery: false }
}

async function load(): Promise<void> {
  const wanted = (loadedFor = query.value)
  try {
    const found = await count()
    if (wanted !== loadedFor) return
    counted.value = found
    valueCounts.value = new Map(Object.entries(found.counts.facets))
  } catch {
    // Retried when the next field gets the focus.
    loadedFor = undefined
  }
}

/** Loads the options, unless they are loaded for the current query. */
export function loadFilterOptions(): void {
  if (loadedFor !== query.value && !fault.value) loading = load()
}

/** Resolves once options are loaded, even for an earlier query, or loading failed. */
export const filterOptionsLoaded = (): Promise<void> =>
  counted.value ? Promise.resolve() : loading

// The values are unique to each event, so the API does not count them.
const UNCOUNTED: ReadonlySet<string> = new Set(['id', 'created_at'])

/** Loads the most frequent values of an attribute, unless they are loaded. */
export async function loadValues(name: string, signal: AbortSignal): Promise<void> {
  if (valueCounts.value.has(name) || UNCOUNTED.has(name)) return
  try {
    const { facets } = await countEvents(apiQuery(query.value), { facets: [name], top: 20 }, signal)
    const facet = facets[name]
    if (facet) valueCounts.value = new Map([...valueCounts.value, [name, facet]])
  } catch {
    // Aborted or failed: the field works without values.
  }
}

/** The number of matching events; `undefined` while unknown. */
export const countedTotal = computed(() => {
  const { counts, isOfQuery } = counted.value ?? {}
  return isOfQuery && counts?.exact.total ? counts.total : undefined
})

const concerns = (conjunct: Conjunct, name: string): boolean =>
  isGrouping(conjunct)
    ? [...conjunct.conditions, ...conjunct.groupings].some((one) => concerns(one, name))
    : conjunct.attributes.includes(name) || conjunct.joinedName === name

/** True if the facet of an attribute counts the events of the query: it leaves out conditions on its own attribute. */
export const isUnfiltered = (name: string): boolean =>
  !query.value.where.some((conjunct) => concerns(conjunct, name))

/** The own fields with their types, most used first. */
const OWN_TYPES: Readonly<Record<OwnField, string>> = {
  username: 'string',
  type: 'string',
  created_at: 'time',
  system: 'boolean',
  id: 'uuid',
}

const OWN_FIELDS = Object.keys(OWN_TYPES) as readonly OwnField[]

/** The values as texts. If `areExact`, each has the number of events that the query has with this value. */
function texts(values: Facet['values'], areExact: boolean): FilterableAttribute['values'] {
  const found = new Map<string, { value: string; count?: number }>()
  for (const { value, count } of values) {
    if (value === null || typeof value === 'object') continue
    const text = String(value)
    // A filter finds the number 1 and the text "1" together.
    found.set(text, { value: text, ...(areExact && !found.has(text) && { count }) })
  }
  return [...found.values()]
}

/** The fields of every event, then attributes seen in events, then others that the registry declares. */
export const filterableAttributes = computed((): readonly FilterableAttribute[] => {
  const facets = valueCounts.value
  const { counts, isOfQuery = false } = counted.value ?? {}
  const areNamesExact = isOfQuery && counts?.exact.attributes === true
  const valuesOf = (name: string, seen?: SeenAttribute): FilterableAttribute['values'] => {
    const facet = facets.get(name)
    if (!facet) return texts(seen?.values ?? [], areNamesExact)
    return texts(facet.values, isOfQuery && facet.exact && isUnfiltered(name))
  }
  const attribute = (
    name: string,
    from: FilterableAttribute['from'],
    types: readonly string[],
    seen?: SeenAttribute,
  ): FilterableAttribute => ({
    name,
    from,
    types,
    count: areNamesExact ? seen?.count : undefined,
    values: valuesOf(name, seen),
  })
  const registered = Object.keys(types.value).map((value) => ({ value }))
  const flags = ['true', 'false'].map((value) => ({ value }))
  const own = OWN_FIELDS.map((name) => attribute(name, 'own', [OWN_TYPES[name]])).map((field) => {
    if (field.name === 'system' && field.values.length === 0) return { ...field, values: flags }
    if (field.name !== 'type') return field
    const seen = new Set(field.values.map(({ value }) => value))
    return {
      ...field,
      values: [...field.values, ...registered.filter(({ value }) => !seen.has(value))],
    }
  })
  const names = new Set<string>(OWN_FIELDS)
  const seen = (counts?.attributes ?? [])
    .filter(({ name }) => !names.has(name))
    .map((one) => attribute(one.name, 'seen', one.types, one))
  for (const { name } of seen) names.add(name)
  const keys = Object.values(types.value).flatMap(({ data }) => (Array.isArray(data) ? data : []))
  const declared = [...new Set(keys as string[])].filter((name) => !names.has(name)).toSorted()
  return [...own, ...seen, ...declared.map((name) => attribute(name, 'registry', []))]
})
