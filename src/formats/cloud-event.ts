import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { EventTypes } from '../event/event-types.js'
import { type Outcome, outcomeOf } from '../event/known-attributes.js'
import { formatTimestamp } from '../event/timestamp.js'
import { sentenceOf, severityOf, textAt, timesOf } from './event-values.js'
import { type OptionNames, requireOptions } from '../options.js'

export interface CloudEventOptions {
  /** Identifies the log: a URI reference, such as `https://orders.example/audit`. Ids are unique within it. */
  readonly source: string
  /** The registry of event types, `audit.types`. */
  readonly types?: EventTypes | undefined
  /** The key of the log, for events of several logs: the extension `log`. @default none */
  readonly log?: string | undefined
}

const CLOUD_EVENT_OPTIONS: OptionNames<CloudEventOptions> = { source: true, types: true, log: true }

/**
 * An event in the JSON format of CloudEvents 1.0.2, with the documented extensions for severity, recorded time and the
 * principal: https://github.com/cloudevents/spec
 */
export interface CloudEvent {
  readonly specversion: '1.0'
  readonly id: string
  readonly source: string
  readonly type: string
  /** The path of the resource that the event relates to. */
  readonly subject?: string
  /** When it happened. */
  readonly time: string
  /** When it became visible in the log. */
  readonly recordedtime: string
  /** `INFO`, `INFO2`, `WARN` …: the short name of the number. */
  readonly severitytext: string
  /** The severity number of OpenTelemetry. */
  readonly severitynumber: number
  readonly authtype: string
  /** The id of the user, else the name. */
  readonly authid?: string
  /** How the act ended, if the event states it. */
  readonly outcome?: Outcome
  /** The key of the log that has the event, among several logs. */
  readonly log?: string
  readonly datacontenttype: 'application/json'
  /** The event as it is in the log, and its sentence. */
  readonly data: AuditEvent & { readonly sentence: string }
  readonly [extension: string]: unknown
}

// RFC 3986: no other character is part of a URI reference.
const URI_REFERENCE = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/

export const isUriReference = (text: unknown): text is string =>
  typeof text === 'string' && URI_REFERENCE.test(text)

/** The event as a CloudEvent. Throws `INVALID_OPTION` if `source` is not a URI reference. */
export function toCloudEvent(event: AuditEvent, options: CloudEventOptions): CloudEvent {
  requireOptions(options, CLOUD_EVENT_OPTIONS, 'toCloudEvent')
  const { source, types, log } = options
  if (!isUriReference(source))
    throw new AuditLogError('INVALID_OPTION', 'source of a CloudEvent must be a URI reference')
  const { createdAt, occurredAt } = timesOf(event)
  const severity = severityOf(event, types)
  const outcome = outcomeOf(event)
  const principal = principalIdOf(event)
  return {
    specversion: '1.0',
    id: event.id,
    source,
    type: attributeText(event.type),
    ...(event.source !== null && { subject: attributeText(event.source) }),
    time: formatTimestamp(occurredAt),
    recordedtime: formatTimestamp(createdAt),
    severitytext: severityText(severity),
    severitynumber: severity,
    authtype: principalOf(event),
    ...(principal && { authid: attributeText(principal) }),
    ...(outcome !== undefined && { outcome }),
    ...(log !== undefined && { log: attributeText(log) }),
    datacontenttype: 'application/json',
    data: { ...event, sentence: sentenceOf(event, types) },
  }
}

const SEVERITY_NAMES = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'] as const

/** The name that OpenTelemetry gives to the number: `INFO2` for 10. */
function severityText(severity: number): string {
  const step = (severity - 1) % 4
  return `${SEVERITY_NAMES[Math.floor((severity - 1) / 4)]!}${step === 0 ? '' : step + 1}`
}

/** Values of the extension `authtype`. */
function principalOf({ username, system, attributes }: AuditEvent): string {
  if (username) {
    const kind = system ? textAt(attributes, 'actor_kind') : undefined
    return kind === 'service' || kind === 'agent' ? 'service_account' : 'app_user'
  }
  return system ? 'system' : 'unknown'
}

/** The id stays when the name of the user changes. Clients give the attributes of custom events. */
const principalIdOf = ({ username, system, attributes }: AuditEvent): string | null =>
  (system && username ? textAt(attributes, 'actor_id') : undefined) ?? username

/** Texts of context attributes must not have control characters and noncharacters (CloudEvents, type system). */
const attributeText = (text: string): string =>
  text.replaceAll(/\p{Cc}|\p{Noncharacter_Code_Point}/gu, '\uFFFD')
