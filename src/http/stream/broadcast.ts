import { setImmediate as nextTurn } from 'node:timers/promises'
import { createTimeSlices } from '../../filter/time-slices.js'
import { createCatchUp } from '../../tail/catch-up.js'
import { type Chunk, createChunks, type RenderFrame, type StreamView } from './chunks.js'
import {
  type BroadcastSource,
  openSession,
  currentPosition,
  type Session,
  type SessionOptions,
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

/** A reader of a session, from its call of `read` until its signal aborts or its generator ends. */
interface Reader {
  wake(): void
  /** Safe to call twice. */
  leave(): void
}

// How long a reader waits when the store lags behind or fails.
const RETRY_MS = 1000

function joinSession(session: Session, signal: AbortSignal): Reader {
  const reader: Reader = { wake() {}, leave() {} }
  const leaveSession = session.join(() => reader.wake())
  const onAbort = (): void => {
    reader.leave()
    reader.wake()
  }
  reader.leave = () => {
    signal.removeEventListener('abort', onAbort)
    leaveSession()
  }
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  return reader
}

/** Resolves when the reader is woken, or after `ms`. */
const sleep = (reader: Reader, ms?: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(() => reader.wake(), ms)
    reader.wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })

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
    const catchUp = createCatchUp(source, view)
    let position = start
    try {
      const ring = await session.ring(signal)
      while (!signal.aborted) {
        session.check()
        if (position < ring.floor) {
          const { events, position: reached = position } = await catchUp(position, { signal })
          if (reached === position) await sleep(reader, RETRY_MS)
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
        } else await sleep(reader)
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
      const reader = joinSession(session, signal)
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
