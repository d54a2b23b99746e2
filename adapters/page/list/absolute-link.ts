import { formatTimestamp, parseTimestamp } from '../../../src/event/timestamp.js'
import { fault, query, search } from '../data/address.js'
import { encoded } from '../data/query-tokens.js'
import { formatPageQuery, type PageQuery, rangeAt } from '../data/query.js'
import { shownDisplay } from './display.js'
import { waitingCount } from './live-updates.js'
import { loadedWindow, newestKnown, queryTime, shownSorts } from './loading.js'
import { isNewestFirst } from './paging.js'

/** The first time after an event. */
const after = (created_at: string): string => formatTimestamp(parseTimestamp(created_at)! + 1)

/** The end of the shown range: no event of the list is later, and those that wait are. */
function shownEnd(): string {
  if (!isNewestFirst(shownSorts.value)) return queryTime().toISOString()
  const { events, hasFirst } = loadedWindow.value
  const [newest] = events
  if (waitingCount.value > 0 && hasFirst && newest) return after(newest.created_at)
  const [now, known] = [new Date().toISOString(), newestKnown()]
  // The clock of the service may be ahead of this one.
  return known < now ? now : after(known)
}

/** The query with the ends of its range as they are now. */
function absoluteQuery(shown: PageQuery): PageQuery {
  const { from, to } = rangeAt(shown.range, queryTime())
  const end = shownEnd()
  return { ...shown, range: { from, to: to !== undefined && to < end ? to : end } }
}

/** An address that shows any user what is shown now: the same events, in the same way. */
export function absoluteAddress(): string {
  const text = fault.value ? search.value : formatPageQuery(absoluteQuery(query.value))
  const display = Object.entries(shownDisplay()).map(([name, value]) => `${name}=${encoded(value)}`)
  const address = new URL(location.href)
  address.search = [text, ...display].join('&')
  return address.href.replaceAll('%5B', '[').replaceAll('%5D', ']')
}
