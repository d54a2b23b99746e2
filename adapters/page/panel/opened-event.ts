import { computed, effect, signal } from '@preact/signals'
import type { AuditEvent } from '../../../src/event/event.js'
import { types } from '../data/account.js'
import { openId } from '../data/address.js'
import { ApiError, readEvent, streamUrl } from '../data/api.js'
import { loadedEvents } from '../list/loading.js'
import { type Change, applyPatch } from '../data/json-patch.js'
import { markOpen, openEvents } from '../data/open-events.js'
import { ALL_TIME, apiQuery, conditionOn } from '../data/query.js'

/** The loading state of the open event. */
export type OpenedState = 'loading' | 'ready' | 'missing' | 'denied' | 'failed'

export const openedState = signal<OpenedState>('loading')

/** The current state of the open event; while another one loads, the previous event. */
export const shown = signal<AuditEvent | undefined>(undefined)

/** Incremented to retry. */
const attempts = signal(0)

export const tryAgain = (): void => {
  attempts.value++
}

/** The event that has its own stream, which is newer than the row in the list. */
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

/** The id of the event to stream, if it may be live. It need not be in the list. */
const idToStream = computed(() => {
  const event = shown.value
  if (!event || event.id !== openId.value) return undefined
  return types.value[event.type]?.live || openEvents.value.has(event.id) ? event.id : undefined
})

// A stream reports an open event at once; without a report in this time, the event is closed.
const REPORT_TIMEOUT_MS = 5000

effect(() => {
  const id = idToStream.value
  if (id === undefined) return
  const where = [conditionOn('id', 'eq', [id])]
  const query = apiQuery({ where, sorts: [], range: ALL_TIME })
  const stream = new EventSource(streamUrl(query, shown.peek()!.created_at))
  const reportTimeout = setTimeout(() => stream.close(), REPORT_TIMEOUT_MS)
  stream.addEventListener('change', ({ data }: MessageEvent<string>) => {
    const { patch, closed } = JSON.parse(data) as { patch: Change[]; closed: boolean }
    clearTimeout(reportTimeout)
    streamedId = id
    const event = shown.peek()!
    show({ ...event, attributes: applyPatch(event.attributes, patch) })
    markOpen(id, !closed)
    if (closed) stream.close()
  })
  return () => {
    clearTimeout(reportTimeout)
    stream.close()
    streamedId = undefined
  }
})
