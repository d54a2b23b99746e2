import { AuditLogError } from '../errors.js'
import type { JsonObject } from '../event/event.js'
import { storableText } from '../event/json-copy.js'

/** Options of a call that become attributes of its event. */
export interface CallAttributes {
  /** Why the user acts: the attribute `reason`. A blank text counts as missing. */
  readonly reason?: string | null | undefined
  /** The names of the users who have approved the act: the attribute `approved_by`. */
  readonly approvedBy?: string | readonly string[] | null | undefined
}

const isName = (name: unknown): name is string => typeof name === 'string' && name.trim() !== ''

function approvedBy(given: unknown): JsonObject | undefined {
  if (given === undefined || given === null) return undefined
  if (isName(given)) return { approved_by: storableText(given) }
  if (Array.isArray(given) && given.length > 0 && given.every(isName))
    return { approved_by: given.map(storableText) }
  throw new AuditLogError('INVALID_OPTION', 'approvedBy must be a user name or a list of names')
}

/** The attributes that the options give; `undefined` if there are none. Throws `INVALID_OPTION`. */
export function callAttributes(options: CallAttributes | undefined): JsonObject | undefined {
  const reason: unknown = options?.reason ?? ''
  if (typeof reason !== 'string') throw new AuditLogError('INVALID_OPTION', 'reason must be a text')
  const attributes = approvedBy(options?.approvedBy)
  return reason.trim() === '' ? attributes : { reason: storableText(reason), ...attributes }
}

/** Data of acts that have happened: their events get no outcome of their type, and are recorded without a reason if it is missing. */
export const happened = new WeakSet<object>()
