import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { EventTypes } from '../event/event-types.js'
import { formatTimestamp } from '../event/timestamp.js'
import { bothOf, type Grouping } from '../filter/ast.js'
import { NEWEST } from '../store/consistency-token.js'
import type { CountsQuery } from '../store/counts.js'
import { pagesOf } from '../store/pages.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { completedAt } from './completion.js'
import type { EraseOptions, SubjectErasure } from './erase-options.js'
import { type RecordOnce, recordErasure } from './erasure-event.js'
import { clearEvents, sealedFor } from './subject-events.js'
import type { KnownSubject } from './subject-option.js'
import type { KeyErasure, SubjectKeys } from './subject-keys.js'

/** A filter of events that must not be removed. */
export interface Hold {
  readonly where: Grouping
  matches(event: AuditEvent): boolean
  /** The filter as a query string. */
  readonly text: string
}

/** The parts of a log that erase a person. */
export interface SubjectEraser {
  readonly store: EventStore
  readonly types: EventTypes
  readonly keys: SubjectKeys
  readonly keyBackupDays: number | undefined
  /** Rejects if the holds cannot be read, so that nothing is erased. */
  readonly holds: (options: WaitOptions) => Promise<readonly Hold[]>
  readonly recordOnce: RecordOnce
}

export const heldError = ({ text }: Hold, what: string): AuditLogError =>
  new AuditLogError('HELD', `the hold ${text} keeps ${what}, so nothing was erased`)

const MAX_WITHIN_MS = 60_000

/** Number of the matching events. */
async function countEvents(
  store: EventStore,
  where: Grouping | undefined,
  { signal }: WaitOptions,
): Promise<number> {
  if (!where) return 0
  const query: CountsQuery = {
    where,
    visible: undefined,
    buckets: undefined,
    facets: [],
    top: 1,
    attributes: false,
    within: MAX_WITHIN_MS,
  }
  const options = { signal, consistencyToken: NEWEST }
  const { total, exact } = await store.count(query, options)
  if (exact.total) return total
  let count = 0
  const sorts = [{ attribute: 'created_at', direction: 'asc' }] as const
  for await (const events of pagesOf((wanted) => store.list(wanted, { ...options, lazy: true }), {
    where,
    sorts,
    limit: 1,
  }))
    count += events.length
  return count
}

/** Throws `HELD` if a hold keeps an event with data of the ref. A person whose key is destroyed already cannot be kept. */
async function checkHolds(
  { store, keys, holds }: SubjectEraser,
  ref: string,
  { signal }: WaitOptions,
): Promise<void> {
  const known = (await keys.read([ref], { signal })).get(ref)
  if (known && 'erased_at' in known) return
  for (const hold of await holds({ signal })) {
    const query = { where: bothOf(hold.where, sealedFor(ref)), sorts: [], limit: 1 }
    const { events } = await store.list(query, { signal, consistencyToken: NEWEST })
    if (events.length > 0) throw heldError(hold, `the event ${events[0]!.id} of the person`)
  }
}

/** Records the erasure, and lets the keys forget the person. Returns the number of events. Can be repeated, also at the same time. */
export async function endErasure(
  eraser: SubjectEraser,
  { ref, reason, username }: KeyErasure,
  options: WaitOptions,
): Promise<number> {
  const { store, keys } = eraser
  const event = await recordErasure(
    eraser,
    {
      key: ['subject', ref],
      request: { reason, username },
      data: async () => ({
        subject: ref,
        count: await countEvents(store, sealedFor(ref), options),
      }),
    },
    options,
  )
  if (!event)
    throw new AuditLogError('STORE_FAILED', 'the erasure could not be recorded; erase it again')
  const events = Number(event.attributes['count'])
  await keys.endErasure(ref, { events }, options)
  return events
}

/** Destroys the key of a person, and records it. */
export async function eraseSubject(
  eraser: SubjectEraser,
  subject: KnownSubject,
  { reason, username, dryRun }: EraseOptions,
  options: WaitOptions,
): Promise<SubjectErasure> {
  const { store, types, keys, keyBackupDays } = eraser
  const ref = await keys.find(subject, options)
  if (ref !== undefined) await checkHolds(eraser, ref, options)
  if (dryRun) {
    const sealed = ref === undefined ? undefined : sealedFor(ref)
    const events = await countEvents(store, sealed, options)
    const unsealed = await countEvents(store, clearEvents(types, subject), options)
    return { ref: ref ?? null, erased_at: null, events, unsealed }
  }
  const begun =
    ref === undefined ? undefined : await keys.beginErasure(subject, { reason, username }, options)
  const events = begun ? await endErasure(eraser, begun, options) : 0
  const unsealed = await countEvents(store, clearEvents(types, subject), options)
  if (!begun) return { ref: null, erased_at: null, events, unsealed }
  const { erased_at } = begun
  const rotatedAt = await keys.rotatedAt(options)
  const complete = completedAt(erased_at, { keyBackupDays, rotatedAt })
  return {
    ref: begun.ref,
    erased_at,
    events,
    unsealed,
    ...(complete !== undefined && { complete_at: formatTimestamp(complete) }),
  }
}
