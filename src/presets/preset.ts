import { normalAddress } from '../event/address.js'
import type { CustomTypes } from '../event/custom-types.js'
import type { JsonObject, JsonValue } from '../event/event.js'
import { NumberText, parseJson } from '../event/exact-numbers.js'
import { readForeignTime } from '../event/foreign-time.js'
import { isOwnField } from '../event/own-fields.js'
import { formatTimestamp } from '../event/timestamp.js'

/** A record of another log as a custom event, for `recordCustom`. */
export interface PresetEvent {
  readonly type: string
  /** The user, `null` if the record has none. */
  readonly username: string | null
  /**
   * The whole record, with these facts added if the record has them: `occurred_at`, `error`, `request_id`,
   * `remote_address`, and the values that the sentences need. A fact does not replace a member of the record with the
   * same name. A member with the name of a field of events, such as `id`, gets the name that the log would give it:
   * `attributes_id`.
   */
  readonly data: JsonObject
  /** Identifies the record in its log. Missing if the record has no id. */
  readonly key?: string | undefined
}

/** Reads the records of another log, and describes the events made of them. */
export interface Preset {
  /** Name in commands and labels, such as `cloudtrail`. */
  readonly name: string
  /** True if no test reads records of the real software: the preset follows its documentation. */
  readonly isUntried?: true
  /** Value for the option `customTypes` of `AuditLog`. */
  readonly customTypes: CustomTypes
  /** The event for a record, `undefined` if the record is not of this log. */
  readonly eventOf: (record: JsonObject) => PresetEvent | undefined
}

export const objectIn = (value: JsonValue | undefined): JsonObject =>
  value !== null &&
  typeof value === 'object' &&
  !Array.isArray(value) &&
  !((value as unknown) instanceof NumberText)
    ? value
    : {}

/** The text, unless it is empty or a dash, which some logs write for a missing value. */
export const textIn = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' && value !== '-' ? value : undefined

/** The normal form of an address. */
export const addressIn = (value: JsonValue | undefined): string | undefined =>
  normalAddress(value) || undefined

/** A number as text; other values as {@link textIn}. */
export function idIn(value: unknown): string | undefined {
  if (value instanceof NumberText) return value.text
  return typeof value === 'number' ? String(value) : textIn(value as JsonValue | undefined)
}

/** Returns an object unchanged, and the object of a JSON text. Returns an empty object for anything else. */
export function parsedIn(value: JsonValue | undefined): JsonObject {
  if (typeof value !== 'string' || !value.startsWith('{')) return objectIn(value)
  try {
    return objectIn(parseJson(value) as JsonValue)
  } catch {
    return {}
  }
}

/** The time of a record in the format of events, see {@link readForeignTime}. A time without an offset is UTC. */
export function timeIn(value: JsonValue | undefined): string | undefined {
  const time = readForeignTime(value)
  return time === undefined ? undefined : formatTimestamp(time)
}

/** A key made of the parts; `undefined` if a part is missing. */
export const keyOf = (...parts: readonly (string | undefined)[]): string | undefined =>
  parts.includes(undefined) ? undefined : parts.join(' ')

function freeName(record: JsonObject, name: string): string {
  let free = name
  do free = `attributes_${free}`
  while (Object.hasOwn(record, free))
  return free
}

/** The record with further facts. A fact without a value is left out. */
export function withFacts(
  record: JsonObject,
  facts: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject {
  const found = Object.entries(facts).filter(
    (fact): fact is [string, JsonValue] => fact[1] !== undefined && !Object.hasOwn(record, fact[0]),
  )
  const members = Object.entries(record).map(
    ([name, value]) => [isOwnField(name) ? freeName(record, name) : name, value] as const,
  )
  return Object.fromEntries([...found, ...members])
}
