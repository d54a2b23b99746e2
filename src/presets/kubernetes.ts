import type { CustomTypeDefinition } from '../event/custom-types.js'
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

const OBJECT = '**{object}**'
const PART = `${OBJECT}[ ({objectRef_subresource})]`

/** The verbs of requests, and their sentences: English, German. */
const VERBS: readonly (readonly [verb: string, en: string, de: string])[] = [
  ['get', `read ${PART}`, `las ${PART}`],
  ['list', `listed ${PART}`, `rief die Liste ${PART} ab`],
  ['watch', `watched ${PART}`, `beobachtete ${PART}`],
  ['create', `created ${PART}`, `legte ${PART} an`],
  ['update', `replaced ${PART}`, `ersetzte ${PART}`],
  ['patch', `changed ${PART}`, `änderte ${PART}`],
  ['delete', `deleted ${PART}`, `löschte ${PART}`],
  ['deletecollection', `deleted all of ${PART}`, `löschte alles in ${PART}`],
]

/** Requests that do more than their verbs suggest, with their sentences. */
const SUBRESOURCES: readonly (readonly [subresource: string, en: string, de: string])[] = [
  ['pods/exec', `ran a command in ${OBJECT}`, `führte einen Befehl in ${OBJECT} aus`],
  ['pods/attach', `attached to ${OBJECT}`, `verband sich mit ${OBJECT}`],
  ['pods/portforward', `forwarded a port to ${OBJECT}`, `leitete einen Port an ${OBJECT} weiter`],
  ['pods/log', `read the log of ${OBJECT}`, `las das Protokoll von ${OBJECT}`],
  ['pods/eviction', `evicted ${OBJECT}`, `verdrängte ${OBJECT}`],
  ['pods/binding', `bound ${OBJECT} to a node`, `wies ${OBJECT} einem Knoten zu`],
  ['serviceaccounts/token', `issued a token for ${OBJECT}`, `stellte ein Token für ${OBJECT} aus`],
]

/** Templates of a request that has arrived, has failed, and has succeeded; then the same without a user. */
function definition(en: string, de: string): CustomTypeDefinition {
  const user = '**{impersonatedUser_username}**'
  const [asked, failed] = [
    `asked to {verb} ${PART}[ as ${user}]`,
    `could not {verb} ${PART}[ as ${user}]: {error}`,
  ]
  const [began, failedDe] = [
    `begann {verb} von ${PART}[ als ${user}]`,
    `scheiterte mit {verb} von ${PART}[ als ${user}]: {error}`,
  ]
  return {
    label: 'Kubernetes',
    sentence: `[{stage=RequestReceived}${asked}|${failed}|${en}[ as ${user}]]| {verb} of ${PART}[: {error}]`,
    sentences: {
      de: `[{stage=RequestReceived}${began}|${failedDe}|${de}[, als ${user}]]| {verb} von ${PART}[: {error}]`,
    },
  }
}

const verbSentences = (at: 1 | 2, other: string): string =>
  `[${[...VERBS.map((row) => `{verb=${row[0]}}${row[at]}`), other].join('|')}]`

const OTHER = definition(
  verbSentences(1, `called **{verb}** of ${PART}`),
  verbSentences(2, `rief **{verb}** von ${PART} auf`),
)

/** `pods/exec` for a subresource, `url` for a request of no resource. */
function resourceOf({ resource, subresource }: JsonObject): string {
  const name = textIn(resource)
  const part = textIn(subresource)
  if (name === undefined) return 'url'
  return part === undefined ? name : `${name}/${part}`
}

/** `pods shop/web`, `pods in shop`, `nodes node-1`, or the address without its query. */
function objectOf(reference: JsonObject, address: string | undefined): string {
  const [resource, namespace, name] = ['resource', 'namespace', 'name'].map((key) =>
    textIn(reference[key]),
  )
  if (resource === undefined) return address?.split('?', 1)[0] || 'url'
  // In references of namespaces, both members have the name.
  if (resource === 'namespaces' || namespace === undefined)
    return name === undefined ? resource : `${resource} ${name}`
  return name === undefined ? `${resource} in ${namespace}` : `${resource} ${namespace}/${name}`
}

/** The message of a failed response, else its reason, else its status. */
function errorOf(status: JsonObject): string | undefined {
  const { code, message, reason } = status
  if (typeof code !== 'number' || code < 400) return undefined
  return textIn(message) ?? textIn(reason) ?? `HTTP ${code}`
}

function eventOf(record: JsonObject): PresetEvent | undefined {
  const { kind, apiVersion: version, verb, auditID, stage, sourceIPs } = record
  if (kind !== 'Event' || typeof version !== 'string') return undefined
  if (!version.startsWith('audit.k8s.io/')) return undefined
  if (typeof verb !== 'string' || verb === '') return undefined
  const reference = objectIn(record['objectRef'])
  const { username } = objectIn(record['user'])
  return {
    type: `kubernetes:${resourceOf(reference)}:${verb}`,
    username: textIn(username) ?? null,
    data: withFacts(record, {
      occurred_at: timeIn(record['stageTimestamp']) ?? timeIn(record['requestReceivedTimestamp']),
      error: errorOf(objectIn(record['responseStatus'])),
      request_id: textIn(auditID),
      remote_address: Array.isArray(sourceIPs) ? addressIn(sourceIPs[0]) : undefined,
      object: objectOf(reference, textIn(record['requestURI'])),
    }),
    // A client may choose the id, and use it again.
    key: keyOf(textIn(auditID), textIn(stage), textIn(record['stageTimestamp']) ?? ''),
  }
}

/**
 * Events of the audit log of Kubernetes, `audit.k8s.io/v1`, as the log backend of the API server writes them. The
 * type is `kubernetes:<resource>:<verb>`, such as `kubernetes:secrets:get` or `kubernetes:pods/exec:create`; requests
 * without a resource have `kubernetes:url:<verb>`. The user is the sender of the request, also if the request
 * impersonates another user. Each stage of a request is an event, and the events of a request have the same
 * `request_id`.
 */
export const kubernetes: Preset = {
  name: 'kubernetes',
  customTypes: {
    'kubernetes:*': OTHER,
    ...Object.fromEntries(
      SUBRESOURCES.map(([name, en, de]) => [`kubernetes:${name}:*`, definition(en, de)]),
    ),
  },
  eventOf,
}
