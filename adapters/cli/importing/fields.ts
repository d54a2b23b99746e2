import type { Preset, PresetEvent } from 'daybook/presets'
import type { JsonObject } from '../../../src/event/event.js'
import { NumberText } from '../../../src/event/exact-numbers.js'
import { readForeignTime } from '../../../src/event/foreign-time.js'
import { formatTimestamp } from '../../../src/event/timestamp.js'
import { isObject } from '../files/json-lines.js'

/** Options for converting a line to an event. */
export interface FieldOptions {
  /** Reads the records of a known log, in place of the fields below. A record of another kind is refused. */
  readonly preset?: Preset | undefined
  /** Path of the field that holds the event type, such as `eventName` or `winlog.event_id`. */
  readonly type?: string | undefined
  /** Prefix of types that come from a field. @default '' */
  readonly typePrefix?: string | undefined
  /** The type of lines without the type field. @default 'import:record' */
  readonly typeLiteral?: string | undefined
  /** Path of the field with the name of the user. */
  readonly user?: string | undefined
  /** Path of the field with the time, which becomes the attribute `occurred_at` in UTC, with microseconds. */
  readonly time?: string | undefined
}

/** The value at a path: for `a.b`, `1` in `{ a: { b: 1 } }` and in `{ 'a.b': 1 }`. */
function fieldAt(value: unknown, path: string | undefined): unknown {
  if (path === undefined || !isObject(value)) return undefined
  if (Object.hasOwn(value, path)) return value[path]
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot)
    const found = Object.hasOwn(value, head) ? fieldAt(value[head], path.slice(dot + 1)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** A string, or a number as a string; other values count as missing. */
function textAt(payload: JsonObject, path: string | undefined): string | undefined {
  const value = fieldAt(payload, path)
  if (typeof value === 'number') return String(value)
  if (value instanceof NumberText) return value.text
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The event for a line; `undefined` if the line is not a record of the preset. */
export function toEvent(
  payload: JsonObject,
  { preset, type, typePrefix = '', typeLiteral = 'import:record', user, time }: FieldOptions,
): PresetEvent | undefined {
  if (preset) return preset.eventOf(payload)
  const text = textAt(payload, type)
  return {
    type: text === undefined ? typeLiteral : typePrefix + text,
    data: withTime(payload, time),
    username: textAt(payload, user) ?? null,
  }
}

/** Adds `occurred_at` if the line has a valid time, and no such key yet. */
function withTime(payload: JsonObject, path: string | undefined): JsonObject {
  const microseconds = readForeignTime(fieldAt(payload, path))
  const isTaken = path !== 'occurred_at' && Object.hasOwn(payload, 'occurred_at')
  if (microseconds === undefined || isTaken) return payload
  return { ...payload, occurred_at: formatTimestamp(microseconds) }
}
