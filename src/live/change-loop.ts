import type { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { LiveAttributes } from './attributes.js'
import { liveClosed } from './closed-error.js'
import { pause } from '../async/pause.js'
import type { EventStore, LiveChange } from '../store/store.js'
import type { StoreRetry } from './store-retry.js'

/** Writes the changes of one live event as they come. */
export interface ChangeLoop {
  /** Number of changes so far. */
  readonly changes: number
  readonly isWritten: boolean
  /** Counts a change, and starts the loop. */
  changed(): void
  /** Writes the remaining changes and closes the event. */
  finish(): Promise<AuditEvent>
}

export interface ChangeLoopOptions {
  readonly store: EventStore
  readonly id: string
  readonly attributes: LiveAttributes
  readonly retry: StoreRetry
  /** Called after each write with the number of written changes. */
  readonly onWritten: (count: number) => void
  /** Called when the loop ends because writing failed. */
  readonly onError: (error: AuditLogError) => void
}

// Minimum interval between two writes of one event. Less than the 250 ms within which readers see a change.
const WRITE_INTERVAL_MS = 100

export function createChangeLoop(options: ChangeLoopOptions): ChangeLoop {
  const { store, id, attributes, retry, onWritten, onError } = options
  let revision = 0
  let changes = 0
  let written = 0
  let failure: AuditLogError | undefined
  let running: Promise<void> | undefined
  /** Aborts when `finish` is called. Then no write waits for its interval. */
  const finishing = new AbortController()

  const nextChange = (): LiveChange => ({ revision: revision + 1, ...attributes.take() })

  const write = async (): Promise<void> => {
    const count = changes
    const change = nextChange()
    const isOpen = await retry.withRetry((signal) => store.changeLive(id, change, { signal }))
    if (!isOpen) throw liveClosed('was closed as unfinished by another process')
    revision = change.revision
    written = count
    onWritten(count)
  }
  const run = async (): Promise<void> => {
    // Further changes of this turn go into the same write.
    await Promise.resolve()
    try {
      while (written < changes && !finishing.signal.aborted) {
        const interval = pause(WRITE_INTERVAL_MS, finishing.signal)
        await write()
        await interval
      }
    } catch (error) {
      failure = error as AuditLogError
      onError(failure)
    }
    running = undefined
  }

  return {
    get changes() {
      return changes
    },
    get isWritten() {
      return written === changes
    },
    changed() {
      changes++
      running ??= run()
    },
    async finish() {
      finishing.abort()
      await running
      if (failure) throw failure
      const change = nextChange()
      const event = await retry.withRetry((signal) => store.closeLive(id, change, { signal }))
      if (!event) throw liveClosed('no longer exists')
      written = changes
      onWritten(changes)
      return event
    },
  }
}
