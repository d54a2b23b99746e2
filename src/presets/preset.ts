import type { CustomTypes } from '../event/custom-types.js'
import type { JsonObject, JsonValue } from '../event/event.js'

/** A record of another log as a custom event, for `recordCustom`. */
export interface PresetEvent {
  readonly type: string
  /** The user, `null` if the record has none. */
  readonly username: string | null
  /**
   * The whole record, and its main facts by the names that Daybook uses, where it has them: `occurred_at`, `error`, `request_id`,
   * `remote_address`, and what its sentences need. A name that the record uses itself keeps the record's value.
   */
  readonly data: JsonObject
}

/** Reads the records of another log, and describes the events made of them. */
export interface Preset {
  /** In commands and labels, such as `cloudtrail`. */
  readonly name: string
  /** For the option `customTypes` of `AuditLog`. */
  readonly customTypes: CustomTypes
  /** The event for a record, `undefined` if the record is not of this log. */
  readonly eventOf: (record: JsonObject) => PresetEvent | undefined
}

export const objectIn = (value: JsonValue | undefined): JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}

/** A text that says something: not empty, and not the dash that some logs write instead. */
export const textIn = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' && value !== '-' ? value : undefined

/** The record with further facts. A fact without a value is left out. */
export function withFacts(
  record: JsonObject,
  facts: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject {
  const found = Object.entries(facts).filter(
    (fact): fact is [string, JsonValue] => fact[1] !== undefined,
  )
  return { ...Object.fromEntries(found), ...record }
}
