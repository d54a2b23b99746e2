/**
 * State of the store and of the journal, as far as the recorder knows it:
 *
 * - `up`, `down`: the last attempt to store something succeeded or failed.
 * - `Journalling`: the journal is writing entries.
 * - `Refused`: the journal refused the last entry, and is writing none.
 */
export type AvailabilityState =
  | 'up'
  | 'upJournalling'
  | 'upRefused'
  | 'down'
  | 'downJournalling'
  | 'downRefused'

export type AvailabilityEvent =
  /** An append or a replay succeeded. */
  | 'storeSucceeded'
  /** An append or a replay failed, or an event missed its deadline. */
  | 'storeFailed'
  | 'callAdded'
  | 'journalWriteStarted'
  /** The journal stored an entry, and is writing no other entry. */
  | 'lastWriteSucceeded'
  /** The journal refused an entry, and is writing no other entry. */
  | 'lastWriteRefused'

/** A write cannot end before it has begun. */
const UNREACHABLE = undefined

/** The next state, by state and event. */
export const transitions: Readonly<
  Record<AvailabilityState, Readonly<Record<AvailabilityEvent, AvailabilityState | undefined>>>
> = {
  up: {
    storeSucceeded: 'up',
    storeFailed: 'down',
    callAdded: 'up',
    journalWriteStarted: 'upJournalling',
    lastWriteSucceeded: UNREACHABLE,
    lastWriteRefused: UNREACHABLE,
  },
  upJournalling: {
    storeSucceeded: 'upJournalling',
    storeFailed: 'downJournalling',
    callAdded: 'upJournalling',
    journalWriteStarted: 'upJournalling',
    lastWriteSucceeded: 'up',
    lastWriteRefused: 'upRefused',
  },
  upRefused: {
    storeSucceeded: 'upRefused',
    storeFailed: 'downRefused',
    callAdded: 'up',
    journalWriteStarted: 'upJournalling',
    lastWriteSucceeded: UNREACHABLE,
    lastWriteRefused: UNREACHABLE,
  },
  down: {
    storeSucceeded: 'up',
    storeFailed: 'down',
    callAdded: 'down',
    journalWriteStarted: 'downJournalling',
    lastWriteSucceeded: UNREACHABLE,
    lastWriteRefused: UNREACHABLE,
  },
  downJournalling: {
    storeSucceeded: 'upJournalling',
    storeFailed: 'downJournalling',
    callAdded: 'downJournalling',
    journalWriteStarted: 'downJournalling',
    lastWriteSucceeded: 'down',
    lastWriteRefused: 'downRefused',
  },
  downRefused: {
    storeSucceeded: 'upRefused',
    storeFailed: 'downRefused',
    callAdded: 'downRefused',
    journalWriteStarted: 'downJournalling',
    lastWriteSucceeded: UNREACHABLE,
    lastWriteRefused: UNREACHABLE,
  },
}

/** Failures since the store last accepted events. */
export interface Outage {
  /** The time of the first, as `Date.now()` counts. */
  readonly since: number
  readonly failures: number
}

export interface Availability {
  readonly state: AvailabilityState
  on(event: 'storeSucceeded' | 'storeFailed' | 'callAdded' | 'journalWriteStarted'): void
  /** The journal took or refused one entry. */
  onJournalWriteEnded(isRefused: boolean): void
  readonly isDown: () => boolean
  /** `undefined` unless the store is down. */
  readonly outage: () => Outage | undefined
  /**
   * True if an event with the policy `queue` goes to the journal without an attempt to store it. False once the
   * journal has refused an entry: then each event must try the store.
   */
  skipsStore(): boolean
}

/** Tracks the state, and counts the entries on their way into the journal. */
export function createAvailability(): Availability {
  let state: AvailabilityState = 'up'
  let writes = 0
  let failures = 0
  let since = 0
  const on = (event: AvailabilityEvent): void => void (state = transitions[state][event] ?? state)
  return {
    get state() {
      return state
    },
    on(event) {
      if (event === 'journalWriteStarted') writes += 1
      if (event === 'storeSucceeded') failures = 0
      if (event === 'storeFailed' && failures++ === 0) since = Date.now()
      on(event)
    },
    onJournalWriteEnded(isRefused) {
      writes -= 1
      // The journal may still store earlier entries, and a new event must not overtake them.
      if (writes === 0) on(isRefused ? 'lastWriteRefused' : 'lastWriteSucceeded')
    },
    isDown: () => state === 'down' || state === 'downJournalling' || state === 'downRefused',
    outage: () => (failures > 0 ? { since, failures } : undefined),
    skipsStore: () => state === 'down' || state === 'downJournalling',
  }
}
