import { AuditLog, AuditLogError, type AuditLogOptions, type EventTypes } from 'daybook'
import { memoryStore, memorySubjectKeys } from 'daybook/memory'
import { onTestFinished } from 'vitest'
import type { SubjectKeys } from '../../src/privacy/subject-keys.js'

/* A log whose types declare attributes about customers and users. */

export const TYPES = {
  'api:customers:update': {
    data: ['customer_id', 'email', 'address', 'plan'],
    personal: [
      { subject: { kind: 'customer', from: 'customer_id' }, attributes: ['email', 'address'] },
      { subject: { kind: 'user', from: '@username' }, attributes: ['remote_address'] },
    ],
  },
  'own:note': { data: ['customer_id', 'text'] },
} as const satisfies EventTypes

/** Keys that can be away, and that count their look-ups. */
export interface WatchedKeys extends SubjectKeys {
  isAway: boolean
  /** The refs of each `read`. */
  readonly reads: (readonly string[])[]
}

export function watchedKeys(keys: SubjectKeys = memorySubjectKeys()): WatchedKeys {
  const away = async (): Promise<never> => {
    throw new AuditLogError('KEYS_UNAVAILABLE', 'the keys are away')
  }
  const watched: WatchedKeys = {
    ...keys,
    isAway: false,
    reads: [],
    read(refs, options) {
      watched.reads.push(refs)
      return watched.isAway ? away() : keys.read(refs, options)
    },
    find: (...call) => (watched.isAway ? away() : keys.find(...call)),
  }
  return watched
}

/** A log with keys; closed at the end of the test, or as `finished` says. */
export function openPersonalLog(
  options: Partial<AuditLogOptions<EventTypes>> = {},
  finished: (close: () => Promise<void>) => void = onTestFinished,
) {
  const keys = watchedKeys()
  const audit: AuditLog = new AuditLog({
    store: memoryStore(),
    types: TYPES,
    privacy: { keys },
    ...options,
  })
  finished(() => audit.close())
  /** Records a change of a customer by a user. */
  const update = async (customer: string, username = 'ann', more: object = {}) => {
    const data = {
      customer_id: customer,
      email: `${customer}@example.com`,
      address: { city: `city of ${customer}` },
      remote_address: '192.0.2.7',
      plan: 'free',
      ...more,
    }
    return (await audit.record('api:customers:update', data, { username }))!
  }
  /** Destroys the key of a customer, and returns the time. */
  const forget = async (customer: string): Promise<string> => {
    const subject = { kind: 'customer', id: customer }
    const begun = await keys.beginErasure(subject, { reason: 'asked for', username: 'dpo' })
    await keys.endErasure(begun!.ref, { events: 1 })
    return begun!.erased_at
  }
  return { audit, keys, update, forget }
}
