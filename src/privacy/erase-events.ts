import { randomUUID } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import type { AuditEvent, JsonObject } from '../event/event.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { NEWEST } from '../store/consistency-token.js'
import { readAll } from '../store/read-states.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { EraseOptions, EventsErasure } from './erase-options.js'
import { type Hold, heldError } from './erase-subject.js'
import { type RecordOnce, recordErasure } from './erasure-event.js'
import type { ErasureRequest } from './subject-keys.js'

/*
 * Erasure of whole events. The shared state keeps the ids from before the removal until the event of the erasure is stored, so that an erasure
 * that a process did not end is ended by another one.
 */

const MAX_IDS = 1000
const PREFIX = 'erasure:'

/** The parts of a log that erase events. */
export interface EventsEraser {
  readonly store: EventStore
  readonly holds: (options: WaitOptions) => Promise<readonly Hold[]>
  readonly recordOnce: RecordOnce
  /** Rejects with `SIGNER_REQUIRED` if another process removes the events of the log. */
  readonly requireRemoval: (options: WaitOptions) => Promise<void>
  /** Removes events as cleaning does. */
  readonly remove: (ids: readonly string[], options: WaitOptions) => Promise<unknown>
}

/** An erasure that has begun. */
export type PendingEvents = ErasureRequest & {
  readonly ids: readonly string[]
  readonly erased_at: string
}

/** Throws `INVALID_VALUE`. Returns the ids in lower case, each once. */
export function readIds(given: unknown): readonly string[] {
  const isList = Array.isArray(given) && given.every((id) => typeof id === 'string')
  if (isList && given.length > 0 && given.length <= MAX_IDS)
    return [...new Set(given.map((id: string) => id.toLowerCase()))]
  const message = `ids must be a list of 1 to ${MAX_IDS} ids of events, as texts`
  throw new AuditLogError('INVALID_VALUE', message, { parameter: 'ids' })
}

/** The erasures of events that are not ended, by their keys. */
export const pendingEvents = (
  store: EventStore,
  { signal }: WaitOptions,
): Promise<ReadonlyMap<string, PendingEvents>> => readAll<PendingEvents>(store, PREFIX, { signal })

async function readEvents(
  store: EventStore,
  ids: readonly string[],
  { signal }: WaitOptions,
): Promise<readonly AuditEvent[]> {
  const events: AuditEvent[] = []
  for (const id of ids) {
    const event = await store.get(id, { signal, consistencyToken: NEWEST })
    if (event) events.push(event)
  }
  return events
}

/** Removes the events, records the erasure and forgets the pending one. Returns where bytes remain. Can be repeated, also at the same time. */
export async function endEventsErasure(
  eraser: EventsEraser,
  key: string,
  { ids, reason, username }: PendingEvents,
  options: WaitOptions,
): Promise<readonly string[]> {
  const { store, remove } = eraser
  await remove(ids, options)
  const [left] = await readEvents(store, ids, options)
  if (left)
    throw new AuditLogError(
      'STORE_FAILED',
      `the event ${left.id} could not be removed; erase it again`,
    )
  const remaining = (await store.scrub?.(options))?.remaining ?? []
  const data: JsonObject = { erasure: key, ids: [...ids], count: ids.length }
  const event = await recordErasure(
    eraser,
    {
      key: ['erasure', key],
      request: { reason, username },
      data: async () => (remaining.length > 0 ? { ...data, remaining: [...remaining] } : data),
    },
    options,
  )
  if (!event)
    throw new AuditLogError('STORE_FAILED', 'the erasure could not be recorded; erase it again')
  await store.updateState(PREFIX + key, () => undefined, options)
  return remaining
}

/** Throws `INVALID_VALUE` for a live event that is open, and `HELD`. */
async function checkEvents(
  { store, holds }: EventsEraser,
  events: readonly AuditEvent[],
  options: WaitOptions,
): Promise<void> {
  const open = new Set((await store.openEvents(options)).map(({ id }) => id))
  const live = events.find(({ id }) => open.has(id))
  if (live)
    throw new AuditLogError(
      'INVALID_VALUE',
      `the event ${live.id} is a live event that is still open; close it first`,
      { parameter: 'ids' },
    )
  for (const hold of await holds(options)) {
    const held = events.find((event) => hold.matches(event))
    if (held) throw heldError(hold, `the event ${held.id}`)
  }
}

/** Removes whole events, and records it. */
export async function eraseEvents(
  eraser: EventsEraser,
  ids: readonly string[],
  { reason, username, dryRun }: EraseOptions,
  options: WaitOptions,
): Promise<EventsErasure> {
  const { store, requireRemoval } = eraser
  if (dryRun) {
    const found = await readEvents(store, ids, options)
    await checkEvents(eraser, found, options)
    const present = new Set(found.map(({ id }) => id))
    return {
      ids: ids.filter((id) => present.has(id)),
      missing: ids.filter((id) => !present.has(id)),
      events: present.size,
      remaining: [],
    }
  }
  await requireRemoval(options)
  const ended = new Set<string>()
  const remaining = new Set<string>()
  const end = async (key: string, pending: PendingEvents): Promise<void> => {
    for (const text of await endEventsErasure(eraser, key, pending, options)) remaining.add(text)
    for (const id of pending.ids) ended.add(id)
  }
  for (const [key, pending] of await pendingEvents(store, options))
    if (pending.ids.some((id) => ids.includes(id))) await end(key, pending)
  const events = await readEvents(store, ids, options)
  if (events.length > 0) {
    await checkEvents(eraser, events, options)
    const found = events.map(({ id }) => id)
    const key = randomUUID()
    const begin = (_none: unknown, now: Microseconds): JsonObject => ({
      ids: found,
      reason,
      username,
      erased_at: formatTimestamp(now),
    })
    const pending = await store.updateState(PREFIX + key, begin, options)
    await end(key, pending as unknown as PendingEvents)
  }
  const erased = ids.filter((id) => ended.has(id))
  return {
    ids: erased,
    missing: ids.filter((id) => !ended.has(id)),
    events: erased.length,
    remaining: [...remaining],
  }
}
