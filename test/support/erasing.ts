import { AuditLog, type AuditLogOptions, type EventStore, type EventTypes } from 'daybook'
import { defineEventTypes } from 'daybook'
import type { SubjectKeys } from '../../src/privacy/subject-keys.js'

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
