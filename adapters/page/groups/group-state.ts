import { batch, computed, effect, signal, untracked } from '@preact/signals'
import type { EventGroup, EventGroups, GroupValue } from '../../../src/store/groups.js'
import { LEVELS } from '../../../src/event/level.js'
import {
  changeQuery,
  fault,
  joinNames,
  members,
  query,
  search,
  setMember,
  splitNames,
  zone,
} from '../data/address.js'
import { areCountsStale, counts } from '../data/counts.js'
import { levelConjunct } from '../data/level-choice.js'
import { apiQueryWith, type Conjunct, valueCondition, withConjunct } from '../data/query.js'
import { type Grouped, groupsSearch, requestGroups } from './group-request.js'

/* The groups of the current query. The address has their attributes. */

/** The groups in the address; `undefined` while the list is shown. */
export const grouped = computed((): Grouped | undefined => {
  const by = splitNames(members.groups.value ?? '').slice(0, 2)
  if (by.length === 0) return undefined
  return { by, numbers: splitNames(members.numbers.value ?? '').slice(0, 5) }
})

/** The last groups that were loaded. */
export const groups = signal<EventGroups | undefined>(undefined)

/** The error of the last request. */
export const groupsFault = signal<Error | undefined>(undefined)

export const isReading = signal(false)

/** Shows the groups by these attributes. */
export function groupBy({ by, numbers }: Grouped): void {
  members.numbers.value = numbers.length > 0 ? joinNames(numbers) : undefined
  setMember('groups', joinNames(by))
}

/** Goes back to the list. */
export function closeGroups(): void {
  members.numbers.value = undefined
  setMember('groups', undefined)
}

/** True if a filter can select the value. Queries leave out conditions with a blank value. */
const isFilterable = (value: GroupValue): boolean => value === null || String(value).trim() !== ''

export const canShow = ({ values }: EventGroup): boolean => values.every(isFilterable)

function conjunctOf(name: string, value: GroupValue): Conjunct {
  const level = name === 'level' && LEVELS.find((one) => one === value)
  if (level) return levelConjunct({ levels: [level], not: false })
  return valueCondition(name, value === null ? null : String(value))
}

/** Shows the events of a group in the list. */
export function showGroup({ values }: EventGroup, by: readonly string[]): void {
  batch(() => {
    members.groups.value = undefined
    members.numbers.value = undefined
    changeQuery((before) =>
      by.reduce((query, name, i) => withConjunct(query, conjunctOf(name, values[i]!)), before),
    )
  })
}

let running: AbortController | undefined

async function load(wanted: Grouped): Promise<void> {
  running?.abort()
  const controller = (running = new AbortController())
  const text = groupsSearch(apiQueryWith(query.value, []), wanted, zone.value)
  isReading.value = true
  try {
    const answer = await requestGroups(text, controller.signal)
    if (running !== controller) return
    batch(() => {
      groups.value = answer
      groupsFault.value = undefined
    })
  } catch (error) {
    if (running === controller) groupsFault.value = error as Error
  } finally {
    if (running === controller) isReading.value = false
  }
}

/** Loads the groups again. */
export function reloadGroups(): void {
  if (grouped.value && !fault.value) void load(grouped.value)
}

/**
 * Loads the groups whenever the query, the attributes or the zone change, and after new events. Returns a function
 * that ends this.
 */
export function followGroups(): () => void {
  let last = ''
  let loadedFor: number | undefined
  const end = effect(() => {
    if (!grouped.value || fault.value) return
    const wanted = JSON.stringify([search.value, zone.value, grouped.value])
    // After new events the page counts again. Both counts and groups may be estimates, so a count that differs from
    // the groups' total reloads the groups only once.
    const counted = areCountsStale.value ? undefined : counts.value?.total
    const known = groups.value?.total
    const hasNew = counted !== undefined && known !== undefined && counted !== known
    if (wanted === last && (!hasNew || counted === loadedFor)) return
    loadedFor = wanted === last ? counted : undefined
    last = wanted
    untracked(reloadGroups)
  })
  return () => {
    end()
    running?.abort()
    running = undefined
    groups.value = undefined
  }
}
