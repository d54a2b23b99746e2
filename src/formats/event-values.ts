import { describeEvent } from '../describing/describe-event.js'
import { sentenceText } from '../describing/sentence-text.js'
import type { AuditEvent, JsonObject } from '../event/event.js'
import type { EventTypeDefinition, EventTypes } from '../event/event-types.js'
import { type Level, levelOf } from '../event/level.js'
import { type Microseconds, parseTimestamp } from '../event/timestamp.js'

/* Values of an event that all formats read. */

/** The registered type of a system event. `undefined` for custom events, because users choose their types. */
export function definitionOf(
  { system, type }: AuditEvent,
  types: EventTypes = {},
): EventTypeDefinition | undefined {
  return system && Object.hasOwn(types, type) ? types[type] : undefined
}

/** Severity numbers of OpenTelemetry: https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber */
const SEVERITIES: Readonly<Record<Level, number>> = {
  error: 17,
  warn: 13,
  audit: 10,
  info: 9,
  api: 9,
  custom: 9,
}

const MAX_SEVERITY = 24

export const isSeverity = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_SEVERITY

/** The severity number of OpenTelemetry, 1 to 24. */
export function severityOf(event: AuditEvent, types: EventTypes | undefined): number {
  const own = definitionOf(event, types)?.severity
  return isSeverity(own) ? own : SEVERITIES[levelOf(event.type)]
}

export const sentenceOf = (event: AuditEvent, types: EventTypes | undefined): string =>
  sentenceText(describeEvent(event, { types }))

/**
 * The time at which the event became visible, and the time at which it happened. These differ only if the event has a
 * valid `occurred_at`.
 */
export function timesOf({ created_at, attributes }: AuditEvent): {
  readonly createdAt: Microseconds
  readonly occurredAt: Microseconds
} {
  // Stores and imports accept no event without a valid time.
  const createdAt = parseTimestamp(created_at)!
  const { occurred_at } = attributes
  const occurredAt = typeof occurred_at === 'string' ? parseTimestamp(occurred_at) : undefined
  return { createdAt, occurredAt: occurredAt ?? createdAt }
}

/** The attribute, if it is a text that is not empty. */
export function textAt(attributes: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The attribute, if it is a whole number. */
export function wholeNumberAt(attributes: JsonObject, name: string): number | undefined {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}

const HTTP_METHODS: ReadonlySet<string> = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' '),
)

/** True for the request methods that the formats know by name. */
export const isHttpMethod = (method: string): boolean => HTTP_METHODS.has(method)
