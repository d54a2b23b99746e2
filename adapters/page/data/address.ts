import { computed, signal } from '@preact/signals'
import { ALL_TIME, formatPageQuery, type PageQuery, parsePageQuery } from './query.js'

/*
 * The query is stored in the page's address, so Back and Forward restore earlier queries.
 * `#event=<id>` names the open event, `#subscriptions` and `#channels` open what users manage.
 */

const DEFAULT_SEARCH = 'range=24h'

const read = (): string => {
  // Unescaped brackets are easier to read and to copy.
  const search = location.search.slice(1).replaceAll('%5B', '[').replaceAll('%5D', ']')
  return search === '' ? DEFAULT_SEARCH : search
}

const readHash = (pattern: RegExp): string | undefined => {
  const [, text] = pattern.exec(location.hash) ?? []
  return text === undefined ? undefined : decodeURIComponent(text)
}

const readOpen = (): string | undefined => readHash(/^#event=(.+)$/)

const readManaged = (): string | undefined => readHash(/^#((?:subscriptions|channels)(?:=.*)?)$/)

/** The query string of the address, without `?`. */
export const search = signal(read())

/** The id of the open event. */
export const openId = signal(readOpen())

/** What is open to be managed: `subscriptions`, or `channels=<id>`. Never set together with `openId`. */
export const managed = signal(readManaged())

interface Read {
  readonly query: PageQuery
  /** The error from parsing the address. */
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

/** The query in the address; while that is invalid, the last valid one. */
export const query = computed(() => parsed.value.query)

/** The error from parsing the address; while it is set, no request is sent. */
export const fault = computed(() => parsed.value.fault)

function write(replace: boolean): void {
  const open =
    openId.value === undefined ? managed.value : `event=${encodeURIComponent(openId.value)}`
  const hash = open === undefined ? '' : `#${open}`
  const address = `${location.pathname}?${search.value}${hash}`
  if (address === `${location.pathname}${location.search}${location.hash}`) return
  if (replace) history.replaceState(null, '', address)
  else history.pushState(null, '', address)
}

/** Navigates to a query string. An invalid one sets `fault`. */
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

/** Opens an event beside the list; `undefined` closes it. Going from one event to the next adds no history entry. */
export function openEvent(id: string | undefined): void {
  const replace = openId.value !== undefined && id !== undefined
  openId.value = id
  managed.value = undefined
  write(replace)
}

/** Opens what users manage beside the list; `undefined` closes it. */
export function openManaged(place: string | undefined): void {
  managed.value = place
  openId.value = undefined
  write(false)
}

/** Updates the signals on the browser's Back and Forward. */
export function followAddress(): void {
  write(true)
  addEventListener('popstate', () => {
    search.value = read()
    openId.value = readOpen()
    managed.value = readManaged()
  })
}
