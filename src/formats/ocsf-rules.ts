import type { AuditEvent } from '../event/event.js'
import type { EventTypes, OcsfMapping } from '../event/event-types.js'
import { levelOf } from '../event/level.js'
import { outcomeOf } from '../event/known-attributes.js'
import { definitionOf, textAt, wholeNumberAt } from './event-values.js'
import { ocsfFault } from './ocsf-mapping.js'

export const BASE_EVENT = 0
export const EVENT_LOG_ACTIVITY = 1008
export const ACCOUNT_CHANGE = 3001
export const AUTHENTICATION = 3002
export const AUTHORIZE_SESSION = 3003
export const ENTITY_MANAGEMENT = 3004
export const USER_ACCESS = 3005
export const EMAIL_ACTIVITY = 4009
export const APPLICATION_LIFECYCLE = 6002
export const API_ACTIVITY = 6003
export const DATASTORE_ACTIVITY = 6005
export const APPLICATION_ERROR = 6008

const LOGON: OcsfMapping = { class: AUTHENTICATION, activity: 1 }
const CALL: OcsfMapping = { class: API_ACTIVITY }
const GENERAL_ERROR: OcsfMapping = { class: APPLICATION_ERROR, activity: 1 }

export const BASE: OcsfMapping = { class: BASE_EVENT }

/** The registry is checked when types are defined with `defineEventTypes`, which is optional. */
const validity = new WeakMap<OcsfMapping, boolean>()

function isValid(mapping: OcsfMapping): boolean {
  let valid = validity.get(mapping)
  if (valid === undefined) {
    valid = ocsfFault(mapping) === undefined
    validity.set(mapping, valid)
  }
  return valid
}

/**
 * The mapping of the event's type in the registry, else a mapping by level: requests and calls are API activity,
 * other errors are application errors. Custom events are base events, because users choose their types and
 * attributes.
 */
export function mappingOf(event: AuditEvent, types: EventTypes | undefined): OcsfMapping {
  if (!event.system) return BASE
  const { type, attributes } = event
  const isRequest = textAt(attributes, 'request_method') !== undefined
  if (isRequest && wholeNumberAt(attributes, 'response_status') === 401) return LOGON
  const own = definitionOf(event, types)?.ocsf
  if (own && isValid(own)) return own
  const level = levelOf(type)
  if (level === 'api' || level === 'audit') return CALL
  if (level === 'error') return isRequest ? CALL : GENERAL_ERROR
  return BASE
}

const CHANGES = { create: 1, read: 2, update: 3, delete: 4, destroy: 4 }

/** The activities of some classes by the last part of the type. */
const ACTIVITIES: Readonly<Record<number, Readonly<Record<string, number>>>> = {
  [EVENT_LOG_ACTIVITY]: { clear: 1, delete: 2, destroy: 2, export: 3, archive: 4 },
  [ENTITY_MANAGEMENT]: {
    ...CHANGES,
    enable: 8,
    enabled: 8,
    disable: 9,
    disabled: 9,
    suspend: 12,
    resume: 13,
  },
  [APPLICATION_LIFECYCLE]: {
    install: 1,
    remove: 2,
    start: 3,
    started: 3,
    stop: 4,
    stopped: 4,
    restart: 5,
    enable: 6,
    enabled: 6,
    disable: 7,
    disabled: 7,
    update: 8,
  },
  [API_ACTIVITY]: CHANGES,
  [DATASTORE_ACTIVITY]: { read: 1, update: 2, create: 6, delete: 7, destroy: 7, encrypt: 9 },
}

/** The activity of the class that the last part of the type names. */
export function activityOf(ofClass: number, type: string): number | undefined {
  const activities = ACTIVITIES[ofClass] ?? {}
  const action = type.slice(type.lastIndexOf(':') + 1)
  return Object.hasOwn(activities, action) ? activities[action] : undefined
}

const FAILED = /(?:^|[:_])(?:error|denied|failed|failure)$/

export type OcsfStatus = 'success' | 'failure' | 'warning'

export function statusOf(event: AuditEvent): OcsfStatus {
  const outcome = outcomeOf(event)
  if (outcome !== undefined) return outcome === 'success' ? 'success' : 'failure'
  const { type, system, attributes } = event
  const level = levelOf(type)
  if (level === 'error' || FAILED.test(type)) return 'failure'
  if (level === 'warn') return 'warning'
  const isRefused = (wholeNumberAt(attributes, 'response_status') ?? 0) >= 400
  return system && (isRefused || attributes['success'] === false) ? 'failure' : 'success'
}
