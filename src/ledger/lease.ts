import { randomUUID } from 'node:crypto'
import { isCurrent } from '../coordination/lease.js'
import { TIMES } from '../coordination/times.js'
import type { JsonValue } from '../event/event.js'
import type { EventStore, WaitOptions } from '../store/store.js'

/** The right of one process to seal. It saves others the work; the state of the ledger decides who appends. */
export interface Lease {
  /** Takes or renews the lease, and returns true if this process has it. Writes at most every 5 seconds. */
  take(options: WaitOptions): Promise<boolean>
  /** Lets another process take the lease at once. */
  release(options: WaitOptions): Promise<void>
}

type Holder = { readonly holder: string; readonly until: number }

const KEY = 'ledger'
const { everyMs, timeoutMs } = TIMES.ledger
const DURATION = timeoutMs * 1000

/** Sealers of one store object share its lease, as those of a log of `AuditLogs` do. */
const leases = new WeakMap<EventStore, Lease>()

export function leaseOf(store: EventStore): Lease {
  const known = leases.get(store)
  const lease = known ?? createLease(store)
  leases.set(store, lease)
  return lease
}

function createLease(store: EventStore): Lease {
  const holder = randomUUID()
  let takenAt = -Infinity

  /** Another holder whose lease has not ended. */
  const isForeign = (value: JsonValue | undefined, now: number): boolean => {
    const lease = value as Holder | undefined
    return lease !== undefined && lease.holder !== holder && isCurrent(lease.until, now, DURATION)
  }

  return {
    async take(options) {
      const start = performance.now()
      if (start - takenAt < everyMs) return true
      const lease = await store.updateState(
        KEY,
        (value, now) => (isForeign(value, now) ? value : { holder, until: now + DURATION }),
        options,
      )
      const isOurs = (lease as Holder).holder === holder
      takenAt = isOurs ? start : -Infinity
      return isOurs
    },
    async release(options) {
      if (takenAt === -Infinity) return
      takenAt = -Infinity
      await store.updateState(
        KEY,
        (value) => ((value as Holder | undefined)?.holder === holder ? undefined : value),
        options,
      )
    },
  }
}
