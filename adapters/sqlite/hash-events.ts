import { idOf } from '../../src/event/event-id.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import { joinHashes } from '../../src/ledger/edge.js'
import { type LeafHasher, leafHasher } from '../../src/ledger/event-leaves.js'
import { damagedEventError } from '../../src/store-kit/damages.js'
import type { OpenPlace, UnsealedEvents, UnsealedRequest } from '../../src/store/ledger.js'
import { rowsAfter } from './schema/read-after.js'
import { rowToLazyEvent } from './schema/rows.js'
import type { Tables } from './schema/log-tables.js'

/* Reads the next events of a ledger and hashes their leaves, in the main thread or in another one. */

/** Events that are read in one snapshot, and hashed in about a millisecond. */
const STEP = 128

/** Some of the events of a request. */
export interface HashedStep extends UnsealedEvents {
  /** Time of the last event, or the time after which there is none. */
  readonly last: Microseconds
  /** True if there may be more events. */
  readonly isFull: boolean
}

export const openPlaces = (
  { live }: Pick<Tables, 'live'>,
  from: Microseconds,
  to: Microseconds,
): OpenPlace[] =>
  live
    .between({ from, to })
    .map(({ created_at, suffix }) => ({ id: idOf(created_at, suffix), time: created_at }))

/** Hashes the next events, at most `limit`, in one snapshot. Throws `DAMAGED` for an event that cannot be read. */
export function hashStep(
  tables: Tables,
  { after, limit }: Pick<UnsealedRequest, 'after' | 'limit'>,
  hash: LeafHasher,
): HashedStep {
  const count = Math.min(STEP, limit)
  return tables.connection.snapshot(() => {
    const times: Microseconds[] = []
    const hashes: Uint8Array[] = []
    for (const { time, row } of rowsAfter(tables, after, count)) {
      if (!row) throw damagedEventError(`of ${time}`)
      times.push(time)
      hashes.push(hash(rowToLazyEvent(row)))
    }
    const last = times.at(-1) ?? after
    return {
      times,
      hashes: joinHashes(hashes),
      open: openPlaces(tables, after + 1, last),
      last,
      isFull: times.length === count && count < limit,
    }
  })
}

/** A step before the first one. */
export const nothingYet = ({ after }: UnsealedRequest): HashedStep => ({
  times: [],
  hashes: new Uint8Array(),
  open: [],
  last: after,
  isFull: true,
})

/** Hashes the events that follow a step, in further steps. */
export function* hashRest(
  tables: Tables,
  request: UnsealedRequest,
  first: Pick<HashedStep, 'times' | 'last' | 'isFull'>,
): Generator<HashedStep, void> {
  let limit = request.limit - first.times.length
  const hash = leafHasher(request, first.times.length)
  for (let { last, isFull } = first; isFull;) {
    const step = hashStep(tables, { after: last, limit }, hash)
    yield step
    limit -= step.times.length
    ;({ last, isFull } = step)
  }
}

export const joined = (parts: readonly UnsealedEvents[]): UnsealedEvents => ({
  times: parts.flatMap(({ times }) => times),
  hashes: joinHashes(parts.map(({ hashes }) => hashes)),
  open: parts.flatMap(({ open }) => open),
})
