import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { LiveAttributes } from './attributes.js'
import { createChangeWaiters } from './change-waiters.js'
import { createChangeLoop } from './change-loop.js'
import { liveClosed } from './closed-error.js'
import type { EventStore } from '../store/store.js'
import { createStoreRetry } from './store-retry.js'
import { MAX_TIMER_MS } from '../async/timers.js'

/** Writes the changes of one live event to the store, in order and at a bounded rate. */
export interface LiveWriter {
  /** Set once nothing more is written, because the event is closed or writing failed. */
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

const MAX_PENDING_BYTES = 65_536

export interface LiveWriterOptions {
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
}: LiveWriterOptions): LiveWriter {
  let ended: AuditLogError | undefined
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
  const loop = createChangeLoop({
    store,
    id,
    attributes,
    retry,
    onWritten: (count) => waiters.written(count),
    onError: end,
  })

  return {
    get error() {
      return ended
    },
    changed: () => loop.changed(),
    untilRoom() {
      if (ended) return Promise.reject(ended)
      if (attributes.pendingBytes() <= MAX_PENDING_BYTES) return Promise.resolve()
      return waiters.untilRoom()
    },
    flush() {
      if (ended) return Promise.reject(ended)
      return loop.isWritten ? Promise.resolve() : waiters.untilWritten(loop.changes)
    },
    async close() {
      const timer = setTimeout(() => retry.abort(), timeoutMs)
      try {
        const event = await loop.finish()
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
