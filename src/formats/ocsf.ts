import { AuditLogError } from '../errors.js'
import type { AuditEvent, JsonObject, JsonValue } from '../event/event.js'
import { type EventTypes, type OcsfMapping, splitEventType } from '../event/event-types.js'
import { outcomeOf } from '../event/known-attributes.js'
import { sentenceOf, severityOf, textAt, timesOf, wholeNumberAt } from './event-values.js'
import { actorOf, classAttributes, OCSF_PRODUCT, type OcsfProduct } from './ocsf-classes.js'
import { OTHER_ACTIVITY } from './ocsf-mapping.js'
import { activityOf, BASE, mappingOf, type OcsfStatus, statusOf } from './ocsf-rules.js'
import { readTextTemplate, setAt, type TextTemplate } from './ocsf-template.js'
import { checkOptions, type OptionNames, requireOptions } from '../options.js'

export interface OcsfOptions {
  /** The service that recorded the events. */
  readonly product: OcsfProduct
  /** The registry of event types, `audit.types`. */
  readonly types?: EventTypes | undefined
  /** The version of the schema. @default '1.8.0' */
  readonly version?: '1.8.0' | undefined
  /** The key of the log, for events of several logs: `metadata.log_name`. @default 'audit' */
  readonly log?: string | undefined
}

const OCSF_OPTIONS: OptionNames<OcsfOptions> = {
  product: true,
  types: true,
  version: true,
  log: true,
}

/** An event of the Open Cybersecurity Schema Framework: https://schema.ocsf.io. Further attributes depend on its class. */
export interface OcsfEvent {
  readonly category_uid: number
  readonly class_uid: number
  readonly activity_id: number
  readonly type_uid: number
  /** Time at which the event happened, in milliseconds since 1970. */
  readonly time: number
  readonly severity_id: number
  readonly status_id: number
  /** The sentence that describes the event. */
  readonly message: string
  readonly metadata: JsonObject
  /** The attributes of the event. */
  readonly unmapped?: JsonObject
  readonly [attribute: string]: JsonValue | undefined
}

/**
 * Converts the event to OCSF 1.8.0. The class is `ocsf` in the registry, else it follows from the level and the end
 * of the type. Throws `INVALID_OPTION` without the name of a product.
 */
export function toOcsf(event: AuditEvent, options: OcsfOptions): OcsfEvent {
  requireOptions(options, OCSF_OPTIONS, 'toOcsf')
  const { product, types, version = '1.8.0', log = 'audit' } = options
  checkOptions(product, OCSF_PRODUCT, 'product of OCSF')
  if (!product?.name) throw new AuditLogError('INVALID_OPTION', 'product of OCSF needs a name')
  let mapping = mappingOf(event, types)
  let attributes = classAttributes(mapping.class, event, product)
  if (!attributes) {
    mapping = BASE
    attributes = {}
  }
  const hasOwnActor = Object.hasOwn(attributes, 'actor')
  // Any class may have the profile `host`, which has an actor.
  if (!hasOwnActor && event.username) attributes['actor'] = actorOf(event, product)
  const profiles = [
    ...(Object.hasOwn(attributes, 'trace') ? ['trace'] : []),
    ...(!hasOwnActor && event.username ? ['host'] : []),
  ]
  const metadata = metadataOf(event, { version, product, profiles, log })
  // Spreading objects into one with as many members takes twice the time.
  const result = Object.assign(
    classification(event, mapping),
    occurrence(event, types),
    { metadata, ...unmapped(event, attributes) },
    attributes,
  )
  for (const { path, text } of templatesOf(mapping)) {
    const value = typeof text === 'function' ? text(event.attributes) : text
    if (value !== undefined) setAt(result, path, value)
  }
  return result
}

