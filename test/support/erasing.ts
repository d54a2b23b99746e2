import { createHash, createSecretKey } from 'node:crypto'
import {
  AuditLog,
  type AuditLogOptions,
  defineEventTypes,
  type EventStore,
  type EventTypes,
  type SubjectKeys,
} from 'daybook'
import { postgresSubjectKeys } from 'daybook/postgres'
import { sqliteSubjectKeys } from 'daybook/sqlite'
import { openStore } from './open-store.js'

/* Logs with persons who are erased. */

export const UPDATE = 'api:customers:update'
const CUSTOMER = { kind: 'customer', from: 'customer_id' }

export const personalTypes = defineEventTypes({
  [UPDATE]: {
    data: ['customer_id', 'email', 'remote_address'],
    personal: [
      { subject: CUSTOMER, attributes: ['email'] },
      { subject: { kind: 'user', from: '@username' }, attributes: ['remote_address'] },
    ],
  },
  'api:customers:read': { data: ['customer_id'] },
})

/** The types before their attributes were declared as personal. */
export const formerTypes = defineEventTypes({ [UPDATE]: { data: ['customer_id', 'email'] } })

/** The same store or keys, which `close` leaves open, as for several processes. */
export const kept = <Closed extends { close(): Promise<void> }>(part: Closed): Closed => ({
  ...part,
  close: async () => {},
})

/** A log on the store with these keys. */
export const openPersonal = (
  store: EventStore,
  keys: SubjectKeys,
  options: Partial<AuditLogOptions<EventTypes>> = {},
): AuditLog => new AuditLog({ store, types: personalTypes, privacy: { keys }, ...options })

/** Options of `erase`. */
export const REQUEST = { reason: 'request 4711', username: 'dpo' }

/** Where processes find a log and its keys. */
export interface PlaceOfPersons {
  /** A Postgres URL, or the name of an SQLite file; also `keys`. */
  readonly log: string
  readonly keys: string
}

const MASTER = createSecretKey(createHash('sha256').update('master of tests').digest())

/** The keys at a Postgres URL, or in the SQLite file of this name. */
export const openKeys = (location: string): SubjectKeys =>
  location.startsWith('postgres')
    ? postgresSubjectKeys({ connectionString: location, master: MASTER })
    : sqliteSubjectKeys({ filename: location, master: MASTER })

/** The log of a place, with its keys. */
export function openPlace(
  place: PlaceOfPersons,
  options: Partial<AuditLogOptions<EventTypes>> = {},
): { readonly audit: AuditLog; readonly keys: SubjectKeys } {
  const keys = openKeys(place.keys)
  return { audit: openPersonal(openStore(place.log), keys, options), keys }
}
