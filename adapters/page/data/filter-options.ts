import { computed, signal } from '@preact/signals'
import type { EventCounts, Facet, SeenAttribute } from '../../../src/store/counts.js'
import type { OwnField } from '../../../src/event/own-fields.js'
import { types } from './account.js'
import { fault, query } from './address.js'
import { countEvents } from './api.js'
import type { FilterableAttribute } from './filterable-attribute.js'
import { apiQuery } from './query.js'

/*
 * Attributes and values to filter by. Loaded when a field first needs them, and again for another query.
 */

/** Attributes of matching events, with the most frequent users and types. */
const counted = signal<EventCounts | undefined>(undefined)

/** The most frequent values of each attribute, by attribute name. */
export const valueCounts = signal<ReadonlyMap<string, Facet>>(new Map())

let loadedFor: unknown

// If nothing matches, the options come from all events in the range.
async function count(): Promise<EventCounts> {
  const wanted = { attributes: true, facets: ['username', 'type'], top: 20 }
  const counts = await countEvents(apiQuery(query.value), wanted)
  if (counts.total > 0 || query.value.where.length === 0) return counts
  return countEvents(apiQuery({ ...query.value, where: [] }), wanted)
}

async function load(): Promise<void> {
  const loading = (loadedFor = query.value)
  try {
    const counts = await count()
    if (loading !== loadedFor) return
    counted.value = counts
    valueCounts.value = new Map(Object.entries(counts.facets))
  } catch {
    // Retried when the next field gets the focus.
    loadedFor = undefined
  }
}

/** Loads the options, unless they are loaded for the current query. */
export function loadFilterOptions(): void {
  if (loadedFor !== query.value && !fault.value) void load()
}

// Unique per event, so the API does not count their values.
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

/** The number of events that were counted. */
export const countedTotal = computed(() => counted.value?.total)

/** Most used first. */
const OWN_TYPES: Readonly<Record<OwnField, string>> = {
  username: 'string',
  type: 'string',
  created_at: 'time',
  system: 'boolean',
  id: 'uuid',
}

const OWN_FIELDS = Object.keys(OWN_TYPES) as readonly OwnField[]

const texts = (facet: Pick<Facet, 'values'> | undefined): FilterableAttribute['values'] =>
  (facet?.values ?? []).flatMap(({ value, count }) =>
    value === null || typeof value === 'object' ? [] : [{ value: String(value), count }],
  )

/** The fields of every event, then attributes seen in events, then others that the registry declares. */
export const filterableAttributes = computed((): readonly FilterableAttribute[] => {
  const facets = valueCounts.value
  const attribute = (
    name: string,
    from: FilterableAttribute['from'],
    types: readonly string[],
    counted?: SeenAttribute,
  ): FilterableAttribute => ({
    name,
    from,
    types,
    count: counted?.count,
    values: texts(facets.get(name) ?? counted),
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
  const seen = (counted.value?.attributes ?? [])
    .filter(({ name }) => !names.has(name))
    .map((counted) => attribute(counted.name, 'seen', counted.types, counted))
  for (const { name } of seen) names.add(name)
  const keys = Object.values(types.value).flatMap(({ data }) => (Array.isArray(data) ? data : []))
  const declared = [...new Set(keys as string[])].filter((name) => !names.has(name)).toSorted()
  return [...own, ...seen, ...declared.map((name) => attribute(name, 'registry', []))]
})
