import { computed, effect, signal } from '@preact/signals'
import type { AuditEvent } from '../../../src/event/event.js'
import { types } from '../data/account.js'
import { openId } from '../data/address.js'
import { ApiError, readEvent, streamUrl } from '../data/api.js'
import { loadedEvents } from '../list/loading.js'
import { type Change, patched } from '../data/json-patch.js'
import { noteOpen, openEvents } from '../data/open-events.js'
import { ALL_TIME, apiQuery, conditionOn } from '../data/query.js'

/** Whether the event that is asked for is the one shown, and if not, why. */
export type OpenedState = 'loading' | 'ready' | 'missing' | 'denied' | 'failed'

export const openedState = signal<OpenedState>('loading')

/** The event as it is by now; while the next one loads, the one before. */
export const shown = signal<AuditEvent | undefined>(undefined)

/** Counts up to ask again. */
const tries = signal(0)

export const tryAgain = (): void => {
  tries.value++
}

/** The event that has a stream of its own: what that tells is newer than what the list has. */
let followed: string | undefined

const STATES: Readonly<Record<number, OpenedState>> = { 403: 'denied', 404: 'missing' }

const show = (event: AuditEvent): void => {
  shown.value = event
  openedState.value = 'ready'
}

effect(() => {
  const id = openId.value
  void tries.value
  if (id === undefined) {
    shown.value = undefined
    return
  }
  const row = loadedEvents.peek().find((event) => event.id === id)
  if (row) {
    show(row)
    return
  }
  const asking = new AbortController()
  openedState.value = 'loading'
  readEvent(id, asking.signal).then(show, (error: unknown) => {
    if (asking.signal.aborted) return
    const state = error instanceof ApiError ? STATES[error.status] : undefined
    openedState.value = state ?? 'failed'
  })
  return () => asking.abort()
})

effect(() => {
  const row = loadedEvents.value.find(({ id }) => id === openId.value)
  if (row && row.id !== followed && row !== shown.peek()) show(row)
})

/** True while the event is open and goes on changing. */
export const isGrowing = computed(() => {
  const id = shown.value?.id
  return id !== undefined && id === openId.value && openEvents.value.has(id)
})

/** The event, where it may go on, also beside a list that it is not in. */
const followedId = computed(() => {
  const event = shown.value
  if (!event || event.id !== openId.value) return undefined
  return types.value[event.type]?.live || openEvents.value.has(event.id) ? event.id : undefined
})

// A stream tells at once of an event that is open; of another it never would.
const SILENCE_MS = 5000

effect(() => {
  const id = followedId.value
  if (id === undefined) return
  const where = [conditionOn('id', 'eq', [id])]
  const query = apiQuery({ where, sorts: [], range: ALL_TIME })
  const stream = new EventSource(streamUrl(query, shown.peek()!.created_at))
  const silence = setTimeout(() => stream.close(), SILENCE_MS)
  stream.addEventListener('change', ({ data }: MessageEvent<string>) => {
    const { patch, closed } = JSON.parse(data) as { patch: Change[]; closed: boolean }
    clearTimeout(silence)
    followed = id
    const event = shown.peek()!
    show({ ...event, attributes: patched(event.attributes, patch) })
    noteOpen(id, !closed)
    if (closed) stream.close()
  })
  return () => {
    clearTimeout(silence)
    stream.close()
    followed = undefined
  }
})
