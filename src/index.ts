export {
  AuditLog,
  type AuditLogEvents,
  type AuditLogOptions,
  type AuditLogStats,
  type QueryInput,
  type RecordOptions,
} from './audit-log.js'
export {
  AuditLogError,
  type AuditLogErrorCode,
  type AuditLogErrorDetails,
  errorCodes,
} from './errors.js'
export type { AuditEvent, EventDraft, ImportedEvent, JsonObject, JsonValue } from './event.js'
export type { RandomBytes } from './event-id.js'
export {
  defineEventTypes,
  type EventData,
  type EventTypeDefinition,
  type EventTypes,
  splitEventType,
  type ThrottleRule,
} from './event-types.js'
export type { Condition, EventQuery, Grouping, Sort } from './filter/ast.js'
export type { AttributeType } from './filter/attributes.js'
export type { AttributeTypes } from './filter/declared.js'
export { formatQuery } from './filter/format.js'
export { parseQuery, type ParseOptions, type QueryObject } from './filter/parse.js'
export type { PredicateName } from './filter/predicates.js'
export type { EventTail, TailOptions } from './following.js'
export type { JsonLimits } from './json.js'
export type { Link, LinkAttribute, ResolveSource } from './links.js'
export type { ListSource, ListTable } from './lists.js'
export type { RecorderOptions } from './recorder.js'
export type { AppendOptions, EventPage, EventStore, ImportResult, WaitOptions } from './store.js'
export { type Clock, formatTimestamp, type Microseconds, parseTimestamp } from './timestamp.js'
