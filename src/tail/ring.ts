import type { AuditEvent, JsonValue } from '../event/event.js'

export interface RingEntry {
  /** Frozen, because several readers get it. */
  readonly event: AuditEvent
  /** The revision at which an open live event was read. Only sessions of changes know it. */
  readonly revision: number | undefined
  /** About the bytes of the event as JSON. */
  readonly bytes: number
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
  /** Approximate maximum of bytes of JSON in the ring. @default 8 MiB */
  readonly maxBytes?: number | undefined
  /** Approximate maximum of bytes of JSON in a batch of more than one event. @default 64 KiB */
  readonly batchBytes?: number | undefined
}

export const BATCH_BYTES = 65_536

const MAX_REWINDS = 100

/** About the JSON of an event without its attributes. */
const EVENT_BYTES = 200

/** The newest events: every event that was added after `floor`. */
export interface Ring {
  readonly floor: string
  /** The latest rewind, from which readers find the next ones. */
  readonly latest: RewindNode
  /** The last hundred rewinds, oldest first. */
  rewinds(): readonly Rewind[]
  /** The batches, oldest first. */
  batches(): readonly Batch[]
  /** The events must be in order, and later than all before them. */
  add(events: readonly Pick<RingEntry, 'event' | 'revision'>[]): void
  /** The first batch with an event after this `created_at`, which must not be before `floor`. */
  after(created_at: string): Batch | undefined
  /** Removes the events after `to`, which must not be before `floor`. */
  rewind(rewind: Rewind): void
}

/** The log has lost the events after `to` up to `from`, both a `created_at`. */
export interface Rewind {
  readonly from: string
  readonly to: string
}

/** A rewind with a link to the next one. Rewinds without readers are garbage-collected. */
export interface RewindNode extends Rewind {
  next: RewindNode | undefined
}

/** The cursor of a reader after the rewind. */
export const rewound = (cursor: string, { from, to }: Rewind): string =>
  to < cursor && cursor <= from ? to : cursor

/** Freezes a JSON value at any depth. Returns the approximate length of its text. */
function deepFreeze(value: JsonValue): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 6
  let length = 2
  for (const [key, member] of Object.entries(value)) length += key.length + 4 + deepFreeze(member)
  Object.freeze(value)
  return length
}

function freezeEvent(event: AuditEvent): number {
  Object.freeze(event)
  return EVENT_BYTES + deepFreeze(event.attributes)
}

/** About the bytes of the events as JSON. */
export const bytesOf = (entries: readonly RingEntry[]): number =>
  entries.reduce((sum, { bytes }) => sum + bytes, 0)

export function createRing(
  start: string,
  { maxEvents = 10_000, maxBytes = 8 * 1_048_576, batchBytes = BATCH_BYTES }: RingBounds = {},
): Ring {
  interface Sized extends Batch {
    readonly bytes: number
  }
  const batches: Sized[] = []
  let rewinds: readonly Rewind[] = []
  let latest: RewindNode = { from: start, to: start, next: undefined }
  let floor = start
  let [events, bytes] = [0, 0]

  const addBatch = (entries: readonly RingEntry[]): void => {
    const [first, last] = [entries[0]!.event.created_at, entries.at(-1)!.event.created_at]
    const size = bytesOf(entries)
    batches.push({ entries, first, last, bytes: size })
    events += entries.length
    bytes += size
  }

  const drop = (): void => {
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
    add(added) {
      let pending: RingEntry[] = []
      let pendingBytes = 0
      for (const { event, revision } of added) {
        const size = freezeEvent(event)
        if (pending.length > 0 && pendingBytes + size > batchBytes) {
          addBatch(pending)
          pending = []
          pendingBytes = 0
        }
        pending.push({ event, revision, bytes: size })
        pendingBytes += size
      }
      if (pending.length > 0) addBatch(pending)
      drop()
    },
    get latest() {
      return latest
    },
    rewinds: () => rewinds,
    batches: () => batches,
    rewind(rewind) {
      while (batches.length > 0 && batches.at(-1)!.last > rewind.to) {
        const removed = batches.pop()!
        events -= removed.entries.length
        bytes -= removed.bytes
        const kept = removed.entries.filter(({ event }) => event.created_at <= rewind.to)
        if (kept.length > 0) addBatch(kept)
      }
      rewinds = [...rewinds, rewind].slice(-MAX_REWINDS)
      latest.next = { ...rewind, next: undefined }
      latest = latest.next
    },
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
