import { effect, signal } from '@preact/signals'
import { fault, query } from '../data/address.js'
import { formatPageQuery, parsePageQuery } from '../data/query.js'

const KEY = 'daybook.recent'
const MOST = 12

const isReadable = (search: unknown): search is string => {
  try {
    return typeof search === 'string' && parsePageQuery(search).where.length > 0
  } catch {
    return false
  }
}

function read(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isReadable) : []
  } catch {
    return []
  }
}

/** Queries that were shown in this browser, the latest first. */
export const recent = signal(read())

/** Keeps each query that is shown, whether or not it was typed. */
export function followRecent(): void {
  effect(() => {
    if (fault.value || query.value.where.length === 0) return
    const search = formatPageQuery(query.value)
    const kept = [search, ...recent.peek().filter((other) => other !== search)].slice(0, MOST)
    recent.value = kept
    localStorage.setItem(KEY, JSON.stringify(kept))
  })
}
