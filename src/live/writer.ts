import { AuditLogError, untilAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { LiveAttributes } from './attributes.js'
import type { EventStore, LiveChange } from '../store/store.js'
import { asStoreFailure } from '../recording/store-failure.js'
import { MAX_TIMER_MS } from '../async/timers.js'

/** Brings what becomes of one live event to its store, at a bounded rate and in order. */
export interface LiveWriter {
  /** Set once nothing will be written any more. */
  readonly fault: AuditLogError | undefined
  /** The attributes have changed. */
  wake(): void
  /**
   * Resolves once little waits to be written, at the latest when the next attempt to write is over.
   * Rejects with what ended the writing.
   */
  room(): Promise<void>
  /** Resolves once all changes made so far are written. */
  flush(): Promise<void>
  /** Writes what is left and closes the event. To be called once. */
  close(): Promise<AuditEvent>
}

// Readers shall see a change within 250 ms; an event with many takes no more of the store than this.
const WRITE_MS = 100
const LITTLE_BYTES = 65_536
const RETRY_MS = 100
const MAX_RETRY_MS = 2000

export const liveClosed = (reason: string): AuditLogError =>
  new AuditLogError('LIVE_CLOSED', `the live event ${reason}`)

interface Waiting {
  /** Settled when so many changes are written. */
  readonly count: number
  readonly resolve: () => void
  readonly reject: (error: AuditLogError) => void
}

export function createLiveWriter(
  store: EventStore,
  id: string,
  attributes: LiveAttributes,
  deadlineMs: number,
  onEnd: () => void,
): LiveWriter {
  let revision = 0
  let changes = 0
  let written = 0
  let fault: AuditLogError | undefined
  let running: Promise<void> | undefined
  let flushing: Waiting[] = []
  let waitingForRoom: Omit<Waiting, 'count'>[] = []
  /** Aborts when nobody waits for the store's answer any more. */
  const giveUp = new AbortController()
  /** Aborts when the event is being closed: then nothing rests. */
  const closing = new AbortController()
  const waitMs = Math.min(deadlineMs, MAX_TIMER_MS)

  const tooLate = (cause: unknown): AuditLogError => {
    const message = `the ${store.name} store did not take the change within ${deadlineMs} ms`
    return new AuditLogError('DEADLINE_EXCEEDED', message, { cause })
  }

  const end = (error: AuditLogError): void => {
    fault = error
    for (const { reject } of [...flushing, ...waitingForRoom]) reject(error)
    flushing = []
    waitingForRoom = []
    onEnd()
  }

  /** One attempt, given up after a while: an answer that got lost shall not hold up what follows. */
  const attempt = async <Answer>(
    ask: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> => {
    const limit = new AbortController()
    const stop = (): void => limit.abort(giveUp.signal.reason)
    const timer = setTimeout(stop, waitMs)
    giveUp.signal.addEventListener('abort', stop)
    try {
      return await untilAborted(ask(limit.signal), giveUp.signal)
    } finally {
      clearTimeout(timer)
      giveUp.signal.removeEventListener('abort', stop)
      for (const { resolve } of waitingForRoom) resolve()
      waitingForRoom = []
    }
  }

  /**
   * The store's answer, however often it has to be asked. Always with the same change: one that
   * seemed to fail may have been applied.
   */
  const insist = async <Answer>(ask: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> => {
    let lastFailure: unknown
    for (let ms = RETRY_MS; ; ms = Math.min(2 * ms, MAX_RETRY_MS)) {
      try {
        return await attempt(ask)
      } catch (error) {
        const failure = asStoreFailure(store, error)
        if (giveUp.signal.aborted) throw tooLate(lastFailure ?? failure)
        if (!isPassing(failure)) throw failure
        lastFailure = failure
      }
      await pause(ms, giveUp.signal)
      if (giveUp.signal.aborted) throw tooLate(lastFailure)
    }
  }

  const nextChange = (): LiveChange => ({ revision: revision + 1, ...attributes.take() })

  const write = async (): Promise<void> => {
    const count = changes
    const change = nextChange()
    if (!(await insist((signal) => store.changeLive(id, change, { signal }))))
      throw liveClosed('was closed by another, as unfinished')
    revision = change.revision
    written = count
    for (const waiting of flushing) if (waiting.count <= written) waiting.resolve()
    flushing = flushing.filter((waiting) => waiting.count > written)
  }

  const run = async (): Promise<void> => {
    // The other changes of this turn come along.
    await Promise.resolve()
    try {
      while (written < changes && !closing.signal.aborted) {
        const rest = pause(WRITE_MS, closing.signal)
        await write()
        await rest
      }
    } catch (error) {
      end(error as AuditLogError)
    }
    running = undefined
  }

  const finish = async (): Promise<AuditEvent> => {
    await running
    if (fault) throw fault
    const change = nextChange()
    const event = await insist((signal) => store.closeLive(id, change, { signal }))
    if (!event) throw liveClosed('is there no longer')
    return event
  }

  return {
    get fault() {
      return fault
    },
    wake() {
      changes++
      running ??= run()
    },
    room() {
      if (fault) return Promise.reject(fault)
      if (attributes.pendingBytes() <= LITTLE_BYTES) return Promise.resolve()
      return new Promise((resolve, reject) => void waitingForRoom.push({ resolve, reject }))
    },
    flush() {
      if (fault) return Promise.reject(fault)
      if (written === changes) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          flushing.splice(flushing.indexOf(waiting), 1)
          reject(tooLate(undefined))
        }, waitMs)
        const waiting: Waiting = {
          count: changes,
          resolve() {
            clearTimeout(timer)
            resolve()
          },
          reject(error) {
            clearTimeout(timer)
            reject(error)
          },
        }
        flushing.push(waiting)
      })
    },
    async close() {
      closing.abort()
      const timer = setTimeout(() => giveUp.abort(), waitMs)
      try {
        const event = await finish()
        written = changes
        for (const { resolve } of flushing) resolve()
        flushing = []
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

function isPassing({ code }: AuditLogError): boolean {
  return code === 'STORE_FAILED' || code === 'ABORTED' || code === 'QUERY_TIMEOUT'
}

/** Resolves after so long, or when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}
