import { bothOf, type Grouping, oneCondition } from '../filter/ast.js'
import { BEGINNING } from '../tail/poll.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'
import { type EventStore, WAIT_OPTIONS, type WaitOptions } from '../store/store.js'
import type { OptionNames } from '../options.js'
import { type Definitions, readDefinitions } from './definitions.js'
import { type Peers, readPeers } from './peers.js'
import type { Rights } from './rights.js'
import { readAll } from '../store/read-states.js'
import {
  type CursorState,
  type LastError,
  type ParkedCountState,
  PREFIX,
  type StoredSubscription,
} from './states.js'
import { parseFilter } from './subscription.js'

export interface SubscriptionStatus {
  readonly id: string
  readonly name: string
  readonly channel: string
  /**
   * `live`: at most 10 seconds behind the newest event. `failing`: the last attempt failed and is repeated.
   * `disabled`: the channel is disabled, so events are skipped. `broken`: the filter or the channel cannot be used,
   * or the rights of the owner cannot be read. `unowned`: no running process has the channel.
   */
  readonly state: 'live' | 'catching_up' | 'failing' | 'paused' | 'disabled' | 'broken' | 'unowned'
  /** Every matching event up to this `created_at` is delivered or parked. At most 5 seconds old. */
  readonly cursor: string
  /** Time from the cursor to the newest event of the log. */
  readonly lag_ms: number
  /** Number of events delivered since the subscription was made. */
  readonly delivered: number
  /** Failed attempts of the current batch; 0 if it has not failed. */
  readonly attempts: number
  readonly next_attempt_at: string | null
  readonly failing_since: string | null
  /** The last failure, also if a later attempt succeeded. */
  readonly last_error: LastError | null
  readonly parked: number
  /** Number of events that passed while the channel was disabled, since the subscription was made or replayed. */
  readonly skipped: number
  /** `created_at` of the first skipped event, where `replay` begins. */
  readonly skipped_since: string | null
}

const LIVE_MS = 10_000

/** A filter that no event matches. */
const NOTHING = oneCondition('id', 'null', [])
const ANY_TIME = oneCondition('created_at', 'not_null', [])

/** The `created_at` of the first visible event in this order; `undefined` without visible events. */
async function timeOf(
  store: EventStore,
  where: Grouping | undefined,
  direction: 'asc' | 'desc',
  options: WaitOptions,
): Promise<string | undefined> {
  const sorts = direction === 'asc' ? [{ attribute: 'created_at', direction }] : []
  const { events } = await store.list({ where, sorts, limit: 1 }, options)
  return events[0]?.created_at
}

/**
 * Returns a function that converts cursors for the user. With `visible`, it returns the `created_at` of the newest
 * visible event up to the cursor. Reads each event once.
 */
function shownCursors(
  store: EventStore,
  visible: Grouping | undefined,
  options: WaitOptions,
): (cursor: string) => Promise<string> {
  const known = new Map<string, string>()
  return async (cursor) => {
    if (!visible) return cursor
    const upTo = bothOf(visible, oneCondition('created_at', 'lteq', [cursor]))
    const shown = known.get(cursor) ?? (await timeOf(store, upTo, 'desc', options)) ?? BEGINNING
    known.set(cursor, shown)
    return shown
  }
}

export interface StatusOptions extends WaitOptions {
  /**
   * Returns only the subscriptions of this user. Their `cursor` and `lag_ms` are then computed from the events that
   * the user may see by the option `visible`. @default all subscriptions
   */
  readonly owner?: string | undefined
}

export const STATUS_OPTIONS: OptionNames<StatusOptions> = { ...WAIT_OPTIONS, owner: true }

export interface ReadStatusOptions extends StatusOptions {
  /** Returns the cursor if this process moves it. */
  readonly cursorOf: (id: string) => CursorState | undefined
  readonly rights: Pick<Rights, 'ask'>
}

/** Filter of the events that the user may see. Matches nothing while the rights cannot be read. */
async function visibleTo({ owner, rights }: ReadStatusOptions): Promise<Grouping | undefined> {
  if (owner === undefined) return undefined
  const owned = await rights.ask(owner)
  return owned.error ? NOTHING : owned.where
}

