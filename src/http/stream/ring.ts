import type { AuditEvent } from '../../event/event.js'

export interface RingEntry {
  readonly event: AuditEvent
  /** The rendered event, for views without a `render` of their own. */
  readonly frame: string
}

/** Entries that readers receive together, in order; never empty. */
export interface Batch {
  readonly entries: readonly RingEntry[]
  /** `created_at` of the first and the last entry. */
  readonly first: string
  readonly last: string
}

export interface RingBounds {
  /** Maximum number of events in the ring. @default 10 000 */
  readonly maxEvents?: number | undefined
  /** Approximate maximum of bytes of frames in the ring. @default 8 MiB */
  readonly maxBytes?: number | undefined
  /** Approximate maximum of bytes of frames in a batch of more than one event. @default 64 KiB */
  readonly batchBytes?: number | undefined
}

export const BATCH_BYTES = 65_536

/**
 * The newest events. It holds every event after `floor` that has been published.
 */
export interface Ring {
  readonly floor: string
  /** The event must be later than all before it. Readers see it after the next `publish`. */
  add(event: AuditEvent): void
  publish(): void
  /** The first batch with an event after this `created_at`, which must not be before `floor`. */
  after(created_at: string): Batch | undefined
}

export function createRing(
  start: string,
  render: (event: AuditEvent) => string,
  { maxEvents = 10_000, maxBytes = 8 * 1_048_576, batchBytes = BATCH_BYTES }: RingBounds = {},
): Ring {
  interface Sized extends Batch {
    readonly bytes: number
  }
  const batches: Sized[] = []
  let floor = start
  let pending: RingEntry[] = []
  let pendingBytes = 0
  let [events, bytes] = [0, 0]

  const publish = (): void => {
    if (pending.length === 0) return
    const [first, last] = [pending[0]!.event.created_at, pending.at(-1)!.event.created_at]
    batches.push({ entries: pending, first, last, bytes: pendingBytes })
    events += pending.length
    bytes += pendingBytes
    pending = []
    pendingBytes = 0
    while (batches.length > 1 && (events > maxEvents || bytes > maxBytes)) {
      const dropped = batches.shift()!
      events -= dropped.entries.length
      bytes -= dropped.bytes
      floor = dropped.last
    }
  }

  return {
    get floor() {
      return floor
    },
    add(event) {
      const frame = render(event)
      if (pendingBytes + frame.length > batchBytes) publish()
      pending.push({ event, frame })
      pendingBytes += frame.length
    },
    publish,
    after(created_at) {
      let [low, high] = [0, batches.length]
      while (low < high) {
        const middle = (low + high) >>> 1
        if (batches[middle]!.last <= created_at) low = middle + 1
        else high = middle
      }
      return batches[low]
    },
  }
}
