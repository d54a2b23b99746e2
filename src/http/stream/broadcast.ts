import { setImmediate as nextTurn } from 'node:timers/promises'
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
   * Give what became visible after this `created_at`, written as events have it.
   * @default from now on
   */
  readonly after?: string | undefined
  /** Ends the reading, also while it waits. Has to abort sometime, read or not: it frees the reader. */
  readonly signal: AbortSignal
}

/** Tells any number of readers what becomes visible in a log, with one query for all of them. */
export interface Broadcast {
  /**
   * Gives what matches and becomes visible once the promise has resolved, each event once, in the order
   * of `created_at`. Of a reader nothing is kept but its place: what it is too slow for it is given
   * from the store. Rejects where the store cannot tell its newest event; ends with the error that
   * ends a tail of the log.
   */
  read(view: StreamView, options: ReadOptions): Promise<AsyncGenerator<Chunk, void, void>>
}

/** A reader of a session, from its call of `read` to its signal or its end. */
interface Reader {
  wake(): void
  /** Safe to call twice. */
  leave(): void
}

// How long a reader waits for a store that is behind, or fails.
const RETRY_MS = 1000

/** `render` makes the frames of views that do not render for themselves. */
export function createBroadcast(
  source: BroadcastSource,
  render: RenderFrame,
  options: SessionOptions = {},
): Broadcast {
  const chunks = createChunks(render)
  let latest: Session | undefined

  const join = (session: Session, signal: AbortSignal): Reader => {
    const reader: Reader = { wake() {}, leave() {} }
    const quit = session.join(() => reader.wake())
    const onAbort = (): void => {
      reader.leave()
      reader.wake()
    }
    reader.leave = () => {
      signal.removeEventListener('abort', onAbort)
      quit()
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    return reader
  }

  /** Resolves when the reader is woken, or after so long. */
  const rest = (reader: Reader, ms?: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(() => reader.wake(), ms)
      reader.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  /*
   * All up to `position` has been given, or did not match. The ring has all between its floor and what
   * it was told last, so from a position that is not before the floor it goes on without a gap; from
   * an older one the store does, until what it was read to lies within the ring or beyond. Both go by
   * `created_at`, in whose order events become visible, so nothing comes twice where they overlap.
   */
  async function* run(
    session: Session,
    reader: Reader,
    view: StreamView,
    start: string,
    signal: AbortSignal,
  ): AsyncGenerator<Chunk, void, void> {
    const catchUp = createCatchUp(source, view)
    let position = start
    try {
      const ring = await session.ring(signal)
      while (!signal.aborted) {
        session.check()
        if (position < ring.floor) {
          const { events, position: reached = position } = await catchUp(position, { signal })
          if (reached === position) await rest(reader, RETRY_MS)
          position = reached
          yield* chunks.ofEvents(events, view)
          await nextTurn()
          continue
        }
        const batch = ring.after(position)
        if (batch) {
          const chunk = chunks.ofBatch(batch, view, position)
          position = batch.last
          if (chunk.events.length > 0) yield chunk
        } else await rest(reader)
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
      const reader = join(session, signal)
      try {
        const start = after ?? (await currentPosition(source, signal))
        return run(session, reader, view, start, signal)
      } catch (error) {
        reader.leave()
        throw error
      }
    },
  }
}
