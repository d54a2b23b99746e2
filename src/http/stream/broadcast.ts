import { setImmediate as nextTurn } from 'node:timers/promises'
import { createTimeSlices } from '../../filter/time-slices.js'
import { type CatchUp, createCatchUp } from '../../tail/catch-up.js'
import { type Chunk, createChunks, type RenderFrame, type StreamView } from './chunks.js'
import {
  type BroadcastSource,
  openSession,
  currentPosition,
  type Session,
  type SessionOptions,
  type SessionReader,
} from './session.js'

export interface ReadOptions {
  /**
   * Return events after this `created_at`, in the format of events.
   * @default events from now on
   */
  readonly after?: string | undefined
  /** Ends the reader, also while it waits. It must abort at some time, because that frees the reader. */
  readonly signal: AbortSignal
}

/** Sends new events of a log to any number of readers, with one query for all of them. */
export interface Broadcast {
  /**
   * Returns the matching events that become visible after the promise has resolved, each once, in the
   * order of `created_at`. Each reader stores only a position; slow readers fall back to the store.
   * Rejects if the newest event cannot be read; the generator throws the error that ends a tail of the log.
   */
  read(view: StreamView, options: ReadOptions): Promise<AsyncGenerator<Chunk, void, void>>
}

// How long a reader waits when the store lags behind or fails.
const RETRY_MS = 1000

/**
 * A reader of a session, from its call of `read` until its signal aborts or its generator ends. A class,
 * because a process may have thousands of them, and closures take several times the memory.
 */
class Reader implements SessionReader {
  readonly #session: Session
  readonly #signal: AbortSignal
  #wake: (() => void) | undefined

  constructor(session: Session, signal: AbortSignal) {
    this.#session = session
    this.#signal = signal
    session.join(this)
    if (signal.aborted) this.handleEvent()
    else signal.addEventListener('abort', this, { once: true })
  }

  /** The signal has aborted. */
  handleEvent(): void {
    this.leave()
    this.wake()
  }

  wake(): void {
    this.#wake?.()
  }

  /** Safe to call twice. */
  leave(): void {
    this.#signal.removeEventListener('abort', this)
    this.#session.leave(this)
  }

  /** Resolves when the reader is woken. */
  sleep(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }

  /** Resolves when the reader is woken, or after `ms`. */
  async sleepAtMost(ms: number): Promise<void> {
    const timer = setTimeout(() => this.wake(), ms)
    await this.sleep()
    clearTimeout(timer)
  }
}

/** `render` renders events for views without a `render` of their own. */
export function createBroadcast(
  source: BroadcastSource,
  render: RenderFrame,
  options: SessionOptions = {},
): Broadcast {
  const chunks = createChunks(render)
  let latest: Session | undefined

  /*
   * Every event up to `position` has been returned or does not match. The ring holds every event after
   * its floor. A position at or after the floor continues in the ring; an older one reads from the store
   * until it reaches the floor. Both are ordered by `created_at`, the order in which events become
   * visible, so no event is missed or returned twice.
   */
  async function* run(
    session: Session,
    reader: Reader,
    view: StreamView,
    { after: start, signal }: { readonly after: string; readonly signal: AbortSignal },
  ): AsyncGenerator<Chunk, void, void> {
    /** Few readers need it. */
    let catchUp: CatchUp | undefined
    let position = start
    try {
      const ring = await session.ring(signal)
      while (!signal.aborted) {
        session.check()
        if (position < ring.floor) {
          catchUp ??= createCatchUp(source, view)
          const { events, position: reached = position } = await catchUp(position, { signal })
          if (reached === position) await reader.sleepAtMost(RETRY_MS)
          position = reached
          const slices = createTimeSlices()
          for (const chunk of chunks.ofEvents(events, view)) {
            yield chunk
            if (slices.isOver()) await slices.next()
          }
          await nextTurn()
          continue
        }
        const batch = ring.after(position)
        if (batch) {
          const chunk = await chunks.ofBatch(batch, view, position)
          position = batch.last
          if (chunk.events.length > 0) yield chunk
        } else await reader.sleep()
      }
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      reader.leave()
    }
  }

  return {
    async read(view, { after, signal }) {
      if (!latest || latest.hasEnded) latest = openSession(source, render, options)
      const session = latest
      const reader = new Reader(session, signal)
      try {
        const start = after ?? (await currentPosition(source, signal))
        return run(session, reader, view, { after: start, signal })
      } catch (error) {
        reader.leave()
        throw error
      }
    },
  }
}
