import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'
import { type EventStore, WAIT_OPTIONS, type WaitOptions } from '../store/store.js'
import { attemptDelivery, type DeliveryTarget } from './attempt.js'
import { lastErrorOf } from './cursor.js'
import type { Outcomes } from './outcomes.js'
import type { WaitForRate } from './rate.js'
import { readAll, readState, scanStates } from '../store/read-states.js'
import {
  addToParkedCount,
  changeStates,
  keyOf,
  parkedKey,
  type ParkedCountState,
  parkedPrefix,
  type ParkedState,
} from './states.js'
import type { OptionNames } from '../options.js'

/** An event that could not be delivered and was set aside. */
export type Parked = ParkedState

export interface ParkedOptions extends WaitOptions {
  /** Return events after this `created_at`. */
  readonly after?: string | undefined
  /** @default 100 */
  readonly limit?: number | undefined
}

export const PARKED_OPTIONS: OptionNames<ParkedOptions> = {
  ...WAIT_OPTIONS,
  after: true,
  limit: true,
}

export interface Redriven {
  /** Accepted by the channel, and no longer parked. */
  readonly delivered: number
  /** Refused again, and still parked. */
  readonly failed: number
  /** Cleaned meanwhile, or no longer visible to the owner of the subscription, so they are not delivered. */
  readonly missed: number
}

const DEFAULT_LIMIT = 100

/** The parked events, oldest first. */
export async function readParked(
  store: EventStore,
  id: string,
  { after, limit = DEFAULT_LIMIT, signal }: ParkedOptions = {},
): Promise<readonly Parked[]> {
  if (!Number.isInteger(limit) || limit < 1)
    throw new AuditLogError('INVALID_OPTION', 'limit must be a whole number of at least 1')
  const found: Parked[] = []
  for await (const [, value] of scanStates<ParkedState>(store, parkedPrefix(id), {
    after,
    signal,
  })) {
    found.push(value)
    if (found.length === limit) break
  }
  return found
}

export async function countParked(
  store: EventStore,
  id: string,
  options: WaitOptions,
): Promise<number> {
  const stored = await readState<ParkedCountState>(store, keyOf('parkedCount', id), options)
  return stored?.count ?? 0
}

/** The selected parked events: all, or the events with these ids. */
async function choose(
  store: EventStore,
  id: string,
  which: 'all' | readonly string[],
  options: WaitOptions,
): Promise<ParkedState[]> {
  const all = await readAll<ParkedState>(store, parkedPrefix(id), options)
  return Array.from(all.values()).filter(
    ({ event_id }) => which === 'all' || which.includes(event_id),
  )
}

/** Forgets a parked event, unless that has happened already. */
async function unpark(
  store: EventStore,
  id: string,
  { created_at }: ParkedState,
  options: WaitOptions,
): Promise<void> {
  const key = parkedKey(id, created_at)
  await changeStates(
    store,
    [key, keyOf('parkedCount', id)],
    (states) => {
      if (states.get(key) === undefined) return
      states.set(key, undefined)
      addToParkedCount(states, id, -1)
    },
    options,
  )
}

/** Changes a parked event, unless it is no longer parked. */
async function changeParked(
  store: EventStore,
  key: string,
  change: (now: Microseconds) => ParkedState,
  options: WaitOptions,
): Promise<void> {
  await changeStates(
    store,
    [key],
    (states) => {
      if (states.get(key) !== undefined) states.set(key, change(states.now))
    },
    options,
  )
}

/** Forgets the chosen parked events; returns how many there were. */
export async function discardParked(
  store: EventStore,
  id: string,
  which: 'all' | readonly string[],
  options: WaitOptions = {},
): Promise<number> {
  const chosen = await choose(store, id, which, options)
  for (const one of chosen) await unpark(store, id, one, options)
  return chosen.length
}

export interface RedriveTarget extends DeliveryTarget {
  readonly waitForRate: WaitForRate
  readonly outcomes: Outcomes
  /**
   * Called before each event, because a redrive may take long. Resolves to the event as the owner of the subscription sees
   * it, or to `undefined` if the owner may no longer see it. Rejects if nothing more is to be delivered.
   */
  readonly shownOf: (event: AuditEvent) => Promise<AuditEvent | undefined>
}

/**
 * Delivers the selected parked events one by one, oldest first, and yields the outcome of each. The outcome of an
 * attempt is stored also after an abort.
 */
export async function* redriveParked(
  store: EventStore,
  target: RedriveTarget,
  which: 'all' | readonly string[],
  { signal = new AbortController().signal }: WaitOptions = {},
): AsyncGenerator<keyof Redriven, void, void> {
  const { subscription, waitForRate, outcomes, shownOf } = target
  const { id } = subscription
  for (const one of await choose(store, id, which, { signal })) {
    const event = await store.get(one.event_id, { signal })
    if (event) await waitForRate(signal)
    const key = parkedKey(id, one.created_at)
    // Another call has delivered or discarded it meanwhile.
    if (!(await readState(store, key, { signal }))) continue
    const shown = event && (await shownOf(event))
    if (!shown) {
      await unpark(store, id, one, { signal })
      yield 'missed'
      continue
    }
    const attempts = one.attempts + 1
    const { error, reports } = await attemptDelivery(target, [shown], attempts, signal)
    outcomes.reported(subscription, [shown], reports)
    if (!error) {
      await unpark(store, id, one, {})
      yield 'delivered'
      continue
    }
    const { message, kind, status } = error
    const changed = (now: Microseconds): ParkedState => ({
      ...one,
      attempts,
      error: message,
      last_error: lastErrorOf({ kind, status }, now),
    })
    await changeParked(store, key, changed, {})
    yield 'failed'
  }
}
