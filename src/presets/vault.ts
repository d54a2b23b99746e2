import type { JsonObject } from '../event/event.js'
import {
  addressIn,
  keyOf,
  objectIn,
  type Preset,
  type PresetEvent,
  textIn,
  timeIn,
  withFacts,
} from './preset.js'

const PATH = '**{request_path}**'

/** The operations of requests, and their sentences: English, German. */
const OPERATIONS: readonly (readonly [operation: string, en: string, de: string])[] = [
  ['login', `logged in at ${PATH}`, `meldete sich an ${PATH} an`],
  ['read', `read ${PATH}`, `las ${PATH}`],
  ['list', `listed ${PATH}`, `rief die Liste ${PATH} ab`],
  ['create', `created ${PATH}`, `legte ${PATH} an`],
  ['update', `wrote ${PATH}`, `schrieb ${PATH}`],
  ['patch', `changed ${PATH}`, `änderte ${PATH}`],
  ['delete', `deleted ${PATH}`, `löschte ${PATH}`],
]

const sentences = (at: 1 | 2, other: string): string =>
  [...OPERATIONS.map((row) => `{operation=${row[0]}}${row[at]}`), other].join('|')

const LOGIN = /^auth\/.+\/login(?:\/|$)/

/** `secret` for `secret/data/app`, `auth/userpass` for `auth/userpass/users/ann`. */
const mountOf = (path: string): string =>
  path.split('/', path.startsWith('auth/') ? 2 : 1).join('/')

/**
 * The error of the record, or of a backend's answer whose data has no other member. A secret whose only member is
 * named `error` cannot be distinguished.
 */
function errorOf(record: JsonObject): string | undefined {
  const data = objectIn(objectIn(record['response'])['data'])
  return (
    textIn(record['error']) ?? (Object.keys(data).length === 1 ? textIn(data['error']) : undefined)
  )
}

function eventOf(record: JsonObject): PresetEvent | undefined {
  const { type, time, auth } = record
  const request = objectIn(record['request'])
  const { id, operation, path, remote_address: address } = request
  if (type !== 'request' && type !== 'response') return undefined
  if (typeof operation !== 'string' || operation === '') return undefined
  if (typeof path !== 'string' || path === '') return undefined
  const action = operation === 'update' && LOGIN.test(path) ? 'login' : operation
  return {
    type: `vault:${mountOf(path)}:${action}`,
    // The record of a login that succeeded has the name of the new token here.
    username: textIn(objectIn(auth)['display_name']) ?? null,
    data: withFacts(record, {
      occurred_at: timeIn(time),
      operation: action,
      error: errorOf(record),
      request_id: textIn(id),
      remote_address: addressIn(address),
    }),
    key: keyOf(textIn(id), type),
  }
}

/**
 * Records of an audit device of HashiCorp Vault, in JSON. The type is `vault:<mount>:<operation>`, such as
 * `vault:secret:read` or `vault:auth/userpass:login`. The user is the `display_name` of the token. The request and the
 * response are an event each, with the same `request_id`.
 */
export const vault: Preset = {
  name: 'vault',
  customTypes: {
    'vault:*': {
      label: 'Vault',
      sentence:
        `[{attributes_type=request}asked for {operation} of ${PATH}|failed with {operation} of ${PATH}: {error}|` +
        `${sentences(1, `called {operation} of ${PATH}`)}]` +
        `| {operation} of ${PATH}[{attributes_type=request} requested|: {error}]`,
      sentences: {
        de:
          `[{attributes_type=request}verlangte {operation} von ${PATH}|scheiterte mit {operation} von ${PATH}: {error}|` +
          `${sentences(2, `rief {operation} von ${PATH} auf`)}]` +
          `| {operation} von ${PATH}[{attributes_type=request} verlangt|: {error}]`,
      },
    },
  },
  eventOf,
}
