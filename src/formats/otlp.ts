import type { AuditEvent, JsonObject, JsonValue } from '../event/event.js'
import type { EventTypes } from '../event/event-types.js'
import { outcomeOf } from '../event/known-attributes.js'
import { levelOf } from '../event/level.js'
import type { Microseconds } from '../event/timestamp.js'
import {
  isHttpMethod,
  sentenceOf,
  severityOf,
  textAt,
  timesOf,
  wholeNumberAt,
} from './event-values.js'
import { type OptionNames, requireOptions } from '../options.js'
import { AuditLogError } from '../errors.js'

export interface OtlpOptions {
  /** The name of the service that recorded the events: the resource attribute `service.name`. */
  readonly service: string
  /** The registry of event types, `audit.types`. */
  readonly types?: EventTypes | undefined
  /** The key of the log, for events of several logs: the attribute `daybook.log`. @default none */
  readonly log?: string | undefined
}

const OTLP_OPTIONS: OptionNames<OtlpOptions> = { service: true, types: true, log: true }

/* The messages of OTLP 1.x in their JSON encoding: https://github.com/open-telemetry/opentelemetry-proto */

/** Body of `POST /v1/logs` of an OpenTelemetry collector. */
export interface ExportLogsServiceRequest {
  readonly resourceLogs: readonly {
    readonly resource: { readonly attributes: readonly OtlpKeyValue[] }
    readonly scopeLogs: readonly {
      readonly scope: { readonly name: string }
      readonly logRecords: readonly OtlpLogRecord[]
    }[]
  }[]
}

export interface OtlpLogRecord {
  /** Time at which the event happened, in nanoseconds since 1970, as a text. */
  readonly timeUnixNano?: string
  /** Time at which the event became visible in the log. */
  readonly observedTimeUnixNano?: string
  readonly severityNumber: number
  /** The level of the event: `API`, `AUDIT`, … */
  readonly severityText: string
  /** The type of the event. */
  readonly eventName: string
  /** The sentence that describes the event. */
  readonly body: OtlpValue
  readonly attributes: readonly OtlpKeyValue[]
  readonly traceId?: string
  readonly spanId?: string
}

export interface OtlpKeyValue {
  readonly key: string
  readonly value: OtlpValue
}

/** A value without a member is null. */
export interface OtlpValue {
  readonly stringValue?: string
  readonly boolValue?: boolean
  /** A 64-bit integer, as a text. */
  readonly intValue?: string
  readonly doubleValue?: number
  readonly arrayValue?: { readonly values: readonly OtlpValue[] }
  readonly kvlistValue?: { readonly values: readonly OtlpKeyValue[] }
}

/**
 * Converts the events to log records of OpenTelemetry, in the given order. Attributes for which OpenTelemetry has
 * names get these names.
 */
export function toOtlp(
  events: readonly AuditEvent[],
  options: OtlpOptions,
): ExportLogsServiceRequest {
  requireOptions(options, OTLP_OPTIONS, 'toOtlp')
  const { service, types, log } = options
  if (typeof service !== 'string')
    throw new AuditLogError('INVALID_OPTION', 'service of OTLP must be a text')
  const resource = { attributes: [keyValue('service.name', service)] }
  const logRecords = events.map((event) => logRecord(event, types, log))
  return {
    resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'daybook' }, logRecords }] }],
  }
}

function logRecord(
  event: AuditEvent,
  types: EventTypes | undefined,
  log: string | undefined,
): OtlpLogRecord {
  const { createdAt, occurredAt } = timesOf(event)
  const [timeUnixNano, observedTimeUnixNano] = [nanoseconds(occurredAt), nanoseconds(createdAt)]
  return {
    ...(timeUnixNano !== undefined && { timeUnixNano }),
    ...(observedTimeUnixNano !== undefined && { observedTimeUnixNano }),
    severityNumber: severityOf(event, types),
    severityText: levelOf(event.type).toUpperCase(),
    eventName: event.type,
    body: { stringValue: sentenceOf(event, types) },
    attributes: [
      ...attributesOf(event),
      ...(log === undefined ? [] : [keyValue('daybook.log', log)]),
    ],
    ...traceOf(event.attributes),
  }
}

