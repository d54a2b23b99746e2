import { effect, signal } from '@preact/signals'
import { fault, query } from '../data/address.js'
import { filtersOf, formatPageQuery } from '../data/query.js'
import { readStored, store } from '../data/storage.js'

const KEY = 'daybook.recent'
const MAX_RECENT = 12

const isReadable = (search: unknown): search is string => {
  try {
    return typeof search === 'string' && filtersOf(search).length > 0
  } catch {
    return false
  }
}

function read(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(readStored(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isReadable) : []
  } catch {
    return []
  }
}

/** Queries used in this browser, latest first. */
export const recentQueries = signal(read())

/** Records every query with filters, typed or not. */
export function recordRecentQueries(): void {
  effect(() => {
    if (fault.value || query.value.where.length === 0) return
    const search = formatPageQuery(query.value)
    const kept = [search, ...recentQueries.peek().filter((other) => other !== search)].slice(
      0,
      MAX_RECENT,
    )
    recentQueries.value = kept
    store(KEY, JSON.stringify(kept))
  })
}
