import { subjectOf } from '../describing/resources.js'
import { normalAddress } from '../event/address.js'
import type { AuditEvent, JsonObject, JsonValue } from '../event/event.js'
import { isHttpMethod, textAt, wholeNumberAt } from './event-values.js'
import {
  ACCOUNT_CHANGE,
  API_ACTIVITY,
  APPLICATION_LIFECYCLE,
  AUTHENTICATION,
  AUTHORIZE_SESSION,
  DATASTORE_ACTIVITY,
  EMAIL_ACTIVITY,
  ENTITY_MANAGEMENT,
  EVENT_LOG_ACTIVITY,
  USER_ACCESS,
} from './ocsf-rules.js'
import type { OptionNames } from '../options.js'

/** The service that recorded the events, as OCSF names it. */
export interface OcsfProduct {
  readonly name: string
  readonly vendor_name?: string | undefined
  readonly version?: string | undefined
  readonly uid?: string | undefined
}

export const OCSF_PRODUCT: OptionNames<OcsfProduct> = {
  name: true,
  vendor_name: true,
  version: true,
  uid: true,
}

/**
 * The attributes of a class in addition to the attributes of every event; `undefined` if the event lacks a required
 * value.
 */
type ClassAttributes = (event: AuditEvent, product: OcsfProduct) => JsonObject | undefined

const OTHER = 99

/** The classes for which `toOcsf` sets attributes beyond those of every event. */
const CLASSES: Readonly<Record<number, ClassAttributes>> = {
  [EVENT_LOG_ACTIVITY]: (event, product) => ({
    actor: actorOf(event, product),
    log_name: 'audit',
  }),
  [ACCOUNT_CHANGE]: (event, product) => ({
    ...requestOf(event, product),
    user: accountOf(event),
  }),
  [AUTHORIZE_SESSION]: grantOf,
  [USER_ACCESS]: grantOf,
  [AUTHENTICATION]: (event, product) => ({
    ...requestOf(event, product),
    user: accountOf(event),
    service: { name: product.name },
    ...countOf(event),
  }),
  [ENTITY_MANAGEMENT]: (event, product) => ({
    ...requestOf(event, product),
    entity: { ...resourceOf(event), type_id: OTHER, type: subjectWords(event) },
    ...commentOf(event),
  }),
  [EMAIL_ACTIVITY]: (event) => {
    const email = emailOf(event)
    return email && { email, direction_id: 2 }
  },
  [APPLICATION_LIFECYCLE]: (event) => ({ app: resourceOf(event) }),
  [API_ACTIVITY]: (event, product) => ({
    ...requestOf(event, product),
    ...apiOf(event),
    ...traceOf(event),
  }),
  [DATASTORE_ACTIVITY]: (event, product) => ({
    ...requestOf(event, product),
    databucket: { ...resourceOf(event), type_id: OTHER, type: subjectWords(event) },
  }),
}

/** `{}` for classes without further attributes. */
export function classAttributes(
  ofClass: number,
  event: AuditEvent,
  product: OcsfProduct,
): JsonObject | undefined {
  const attributes = CLASSES[ofClass]
  return attributes ? attributes(event, product) : {}
}

const USER_TYPES: Readonly<Record<string, JsonObject>> = {
  user: { type_id: 1 },
  service: { type_id: 4 },
  agent: { type_id: OTHER, type: 'Agent' },
}

function userOf({ username, system, attributes }: AuditEvent): JsonObject | undefined {
  if (!username) return undefined
  const own = system ? attributes : {}
  const uid = textAt(own, 'actor_id')
  const kind = textAt(own, 'actor_kind')
  return {
    name: username,
    ...(uid !== undefined && { uid }),
    ...(kind !== undefined && USER_TYPES[kind]),
  }
}

/** The account that the event is about, by `user_name` and `user_id`; else the user who acts. */
function accountOf(event: AuditEvent): JsonObject {
  const name = textAt(event.attributes, 'user_name')
  const uid = textAt(event.attributes, 'user_id')
  if (name === undefined && uid === undefined)
    return userOf(event) ?? { name: 'unknown', type_id: 0 }
  return { ...(name !== undefined && { name }), ...(uid !== undefined && { uid }) }
}

/** Texts of `privileges`, and the `role`. OCSF requires at least one. */
function grantOf(event: AuditEvent, product: OcsfProduct): JsonObject | undefined {
  const { role, privileges } = event.attributes
  const granted = [role, privileges]
    .flat()
    .filter((one) => typeof one === 'string')
    .filter((one) => one !== '')
  if (granted.length === 0) return undefined
  return { ...requestOf(event, product), user: accountOf(event), privileges: granted }
}

