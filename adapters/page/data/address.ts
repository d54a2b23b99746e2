import { computed, signal } from '@preact/signals'
import { ALL_TIME, formatPageQuery, type PageQuery, parsePageQuery } from './query.js'

/*
 * The address is where the query is kept: whatever changes it, changes the address, and back and
 * forward bring the old one again. `#event=<id>` is the event that is open.
 */

const DEFAULT_SEARCH = 'range=24h'

const read = (): string => {
  // Brackets are shown and copied as they are meant.
  const search = location.search.slice(1).replaceAll('%5B', '[').replaceAll('%5D', ']')
  return search === '' ? DEFAULT_SEARCH : search
}

const EVENT = /^#event=(.+)$/

const readOpen = (): string | undefined => {
  const [, id] = EVENT.exec(location.hash) ?? []
  return id === undefined ? undefined : decodeURIComponent(id)
}

/** The query as the address has it, without `?`. */
export const search = signal(read())

/** The id of the event that is open. */
export const openId = signal(readOpen())

interface Read {
  readonly query: PageQuery
  /** Why the address cannot be read. */
  readonly fault: Error | undefined
}

const NOTHING: PageQuery = { where: [], sorts: [], range: ALL_TIME }

let lastGood = NOTHING

const parsed = computed((): Read => {
  try {
    lastGood = parsePageQuery(search.value)
    return { query: lastGood, fault: undefined }
  } catch (error) {
    return { query: lastGood, fault: error as Error }
  }
})

/** What the address asks for; where it cannot be read, what it asked for before. */
export const query = computed(() => parsed.value.query)

/** Why the address cannot be read; nothing is asked of the server then. */
export const fault = computed(() => parsed.value.fault)

function write(replace: boolean): void {
  const hash = openId.value === undefined ? '' : `#event=${encodeURIComponent(openId.value)}`
  const address = `${location.pathname}?${search.value}${hash}`
  if (address === `${location.pathname}${location.search}${location.hash}`) return
  if (replace) history.replaceState(null, '', address)
  else history.pushState(null, '', address)
}

/** Takes a query as text, also one that cannot be read: then `fault` says why. */
export function goToText(text: string): void {
  search.value = text
  write(false)
}

export function goTo(next: PageQuery): void {
  goToText(formatPageQuery(next))
}

export function changeQuery(change: (query: PageQuery) => PageQuery): void {
  goTo(change(query.value))
}

/** Shows an event beside the list; `undefined` shows none. Stepping from one to another leaves no trail. */
export function openEvent(id: string | undefined): void {
  const replace = openId.value !== undefined && id !== undefined
  openId.value = id
  write(replace)
}

/** Follows the browser's back and forward. */
export function followAddress(): void {
  write(true)
  addEventListener('popstate', () => {
    search.value = read()
    openId.value = readOpen()
  })
}
