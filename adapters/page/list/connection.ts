import { computed, signal } from '@preact/signals'
import { query } from '../data/address.js'
import { ApiError, listEvents, streamUrl } from '../data/api.js'
import { apiQuery } from '../data/query.js'
import { retryDelay } from './live-state.js'
import { failure, newestKnown, timeOfAsking } from './loading.js'

/* The stream of new events, and how it comes back when it is lost. */

interface Loss {
  readonly since: string
  /** When the next try is due, in milliseconds as `Date.now` counts them; `undefined` during one. */
  readonly retryAt: number | undefined
}

/** Set while the server cannot be reached. */
export const loss = signal<Loss | undefined>(undefined)

export const isOffline = computed(() => loss.value !== undefined)

interface StreamHandlers {
  readonly event: (data: string) => void
  readonly change: (data: string) => void
  /** It is there again after a gap. */
  readonly resumed: () => void
}

let retryNow: (() => void) | undefined

/** Does not wait for the next try. */
export function tryNow(): void {
  retryNow?.()
}

/** Follows the query until it is stopped; no event is missed over a loss of the connection. */
export function connect(handlers: StreamHandlers): () => void {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let attempt = 0
  let isStopped = false

  const filter = (): string => apiQuery(query.value, timeOfAsking())

  function open(): void {
    let isForgiving = false
    let hadGap = loss.value !== undefined
    source = new EventSource(streamUrl(filter(), newestKnown()))
    source.addEventListener('open', () => {
      isForgiving = true
      attempt = 0
      loss.value = undefined
      if (hadGap) handlers.resumed()
      hadGap = true
    })
    source.addEventListener('message', ({ data }) => handlers.event(data as string))
    source.addEventListener('change', ({ data }: MessageEvent<string>) => handlers.change(data))
    source.addEventListener('error', () => {
      // A stream that ends is opened again by the browser, once without a word of it.
      if (isForgiving && source!.readyState === EventSource.CONNECTING) isForgiving = false
      else lose()
    })
  }

  function lose(): void {
    source?.close()
    const seconds = retryDelay(attempt++)
    const since = loss.value?.since ?? new Date().toISOString()
    loss.value = { since, retryAt: Date.now() + seconds * 1000 }
    timer = setTimeout(() => void retry(), seconds * 1000)
  }

  /** A stream does not say why it is refused: a request does. */
  async function retry(): Promise<void> {
    clearTimeout(timer)
    if (loss.value) loss.value = { ...loss.value, retryAt: undefined }
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
    if (loss.value?.retryAt !== undefined) void retry()
  }

  retryNow = onNow
  addEventListener('online', onNow)
  open()
  return () => {
    isStopped = true
    source?.close()
    clearTimeout(timer)
    removeEventListener('online', onNow)
    loss.value = undefined
  }
}