/** The user and the user's session, else the service itself. */
export function actorOf(event: AuditEvent, product: OcsfProduct): JsonObject {
  const user = userOf(event)
  if (!user) return { app_name: product.name }
  const own = event.system ? event.attributes : {}
  const session = textAt(own, 'session_id') ?? textAt(own, 'agent_session_id')
  return { user, ...(session !== undefined && { session: { uid: session } }) }
}

/** The actor, the address, and the HTTP request. */
function requestOf(event: AuditEvent, product: OcsfProduct): JsonObject {
  const { attributes } = event
  const method = textAt(attributes, 'request_method')
  const path = textAt(attributes, 'request_path')
  const agent = textAt(attributes, 'user_agent')
  const code = wholeNumberAt(attributes, 'response_status')
  const request = {
    ...(method !== undefined && isHttpMethod(method) && { http_method: method }),
    ...(path !== undefined && { url: { path } }),
    ...(agent !== undefined && { user_agent: agent }),
  }
  return {
    actor: actorOf(event, product),
    src_endpoint: endpointOf(textAt(attributes, 'remote_address'), product),
    ...(Object.keys(request).length > 0 && { http_request: request }),
    ...(code !== undefined && { http_response: { code } }),
  }
}

function endpointOf(address: string | undefined, product: OcsfProduct): JsonObject {
  if (address === undefined) return { svc_name: product.name }
  const ip = normalAddress(address)
  return ip === '' ? { name: address } : { ip }
}

/** The resource that the event is about: its name and its path. */
function resourceOf(event: AuditEvent): JsonObject {
  const { source, attributes } = event
  const name = textAt(attributes, 'name') ?? (source === null ? subjectWords(event) : undefined)
  return { ...(name !== undefined && { name }), ...(source !== null && { uid: source }) }
}

/** `api:git_remotes:create` -> `git remote`. */
const subjectWords = (event: AuditEvent): string =>
  subjectOf(event).replaceAll('_', ' ') || event.type

function apiOf(event: AuditEvent): JsonObject {
  const { type, source, attributes } = event
  const id = textAt(attributes, 'request_id')
  const name = textAt(attributes, 'name')
  const resource = {
    ...(source !== null && { uid: source }),
    ...(name !== undefined && { name }),
  }
  return {
    api: { operation: type, ...(id !== undefined && { request: { uid: id } }) },
    ...(Object.keys(resource).length > 0 && {
      resources: [{ ...resource, type: subjectWords(event) }],
    }),
  }
}

/** The event gets the profile `trace`. The span has no times, although OCSF requires them. */
function traceOf({ attributes }: AuditEvent): JsonObject {
  const uid = textAt(attributes, 'trace_id')
  return uid === undefined ? {} : { trace: { uid } }
}

/** Why an entity was changed. */
function commentOf({ attributes }: AuditEvent): JsonObject {
  const comment = textAt(attributes, 'reason')
  return comment === undefined ? {} : { comment }
}

/** One event stands for itself and for the events that its throttle has suppressed. */
function countOf({ attributes }: AuditEvent): JsonObject {
  const suppressed = wholeNumberAt(attributes, 'suppressed_count') ?? 0
  const count = wholeNumberAt(attributes, 'count') ?? (suppressed > 0 ? suppressed + 1 : 0)
  return count > 0 ? { count } : {}
}

/** The addresses that OCSF accepts. RFC 5322 allows more. */
const ADDRESS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.-]+$/

/** `Audit <audit@acme.example>` -> `audit@acme.example`. */
function addressesIn(value: JsonValue | undefined): string[] {
  const texts = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : []
  return texts.flatMap((text) => {
    if (typeof text !== 'string') return []
    const address = (text.endsWith('>') ? text.slice(text.lastIndexOf('<') + 1, -1) : text).trim()
    return ADDRESS.test(address) ? [address] : []
  })
}

function emailOf({ attributes }: AuditEvent): JsonObject | undefined {
  const [from] = addressesIn(attributes['sender'])
  const to = addressesIn(attributes['recipients'])
  if (from === undefined && to.length === 0) return undefined
  const subject = textAt(attributes, 'subject')
  const id = textAt(attributes, 'message_id')
  return {
    ...(from !== undefined && { from }),
    ...(to.length > 0 && { to }),
    ...(subject !== undefined && { subject }),
    ...(id !== undefined && { message_uid: id }),
  }
}
