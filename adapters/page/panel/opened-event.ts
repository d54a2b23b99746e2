import { computed, effect, signal } from '@preact/signals'
import type { AuditEvent } from '../../../src/event/event.js'
import { types } from '../data/account.js'
import { openId } from '../data/address.js'
import { ApiError, readEvent, streamUrl } from '../data/api.js'
import { streamOrPoll } from '../data/stream-place.js'
import { isVisible } from '../data/visibility.js'
import { isFollowed } from '../list/live-state.js'
import { liveState } from '../list/live-updates.js'
import { loadedEvents } from '../list/loading.js'
import { type Change, applyPatch } from '../data/json-patch.js'
import { markOpen, openEvents } from '../data/open-events.js'
import { ALL_TIME, apiQuery, conditionOn } from '../data/query.js'

/** The loading state of the open event. */
export type OpenedState = 'loading' | 'ready' | 'missing' | 'denied' | 'failed'

export const openedState = signal<OpenedState>('loading')

/** The current state of the open event. While another event loads, the previous event. */
export const shown = signal<AuditEvent | undefined>(undefined)

/** Incremented to retry. */
const attempts = signal(0)

export const tryAgain = (): void => {
  attempts.value++
}

/** The event with its own stream. It is newer than the row in the list. */
let streamedId: string | undefined

const STATES: Readonly<Record<number, OpenedState>> = { 403: 'denied', 404: 'missing' }

const show = (event: AuditEvent): void => {
  shown.value = event
  openedState.value = 'ready'
}

effect(() => {
  const id = openId.value
  void attempts.value
  if (id === undefined) {
    shown.value = undefined
    return
  }
  const row = loadedEvents.peek().find((event) => event.id === id)
  if (row) {
    show(row)
    return
  }
  const controller = new AbortController()
  openedState.value = 'loading'
  readEvent(id, controller.signal).then(show, (error: unknown) => {
    if (controller.signal.aborted) return
    const state = error instanceof ApiError ? STATES[error.status] : undefined
    openedState.value = state ?? 'failed'
  })
  return () => controller.abort()
})

effect(() => {
  const row = loadedEvents.value.find(({ id }) => id === openId.value)
  if (row && row.id !== streamedId && row !== shown.peek()) show(row)
})

/** True if the shown event is live and still open. */
export const isGrowing = computed(() => {
  const id = shown.value?.id
  return id !== undefined && id === openId.value && openEvents.value.has(id)
})

/** The id of the event that this module follows. It may be live, and is not in the stream of the list. */
const idToFollow = computed(() => {
  const event = shown.value
  if (!event || event.id !== openId.value || !isVisible.value) return undefined
  const mayGrow = types.value[event.type]?.live || openEvents.value.has(event.id)
  const isInList =
    isFollowed(liveState.value) && loadedEvents.value.some(({ id }) => id === openId.value)
  return mayGrow && !isInList ? event.id : undefined
})

/** A window has one stream. While the list uses it, this module polls for the event. */
const mayStream = computed(() => !isFollowed(liveState.value))

// A stream reports an open event as soon as it is open; without a report in this time, the event is closed.
const REPORT_TIMEOUT_MS = 5000
const POLL_MS = 2000

/** Streams the changes of the event. */
function stream(id: string): () => void {
  const where = [conditionOn('id', 'eq', [id])]
  const query = apiQuery({ where, sorts: [], range: ALL_TIME })
  const source = new EventSource(streamUrl(query, shown.peek()!.created_at))
  let reportTimeout: ReturnType<typeof setTimeout> | undefined
  source.addEventListener('open', () => {
    clearTimeout(reportTimeout)
    reportTimeout = setTimeout(() => source.close(), REPORT_TIMEOUT_MS)
  })
  source.addEventListener('change', ({ data }: MessageEvent<string>) => {
    const { patch, closed } = JSON.parse(data) as { patch: Change[]; closed: boolean }
    clearTimeout(reportTimeout)
    streamedId = id
    const event = shown.peek()!
    show({ ...event, attributes: applyPatch(event.attributes, patch) })
    markOpen(id, !closed)
    if (closed) source.close()
  })
  return () => {
    clearTimeout(reportTimeout)
    source.close()
  }
}

/** Polls for the event until it is closed. */
function poll(id: string): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  const read = async (): Promise<void> => {
    const event = await readEvent(id).catch(() => undefined)
    if (isOver) return
    if (event) {
      streamedId = id
      show(event)
    }
    if (!event || openEvents.peek().has(id)) timer = setTimeout(() => void read(), POLL_MS)
  }
  void read()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

effect(() => {
  const id = idToFollow.value
  if (id === undefined) return
  const pollIt = (): (() => void) => poll(id)
  const end = mayStream.value ? streamOrPoll(() => stream(id), pollIt) : pollIt()
  return () => {
    end()
    streamedId = undefined
  }
})
