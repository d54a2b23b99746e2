import { batch, computed, effect, signal, untracked } from '@preact/signals'
import type { AuditEvent } from '../../../src/event/event.js'
import { isTooLongForUrl } from '../../../src/filter/url-length.js'
import { types } from '../data/account.js'
import { changeQuery, fault, openId, query, search } from '../data/address.js'
import { ApiError } from '../data/api.js'
import { recountSoon } from '../data/counts.js'
import { markOpen, openEvents } from '../data/open-events.js'
import { texts } from '../ui/texts.js'
import { announce } from '../ui/notes.js'
import { connect, isOffline, tryNow } from './connection.js'
import { withNewest } from './loaded-window.js'
import {
  isFollowed,
  type LiveState,
  liveStateIn,
  NONE_WAITING,
  waiting,
  waitingSince,
  withWaiting,
} from './live-state.js'
import {
  failure,
  loadedWindow,
  isStale,
  markKnownUpTo,
  loadFirst,
  newestKnown,
  scrollTarget,
  TOP,
} from './loading.js'
import { isNewestFirst } from './paging.js'
import { apiQuery, rangeAt } from '../data/query.js'
import { isVisible } from '../data/visibility.js'
import type { ChangeFrame } from './live-changes.js'
import { isRowHovered, isSelecting } from './interaction.js'
import { isAtTop } from './viewport.js'

const isPaused = signal(false)

const isRefusal = (error: Error | undefined): boolean =>
  error instanceof ApiError && error.status < 500

export const liveState = computed((): LiveState =>
  liveStateIn(
    {
      isRefused: fault.value !== undefined || isRefusal(failure.value),
      isSorted: !isNewestFirst(query.value.sorts),
      isTooLong: isTooLongForUrl(apiQuery(query.value)),
      to: rangeAt(query.value.range, new Date()).to,
      isPaused: isPaused.value,
      isOffline: isOffline.value || (failure.value !== undefined && isStale.value),
      isReading:
        !isAtTop.value ||
        !loadedWindow.value.hasFirst ||
        isSelecting.value ||
        isRowHovered.value ||
        openId.value !== undefined,
    },
    new Date(),
  ),
)

/** The number of new events that are not shown yet. */
export const waitingCount = computed(() => waiting.value.count)

/** Events that were added a moment ago, for highlighting. */
const fresh = new WeakSet<AuditEvent>()
const FRESH_MS = 1500

export const isFresh = (event: AuditEvent): boolean => fresh.has(event)

function addWaiting(): void {
  const { events, count } = waiting.value
  waiting.value = NONE_WAITING
  if (!loadedWindow.value.hasFirst || count > events.length) {
    void loadFirst()
    return
  }
  for (const event of events) fresh.add(event)
  setTimeout(() => events.forEach((event) => fresh.delete(event)), FRESH_MS)
  loadedWindow.value = withNewest(loadedWindow.value, events)
}

/** Adds the waiting events to the list and scrolls to the top. */
export function showWaiting(): void {
  batch(() => {
    scrollTarget.value = TOP
    if (waiting.value.count > 0 || !loadedWindow.value.hasFirst) addWaiting()
  })
}

/** Pauses or resumes live updates. In a sorted list, restores the default order. Without a connection, reconnects. */
export function togglePause(): void {
  if (liveState.value === 'sorted') changeQuery((before) => ({ ...before, sorts: [] }))
  else if (liveState.value === 'offline') tryNow()
  else {
    isPaused.value = !isPaused.value
    announce(isPaused.value ? texts.list.paused : texts.list.live, true)
  }
}

const PAINT_MS = 250

let arrived: AuditEvent[] = []
const changes: ChangeFrame[] = []
let painting: ReturnType<typeof setTimeout> | undefined
let lastPainted = 0

/** Applies the changes in their order. If the code cannot be loaded, they are applied with the next changes. */
async function applyChanges(): Promise<void> {
  const late = await import('./live-changes.js')
  batch(() => changes.splice(0).forEach(late.change))
}

function paint(): void {
  painting = undefined
  lastPainted = performance.now()
  const events = arrived.toReversed()
  arrived = []
  batch(() => {
    if (events.length > 0) {
      waiting.value = withWaiting(waiting.value, events)
      recountSoon()
      if (liveState.value === 'live') addWaiting()
      else announce(texts.list.waiting(waiting.value.count))
    }
  })
  if (changes.length > 0) applyChanges().catch(() => undefined)
}

const schedulePaint = (): void => {
  painting ??= setTimeout(paint, Math.max(0, lastPainted + PAINT_MS - performance.now()))
}

function receive(event: AuditEvent): void {
  // The event may already be part of a loaded page.
  if (event.created_at <= newestKnown()) return
  markKnownUpTo(event.created_at)
  // For new events, the stream does not report whether they are open.
  if (types.peek()[event.type]?.live) markOpen(event.id, true)
  arrived.push(event)
  schedulePaint()
}

function follow(): () => void {
  const stop = connect({
    event: receive,
    change: (frame) => {
      changes.push(frame)
      schedulePaint()
    },
    opened: () => {
      // The stream does not report an event that was closed between the request for the list and the opening of the
      // stream.
      for (const id of openEvents.peek())
        import('./live-changes.js').then((late) => late.readAgain(id)).catch(() => undefined)
    },
  })
  return () => {
    stop()
    clearTimeout(painting)
    painting = undefined
    paint()
  }
}

/** The query to stream: the query of the shown rows, while the page is visible. */
const followed = computed(() =>
  isFollowed(liveState.value) && !isStale.value && isVisible.value ? search.value : undefined,
)

/** Starts the live updates of the list. */
export function followEvents(): void {
  effect(() => (followed.value === undefined ? undefined : untracked(follow)))
  effect(() => {
    if (isStale.value) untracked(() => (waiting.value = NONE_WAITING))
  })
  effect(() => {
    if (liveState.value === 'live' && waiting.value.count > 0) untracked(() => batch(addWaiting))
  })
  effect(() => {
    const { events, hasFirst } = loadedWindow.value
    const since = hasFirst ? events[0]?.created_at : undefined
    untracked(() => (waiting.value = waitingSince(waiting.value, since)))
  })
}
