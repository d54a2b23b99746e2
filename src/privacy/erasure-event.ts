import { createHash } from 'node:crypto'
import type { AuditEvent, JsonObject } from '../event/event.js'
import type { IdSuffix } from '../event/event-id.js'
import { type Microseconds, parseTimestamp } from '../event/timestamp.js'
import { bothOf, type Grouping, oneCondition } from '../filter/ast.js'
import { NEWEST } from '../store/consistency-token.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { ErasureRequest } from './subject-keys.js'

/* The event of an erasure. Calls that end the same erasure, in several processes or after a crash, leave one event. */

const ERASE = 'info:audit_log:erase'

/** Records an event of the log itself at most once: see `Calls.recordOnce`. */
export type RecordOnce = (
  type: string,
  data: object,
  once: {
    readonly suffix: IdSuffix
    readonly username: string
    readonly since: Microseconds
  },
) => Promise<AuditEvent | undefined>

/** The end of the id of the event, which is the same for all calls. */
function suffixOf(erasure: string): IdSuffix {
  const bytes = createHash('sha256').update(erasure).digest().subarray(0, 8)
  bytes[0] = (bytes[0]! & 0x3f) | 0x80
  return bytes.toString('hex')
}

/** The events of erasures that have this value. */
export const erasureEvents = (attribute: string, value?: string): Grouping =>
  bothOf(
    bothOf(oneCondition('type', 'eq', [ERASE]), oneCondition('system', 'true', [])),
    value === undefined
      ? oneCondition(attribute, 'not_null', [])
      : oneCondition(attribute, 'eq', [value]),
  )!

async function newest(
  store: EventStore,
  where: Grouping | undefined,
  { signal }: WaitOptions,
): Promise<AuditEvent | undefined> {
  const query = { where, sorts: [], limit: 1 }
  const { events } = await store.list(query, { signal, consistencyToken: NEWEST, durable: true })
  return events[0]
}

export interface ErasureEvent {
  /** The attribute that identifies the erasure, and its value. */
  readonly key: readonly [attribute: string, value: string]
  readonly request: ErasureRequest
  /** Further attributes. Called only if there is no event yet. */
  readonly data: () => Promise<JsonObject>
}

/** The event of the erasure: the stored one, else a new one. */
export async function recordErasure(
  { store, recordOnce }: { readonly store: EventStore; readonly recordOnce: RecordOnce },
  { key, request, data }: ErasureEvent,
  options: WaitOptions,
): Promise<AuditEvent | undefined> {
  const last = await newest(store, undefined, options)
  const stored = await newest(store, erasureEvents(...key), options)
  if (stored) return stored
  const { reason, username } = request
  return recordOnce(
    ERASE,
    { ...(await data()), reason },
    {
      suffix: suffixOf(key.join(':')),
      username,
      // Events that another call stores from now on are later than this one.
      since: last ? parseTimestamp(last.created_at)! : 0,
    },
  )
}