export async function readStatus(
  store: EventStore,
  options: ReadStatusOptions,
): Promise<readonly SubscriptionStatus[]> {
  const { cursorOf, signal, owner } = options
  const definitions = await readDefinitions(store, { signal })
  const subscriptions = [...definitions.subscriptions.values()].filter(
    (one) => owner === undefined || one.owner === owner,
  )
  if (subscriptions.length === 0) return []
  const cursors = await readAll<CursorState>(store, PREFIX.cursor, { signal })
  const peers = await readPeers(store, signal)
  const parked = await readAll<ParkedCountState>(store, PREFIX.parkedCount, { signal })
  const visible = await visibleTo(options)
  const newest = await timeOf(store, visible, 'desc', { signal })
  const oldest = await timeOf(store, visible ?? ANY_TIME, 'asc', { signal })
  const shown = shownCursors(store, visible, { signal })
  const channelState = readChannelStates(peers, definitions)
  const statuses: SubscriptionStatus[] = []
  for (const subscription of subscriptions) {
    const { id, name, channel } = subscription
    const cursor = cursorOf(id) ?? cursors.get(id)
    if (!cursor) continue
    const { delivered, failure, lastError, skipped, skippedSince } = cursor
    const shownCursor = await shown(cursor.position)
    const lag_ms = lagOf(shownCursor, oldest, newest)
    statuses.push({
      id,
      name,
      channel,
      state: stateOf(subscription, cursor, lag_ms, channelState),
      cursor: shownCursor,
      lag_ms,
      delivered,
      attempts: failure?.attempts ?? 0,
      next_attempt_at: failure ? formatTimestamp(failure.nextAttempt) : null,
      failing_since: failure ? formatTimestamp(failure.since) : null,
      last_error: lastError ?? null,
      parked: parked.get(id)?.count ?? 0,
      skipped: skipped ?? 0,
      skipped_since: skippedSince ?? null,
    })
  }
  return statuses.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Reason why a channel gets no deliveries; `undefined` if a running process can deliver to it. */
type ChannelCondition = (name: string) => 'disabled' | 'broken' | 'unowned' | undefined

function readChannelStates({ deliverers }: Peers, { channels }: Definitions): ChannelCondition {
  const disabled = [...channels.values()].filter(({ enabled }) => !enabled)
  const offered = [...deliverers.values()].flatMap((one) => one.channels)
  const namesOf = (some: readonly { readonly name: string }[]): ReadonlySet<string> =>
    new Set(some.map(({ name }) => name))
  const disabledNames = namesOf(disabled)
  const offeredNames = namesOf(offered)
  const usableNames = namesOf(offered.filter(({ broken }) => !broken))
  return (name) => {
    if (disabledNames.has(name)) return 'disabled'
    if (usableNames.has(name)) return undefined
    return offeredNames.has(name) ? 'broken' : 'unowned'
  }
}

function stateOf(
  { paused, filter, channel }: StoredSubscription,
  { failure, broken }: CursorState,
  lagMs: number,
  channelState: ChannelCondition,
): SubscriptionStatus['state'] {
  if (paused) return 'paused'
  if (broken || !canRead(filter)) return 'broken'
  const ofChannel = channelState(channel)
  if (ofChannel) return ofChannel
  if (failure) return 'failing'
  return lagMs <= LIVE_MS ? 'live' : 'catching_up'
}

function canRead(filter: string): boolean {
  try {
    parseFilter(filter)
    return true
  } catch {
    return false
  }
}

/** The lag of a cursor. A cursor before the oldest event counts as if it were there. */
function lagOf(cursor: string, oldest: string | undefined, newest: string | undefined): number {
  if (newest === undefined || oldest === undefined || cursor >= newest) return 0
  const from = parseTimestamp(cursor < oldest ? oldest : cursor)!
  return Math.floor((parseTimestamp(newest)! - from) / 1000)
}
