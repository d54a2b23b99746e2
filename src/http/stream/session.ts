import { untilAborted } from '../../errors.js'
import type { AuditEvent } from '../../event/event.js'
import { createCoalescedNotifier } from '../../async/coalesced-notifier.js'
import type { EventTail, TailOptions } from '../../tail/following.js'
import { type EventLister, newestTime } from '../../tail/poll.js'
import { createRing, type Ring, type RingBounds } from './ring.js'

/** The log that is followed. */
export interface BroadcastSource extends EventLister {
  tail(query: undefined, options: Omit<TailOptions, 'changes'>): EventTail
}

export interface SessionOptions extends RingBounds {
  /** How long it goes on without a reader, for those who come back. @default 5 seconds */
  readonly lingerMs?: number | undefined
}

/** One shared tail of a log and what it has given last, from its first reader to its last one. */
export interface Session {
  /** True where it is of no use to a new reader. */
  readonly hasEnded: boolean
  /** `wake` is called when there is something new for the reader, until the function given is called. */
  join(wake: () => void): () => void
  /** The ring; rejects with the error that has ended the session, or with `ABORTED`. */
  ring(signal: AbortSignal): Promise<Ring>
  /** Throws the error that has ended the session. */
  check(): void
}

/** Before every event: where a log is followed from that has none. */
export const BEGINNING = '0000-01-01T00:00:00.000000Z'

/** After whom all is new to whoever begins now. */
export async function currentPosition(source: EventLister, signal: AbortSignal): Promise<string> {
  return (await newestTime(source, { signal })) ?? BEGINNING
}

// What waking the readers costs must stay a small part of the time, however fast events come.
const GAP_MS = 25
const GAP_PER_READER_MS = 0.1
const MAX_GAP_MS = 250

const LINGER_MS = 5000

export function openSession(
  source: BroadcastSource,
  render: (event: AuditEvent) => string,
  { lingerMs = LINGER_MS, ...bounds }: SessionOptions,
): Session {
  const stop = new AbortController()
  const wakes = new Set<() => void>()
  let end: { readonly error: unknown } | undefined
  let linger: NodeJS.Timeout | undefined

  const opening = currentPosition(source, stop.signal).then((start) =>
    createRing(start, render, bounds),
  )

  const follow = async (): Promise<void> => {
    const ring = await opening
    const wakeAll = (): void => {
      ring.seal()
      for (const wake of wakes) wake()
    }
    const gapMs = (): number => Math.min(GAP_MS + wakes.size * GAP_PER_READER_MS, MAX_GAP_MS)
    const bell = createCoalescedNotifier(wakeAll, gapMs)
    try {
      // From where the ring starts, whenever it is that the tail does: so the ring has no gap.
      const { signal } = stop
      for await (const event of source.tail(undefined, { after: ring.floor, signal })) {
        ring.add(event)
        bell.notify()
      }
    } finally {
      bell.stop()
    }
  }

  follow().catch((error: unknown) => {
    end = { error }
    clearTimeout(linger)
    for (const wake of wakes) wake()
  })

  return {
    get hasEnded() {
      return end !== undefined || stop.signal.aborted
    },
    join(wake) {
      clearTimeout(linger)
      // One of its own for each reader, were it the same function.
      const own = (): void => wake()
      wakes.add(own)
      return () => {
        if (!wakes.delete(own) || wakes.size > 0 || end) return
        linger = setTimeout(() => stop.abort(), lingerMs)
      }
    },
    ring: (signal) => untilAborted(opening, signal),
    check() {
      if (end) throw end.error
    },
  }
}
