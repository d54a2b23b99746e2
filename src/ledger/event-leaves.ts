import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { formatTimestamp } from '../event/timestamp.js'
import type { SealedEvent, UnsealedRequest } from '../store/ledger.js'
import type { EventKind } from './entry.js'
import { eventLeaf, ROW_LEAVES, saltAt, saltsOf } from './leaf.js'
import type { NewLeaf } from './rows.js'

const rowOf = (leaf: number): number => Math.floor(leaf / ROW_LEAVES)

/** Returns the hash of the leaf of the next event. */
export type LeafHasher = (event: AuditEvent) => Uint8Array

/**
 * A function that hashes the events of a request, each as the next leaf. `done` events of the request were hashed before. Call it while the
 * events are read, because they may be large.
 */
export function leafHasher(
  { leaf: first, seeds }: Pick<UnsealedRequest, 'leaf' | 'seeds'>,
  done = 0,
  kind: EventKind = 'event',
): LeafHasher {
  let leaf = first + done
  let salts: Uint8Array | undefined
  return (event) => {
    if (leaf % ROW_LEAVES === 0) salts = undefined
    salts ??= saltsOf(seeds[rowOf(leaf) - rowOf(first)]!)
    return eventLeaf(kind, event, saltAt(salts, leaf++))
  }
}

/** The leaves of late events after the `done` leaves of the request. Throws `DAMAGED` for an event that cannot be read. */
export function lateLeaves(
  events: readonly SealedEvent[],
  request: Pick<UnsealedRequest, 'leaf' | 'seeds'>,
  done = 0,
): NewLeaf[] {
  const hash = leafHasher(request, done, 'late')
  return events.map(({ event, time }) => {
    if (!event)
      throw new AuditLogError('DAMAGED', `the event of ${formatTimestamp(time)} cannot be read`)
    return { place: { kind: 'late', time }, hash: hash(event) }
  })
}