const MAX_NANOSECONDS = 2n ** 64n - 1n

/** `undefined` before 1970 and after 2554, which OTLP cannot express. */
function nanoseconds(time: Microseconds): string | undefined {
  const value = BigInt(time) * 1000n
  return value >= 0n && value <= MAX_NANOSECONDS ? String(value) : undefined
}

/** Names of the semantic conventions: https://opentelemetry.io/docs/specs/semconv/registry/attributes/ */
const TEXTS: readonly (readonly [attribute: string, name: string])[] = [
  ['actor_id', 'user.id'],
  ['remote_address', 'client.address'],
  ['user_agent', 'user_agent.original'],
  ['request_path', 'url.path'],
  ['session_id', 'session.id'],
  ['error', 'exception.message'],
]

function attributesOf(event: AuditEvent): OtlpKeyValue[] {
  const { id, username, system, source, attributes } = event
  const outcome = outcomeOf(event)
  return [
    keyValue('log.record.uid', id),
    ...(username === null ? [] : [keyValue('user.name', username)]),
    // Clients give the attributes of custom events.
    ...(system ? conventional(attributes) : []),
    keyValue('daybook.system', system),
    ...(outcome === undefined ? [] : [keyValue('daybook.outcome', outcome)]),
    ...(source === null ? [] : [keyValue('daybook.source', source)]),
    keyValue('daybook.attributes', attributes),
  ]
}

function conventional(attributes: JsonObject): OtlpKeyValue[] {
  const texts = TEXTS.flatMap(([attribute, name]) => {
    const text = textAt(attributes, attribute)
    return text === undefined ? [] : [keyValue(name, text)]
  })
  const status = wholeNumberAt(attributes, 'response_status')
  const stack = stackOf(attributes)
  return [
    ...texts,
    ...methodOf(textAt(attributes, 'request_method')),
    ...(status === undefined ? [] : [keyValue('http.response.status_code', status)]),
    ...(stack === undefined ? [] : [keyValue('exception.stacktrace', stack)]),
  ]
}

function stackOf(attributes: JsonObject): string | undefined {
  const { backtrace } = attributes
  if (!Array.isArray(backtrace)) return textAt(attributes, 'backtrace')
  return backtrace.filter((line) => typeof line === 'string').join('\n') || undefined
}

function methodOf(method: string | undefined): OtlpKeyValue[] {
  if (method === undefined) return []
  if (isHttpMethod(method)) return [keyValue('http.request.method', method)]
  return [
    keyValue('http.request.method', '_OTHER'),
    keyValue('http.request.method_original', method),
  ]
}

/** Checks an id of W3C Trace Context. An id of zeros is not valid. */
const isId = (id: string | undefined, digits: number): id is string =>
  id !== undefined && id.length === digits && /^[0-9a-f]+$/i.test(id) && /[^0]/.test(id)

function traceOf(attributes: JsonObject): { traceId?: string; spanId?: string } {
  const traceId = textAt(attributes, 'trace_id')
  const spanId = textAt(attributes, 'span_id')
  if (!isId(traceId, 32)) return {}
  return isId(spanId, 16) ? { traceId, spanId } : { traceId }
}

const keyValue = (key: string, value: JsonValue): OtlpKeyValue => ({
  key,
  value: valueOf(value, 0),
})

/**
 * Maximum depth. Each level of JSON takes three messages, and readers of protobuf refuse more than 100 nested
 * messages.
 */
const MAX_DEPTH = 30

/** Values that are nested deeper than {@link MAX_DEPTH} become JSON text. */
function valueOf(value: JsonValue, depth: number): OtlpValue {
  if (value === null) return {}
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (depth === MAX_DEPTH) return { stringValue: JSON.stringify(value) }
  if (Array.isArray(value))
    return { arrayValue: { values: value.map((element) => valueOf(element, depth + 1)) } }
  const values = Object.entries(value).map(([key, member]) => ({
    key,
    value: valueOf(member, depth + 1),
  }))
  return { kvlistValue: { values } }
}
