import { computed, signal } from '@preact/signals'
import { query } from '../data/address.js'
import { ApiError, listEvents, streamUrl } from '../data/api.js'
import { apiQuery } from '../data/query.js'
import { retryDelay } from './live-state.js'
import { failure, newestKnown, queryTime } from './loading.js'

/* The stream of new events, and its reconnection. */

interface Loss {
  readonly since: string
  /** The time of the next attempt, as from `Date.now`; `undefined` during an attempt. */
  readonly retryAt: number | undefined
}

/** Set while the server is unreachable. */
export const connectionLoss = signal<Loss | undefined>(undefined)

export const isOffline = computed(() => connectionLoss.value !== undefined)

interface StreamHandlers {
  readonly event: (data: string) => void
  readonly change: (data: string) => void
  /** The stream is open, for the first time or again after a gap. */
  readonly opened: () => void
}

let retryNow: (() => void) | undefined

/** Reconnects at once. */
export function tryNow(): void {
  retryNow?.()
}

/** Opens a stream for the query; the result closes it. Reconnects without missing events. */
export function connect(handlers: StreamHandlers): () => void {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let attempt = 0
  let isStopped = false

  const filter = (): string => apiQuery(query.value, queryTime())

  function open(): void {
    let isForgiving = false
    source = new EventSource(streamUrl(filter(), newestKnown()))
    source.addEventListener('open', () => {
      isForgiving = true
      attempt = 0
      connectionLoss.value = undefined
      handlers.opened()
    })
    source.addEventListener('message', ({ data }) => handlers.event(data as string))
    source.addEventListener('change', ({ data }: MessageEvent<string>) => handlers.change(data))
    source.addEventListener('error', () => {
      // When the server ends a stream, the browser reopens it; the first such error is not a loss.
      if (isForgiving && source!.readyState === EventSource.CONNECTING) isForgiving = false
      else lose()
    })
  }

  function lose(): void {
    source?.close()
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
    source?.close()
    clearTimeout(timer)
    removeEventListener('online', onNow)
    connectionLoss.value = undefined
  }
}
