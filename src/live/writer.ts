import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { LiveAttributes } from './attributes.js'
import { createChangeWaiters } from './change-waiters.js'
import { pause } from './pause.js'
import type { EventStore, LiveChange } from '../store/store.js'
import { createStoreRetry } from './store-retry.js'
import { MAX_TIMER_MS } from '../async/timers.js'

/** Writes the changes of one live event to the store, in order and at a bounded rate. */
export interface LiveWriter {
  /** Set once nothing more is written: the event is closed, or writing failed. */
  readonly error: AuditLogError | undefined
  /** The attributes have changed. */
  changed(): void
  /**
   * Resolves when at most 64 KiB wait to be written, or when the next attempt to write has ended.
   * Rejects with `error`.
   */
  untilRoom(): Promise<void>
  /** Resolves when all changes made so far are written. Rejects with `DEADLINE_EXCEEDED` or `error`. */
  flush(): Promise<void>
  /** Writes the remaining changes and closes the event. Must be called only once. */
  close(): Promise<AuditEvent>
}

// Less than the 250 ms within which readers see a change; it bounds the writes of one event.
const WRITE_INTERVAL_MS = 100
const MAX_PENDING_BYTES = 65_536

export const liveClosed = (reason: string): AuditLogError =>
  new AuditLogError('LIVE_CLOSED', `the live event ${reason}`)

export interface LiveWriterParts {
  readonly store: EventStore
  readonly id: string
  readonly attributes: LiveAttributes
  readonly deadlineMs: number
  /** Called when `error` has been set. */
  readonly onEnd: () => void
}

export function createLiveWriter({
  store,
  id,
  attributes,
  deadlineMs,
  onEnd,
}: LiveWriterParts): LiveWriter {
  let revision = 0
  let changes = 0
  let written = 0
  let ended: AuditLogError | undefined
  let running: Promise<void> | undefined
  /** Aborts when `close` is called: then no write waits for its interval. */
  const closing = new AbortController()
  const timeoutMs = Math.min(deadlineMs, MAX_TIMER_MS)

  const deadlineExceeded = (cause?: unknown): AuditLogError => {
    const message = `the ${store.name} store did not take the change within ${deadlineMs} ms`
    return new AuditLogError('DEADLINE_EXCEEDED', message, { cause })
  }
  const waiters = createChangeWaiters(timeoutMs, deadlineExceeded)
  const retry = createStoreRetry({
    store,
    attemptMs: timeoutMs,
    onAttemptEnd: () => waiters.hasRoom(),
    deadlineExceeded,
  })
  const end = (error: AuditLogError): void => {
    ended = error
    waiters.fail(error)
    onEnd()
  }

  const nextChange = (): LiveChange => ({ revision: revision + 1, ...attributes.take() })

  const write = async (): Promise<void> => {
    const count = changes
    const change = nextChange()
    const isOpen = await retry.withRetry((signal) => store.changeLive(id, change, { signal }))
    if (!isOpen) throw liveClosed('was closed as unfinished by another process')
    revision = change.revision
    written = count
    waiters.written(count)
  }
  const run = async (): Promise<void> => {
    // Further changes of this turn go into the same write.
    await Promise.resolve()
    try {
      while (written < changes && !closing.signal.aborted) {
        const interval = pause(WRITE_INTERVAL_MS, closing.signal)
        await write()
        await interval
      }
    } catch (error) {
      end(error as AuditLogError)
    }
    running = undefined
  }
  const writeLast = async (): Promise<AuditEvent> => {
    await running
    if (ended) throw ended
    const change = nextChange()
    const event = await retry.withRetry((signal) => store.closeLive(id, change, { signal }))
    if (!event) throw liveClosed('no longer exists')
    return event
  }

  return {
    get error() {
      return ended
    },
    changed() {
      changes++
      running ??= run()
    },
    untilRoom() {
      if (ended) return Promise.reject(ended)
      if (attributes.pendingBytes() <= MAX_PENDING_BYTES) return Promise.resolve()
      return waiters.untilRoom()
    },
    flush() {
      if (ended) return Promise.reject(ended)
      return written === changes ? Promise.resolve() : waiters.untilWritten(changes)
    },
    async close() {
      closing.abort()
      const timer = setTimeout(() => retry.abort(), timeoutMs)
      try {
        const event = await writeLast()
        written = changes
        waiters.written(changes)
        end(liveClosed('is closed'))
        return event
      } catch (error) {
        end(error as AuditLogError)
        throw error
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
