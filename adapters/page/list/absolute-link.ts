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

/** A time that is over and after all events. The clock of the service may be ahead of the clock here. */
function endAfter(now: Date, times: readonly string[]): string {
  const newest = times.reduce((last, time) => (time > last ? time : last), '')
  const text = now.toISOString()
  return newest < text ? text : after(newest)
}

/** The end of the shown range. The events of the list are not later; waiting events are. */
function shownEnd(): string {
  const { events, hasFirst } = loadedWindow.value
  const times = events.map(({ created_at }) => created_at)
  if (!isNewestFirst(shownSorts.value)) return endAfter(queryTime(), times)
  const [newest] = times
  if (waitingCount.value > 0 && hasFirst && newest !== undefined) return after(newest)
  return endAfter(new Date(), [newestKnown()])
}

/** The query with the ends of its range as they are now. */
function absoluteQuery(shown: PageQuery): PageQuery {
  const { from, to } = rangeAt(shown.range, queryTime())
  const end = shownEnd()
  return { ...shown, range: { from, to: to !== undefined && to < end ? to : end } }
}

/** An address that shows any user the current list: the same events with the same display. */
export function absoluteAddress(): string {
  const text = fault.value ? search.value : formatPageQuery(absoluteQuery(query.value))
  const display = Object.entries(shownDisplay()).map(([name, value]) => `${name}=${encoded(value)}`)
  const address = new URL(location.href)
  address.search = [text, ...display].join('&')
  return address.href.replaceAll('%5B', '[').replaceAll('%5D', ']')
}