function classification(
  { type }: AuditEvent,
  mapping: OcsfMapping,
): Pick<OcsfEvent, 'category_uid' | 'class_uid' | 'activity_id' | 'type_uid'> {
  const { class: class_uid } = mapping
  const activity_id = mapping.activity ?? activityOf(class_uid, type) ?? OTHER_ACTIVITY
  const { action, subject } = splitEventType(type)
  return {
    category_uid: Math.floor(class_uid / 1000),
    class_uid,
    activity_id,
    ...(activity_id === OTHER_ACTIVITY && { activity_name: action || subject || type }),
    type_uid: class_uid * 100 + activity_id,
  }
}

/** `severity_id` by the lowest severity number. */
const SEVERITIES: readonly (readonly [from: number, id: number])[] = [
  [21, 6],
  [17, 4],
  [13, 3],
  [1, 1],
]

const STATUSES: Readonly<Record<OcsfStatus, { status_id: number; status?: string }>> = {
  success: { status_id: 1 },
  failure: { status_id: 2 },
  warning: { status_id: 99, status: 'Warning' },
}

const toMilliseconds = (microseconds: number): number => Math.floor(microseconds / 1000)

function occurrence(
  event: AuditEvent,
  types: EventTypes | undefined,
): Pick<OcsfEvent, 'time' | 'severity_id' | 'status_id' | 'message'> {
  const { system, attributes } = event
  const severity = severityOf(event, types)
  const detail =
    textAt(attributes, 'error') ?? (outcomeOf(event) === 'denied' ? 'denied' : undefined)
  const status = system ? wholeNumberAt(attributes, 'response_status') : undefined
  const { duration_ms } = attributes
  const duration = system && typeof duration_ms === 'number' ? Math.round(duration_ms) : -1
  return {
    time: toMilliseconds(timesOf(event).occurredAt),
    severity_id: SEVERITIES.find(([from]) => severity >= from)![1],
    ...STATUSES[statusOf(event)],
    ...(detail !== undefined && { status_detail: detail }),
    ...(status !== undefined && { status_code: String(status) }),
    ...(Number.isSafeInteger(duration) && duration >= 0 && { duration }),
    message: sentenceOf(event, types),
  }
}

interface MetadataSource {
  readonly version: string
  readonly product: OcsfProduct
  readonly profiles: string[]
  readonly log: string
}

function metadataOf(
  event: AuditEvent,
  { version, product, profiles, log }: MetadataSource,
): JsonObject {
  const { id, type, system, created_at, attributes } = event
  const { name, vendor_name, version: productVersion, uid } = product
  const correlation = textAt(attributes, 'request_id')
  return {
    version,
    product: {
      name,
      ...(vendor_name !== undefined && { vendor_name }),
      ...(productVersion !== undefined && { version: productVersion }),
      ...(uid !== undefined && { uid }),
    },
    uid: id,
    event_code: type,
    log_name: log,
    original_time: textAt(attributes, 'occurred_at') ?? created_at,
    logged_time: toMilliseconds(timesOf(event).createdAt),
    ...(correlation !== undefined && { correlation_uid: correlation }),
    ...(profiles.length > 0 && { profiles }),
    ...(!system && { labels: ['custom'] }),
  }
}

/** Only classes with a resource have a member for the source. */
function unmapped({ source, attributes }: AuditEvent, mapped: JsonObject): JsonObject {
  const isMapped = PLACES_OF_SOURCE.some((name) => Object.hasOwn(mapped, name))
  const rest = source === null || isMapped ? attributes : { source, ...attributes }
  return Object.keys(rest).length > 0 ? { unmapped: rest } : {}
}

const PLACES_OF_SOURCE = ['resources', 'entity', 'app', 'databucket'] as const

interface SetValue {
  readonly path: string
  readonly text: number | TextTemplate
}

const templates = new WeakMap<OcsfMapping, readonly SetValue[]>()

function templatesOf(mapping: OcsfMapping): readonly SetValue[] {
  let values = templates.get(mapping)
  if (!values) {
    values = Object.entries(mapping.set ?? {}).map(([path, value]) => ({
      path,
      text: typeof value === 'number' ? value : readTextTemplate(value),
    }))
    templates.set(mapping, values)
  }
  return values
}
