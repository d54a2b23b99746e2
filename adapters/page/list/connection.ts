import { computed, signal } from '@preact/signals'
import { query } from '../data/address.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { ApiError, type EventResource, eventOf, listEvents, streamUrl } from '../data/api.js'
import { apiQuery } from '../data/query.js'
import { streamOrPoll } from '../data/stream-place.js'
import type { ChangeFrame } from './live-changes.js'
import { retryDelay } from './live-state.js'
import { failure, newestKnown, queryTime } from './loading.js'

/* The stream of new events, and its reconnection. Without a place for a stream, polls for new events. */

const POLL_MS = 5000

interface Loss {
  readonly since: string
  /** The time of the next attempt, as from `Date.now`; `undefined` during an attempt. */
  readonly retryAt: number | undefined
}

/** Set while the server is unreachable. */
export const connectionLoss = signal<Loss | undefined>(undefined)

export const isOffline = computed(() => connectionLoss.value !== undefined)

interface StreamHandlers {
  readonly event: (event: AuditEvent) => void
  readonly change: (frame: ChangeFrame) => void
  /** Called when the stream is open, for the first time or after a gap, or when new events were read. */
  readonly opened: () => void
}

let retryNow: (() => void) | undefined

/** Reconnects at once. */
export function tryNow(): void {
  retryNow?.()
}

/** Opens a stream. Returns a function that ends it. `lose` is called when the connection is lost. */
function openStream(filter: string, handlers: StreamHandlers, lose: () => void): () => void {
  let isForgiving = false
  const source = new EventSource(streamUrl(filter, newestKnown()))
  source.addEventListener('open', () => {
    isForgiving = true
    handlers.opened()
  })
  source.addEventListener('message', ({ data }: MessageEvent<string>) =>
    handlers.event(eventOf((JSON.parse(data) as { data: EventResource }).data)),
  )
  source.addEventListener('change', ({ data }: MessageEvent<string>) =>
    handlers.change(JSON.parse(data) as ChangeFrame),
  )
  source.addEventListener('error', () => {
    // When the server ends a stream, the browser reopens it. The first error of this kind does not mean that the
    // connection is lost.
    if (isForgiving && source.readyState === EventSource.CONNECTING) isForgiving = false
    else lose()
  })
  return () => source.close()
}

/** Reads the new events. Returns a function that drops them. `lose` is called if they cannot be read. */
function readOnce(use: (events: readonly AuditEvent[]) => void, lose: () => void): () => void {
  let isOver = false
  import('./polling.js')
    .then(({ readNew }) => readNew())
    .then((events) => isOver || use(events))
    .catch(() => isOver || lose())
  return () => {
    isOver = true
  }
}

/** Follows the query. Returns a function that ends this. Reconnects without missing events. */
export function connect(handlers: StreamHandlers): () => void {
  let end: (() => void) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let attempt = 0
  let isStopped = false

  const filter = (): string => apiQuery(query.value, queryTime())

  const stream = (): (() => void) => openStream(filter(), { ...handlers, opened }, lose)

  const open = (): void => {
    end = streamOrPoll(stream, poll)
  }

  function opened(): void {
    attempt = 0
    connectionLoss.value = undefined
    handlers.opened()
  }

  function close(): void {
    end?.()
    clearTimeout(timer)
  }

  /** Reads once. From time to time looks for a free place for a stream. */
  const poll = (): (() => void) =>
    readOnce((events) => {
      events.forEach(handlers.event)
      opened()
      timer = setTimeout(open, POLL_MS)
    }, lose)

  function lose(): void {
    close()
    const seconds = retryDelay(attempt++)
    const since = connectionLoss.value?.since ?? new Date().toISOString()
    connectionLoss.value = { since, retryAt: Date.now() + seconds * 1000 }
    timer = setTimeout(() => void retry(), seconds * 1000)
  }

  /** Sends a plain request first: an `EventSource` does not report the status of an error. */
  async function retry(): Promise<void> {
    clearTimeout(timer)
    if (connectionLoss.value) connectionLoss.value = { ...connectionLoss.value, retryAt: undefined }
    try {
      await listEvents(filter(), 1)
      if (!isStopped) open()
    } catch (error) {
      if (isStopped) return
      if (error instanceof ApiError && error.status < 500) failure.value = error
      lose()
    }
  }

  const onNow = (): void => {
    if (connectionLoss.value?.retryAt !== undefined) void retry()
  }

  retryNow = onNow
  addEventListener('online', onNow)
  open()
  return () => {
    isStopped = true
    close()
    removeEventListener('online', onNow)
    connectionLoss.value = undefined
  }
}
