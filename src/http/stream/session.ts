import { untilAborted } from '../../errors.js'
import type { AuditEvent } from '../../event/event.js'
import { createCoalescedNotifier } from '../../async/coalesced-notifier.js'
import { callInTurns } from '../../async/in-turns.js'
import type { EventTail, TailOptions } from '../../tail/tails.js'
import { type EventLister, newestTime } from '../../tail/poll.js'
import { createRing, type Ring, type RingBounds } from './ring.js'

/** The part of a log that a broadcast needs. */
export interface BroadcastSource extends EventLister {
  tail(query: undefined, options: Omit<TailOptions, 'changes'>): EventTail
}

export interface SessionOptions extends RingBounds {
  /** How long a session without readers stays open for clients that reconnect. @default 5 seconds */
  readonly lingerMs?: number | undefined
}

export interface SessionReader {
  /** Called for new events and at the end of the session. */
  wake(): void
}

/** A shared tail of a log and a ring of its newest events, from the first reader to the last. */
export interface Session {
  /** True if the session accepts no new readers. */
  readonly hasEnded: boolean
  join(reader: SessionReader): void
  /** Safe to call twice. */
  leave(reader: SessionReader): void
  /**
   * Resolves with the ring once its start position is known. Rejects with the error that ended the
   * session, or with `ABORTED`.
   */
  ring(signal: AbortSignal): Promise<Ring>
  /** Throws the error that ended the session, if any. */
  check(): void
}

/** Before every event: the start position in an empty log. */
export const BEGINNING = '0000-01-01T00:00:00.000000Z'

/** `created_at` of the newest event; a new reader starts after it. */
export async function currentPosition(source: EventLister, signal: AbortSignal): Promise<string> {
  return (await newestTime(source, { signal })) ?? BEGINNING
}

// Minimum time between wake-ups; it grows with the number of readers, to bound the share of CPU time.
const GAP_MS = 25
const GAP_PER_READER_MS = 0.1
const MAX_GAP_MS = 250

const LINGER_MS = 5000

const wakeReader = (reader: SessionReader): void => reader.wake()

export function openSession(
  source: BroadcastSource,
  render: (event: AuditEvent) => string,
  { lingerMs = LINGER_MS, ...bounds }: SessionOptions,
): Session {
  const stop = new AbortController()
  const readers = new Set<SessionReader>()
  let end: { readonly error: unknown } | undefined
  let linger: NodeJS.Timeout | undefined

  const opening = currentPosition(source, stop.signal).then((start) =>
    createRing(start, render, bounds),
  )

  const follow = async (): Promise<void> => {
    const ring = await opening
    const wakeAll = (): void => {
      ring.publish()
      void callInTurns(readers, wakeReader)
    }
    const gapMs = (): number => Math.min(GAP_MS + readers.size * GAP_PER_READER_MS, MAX_GAP_MS)
    const notifier = createCoalescedNotifier(wakeAll, gapMs)
    try {
      // The tail starts at the floor of the ring, so the ring has no gap.
      const { signal } = stop
      for await (const event of source.tail(undefined, { after: ring.floor, signal })) {
        ring.add(event)
        notifier.notify()
      }
    } finally {
      notifier.stop()
    }
  }

  follow().catch((error: unknown) => {
    end = { error }
    clearTimeout(linger)
    void callInTurns(readers, wakeReader)
  })

  return {
    get hasEnded() {
      return end !== undefined || stop.signal.aborted
    },
    join(reader) {
      clearTimeout(linger)
      readers.add(reader)
    },
    leave(reader) {
      if (!readers.delete(reader) || readers.size > 0 || end) return
      linger = setTimeout(() => stop.abort(), lingerMs)
    },
    ring: (signal) => untilAborted(opening, signal),
    check() {
      if (end) throw end.error
    },
  }
}
