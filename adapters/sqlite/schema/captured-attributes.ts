import type { RecordedChange } from '../../../src/event/changes.js'
import type { JsonObject, JsonValue } from '../../../src/event/event.js'
import { parseExactly } from '../../../src/event/exact-numbers.js'
import { jsonPointer } from '../../../src/event/json-copy.js'
import { type JsonText, toJsonText } from '../../../src/event/json.js'
import { ACTOR_ATTRIBUTES } from '../../../src/store-kit/capture.js'

/*
 * The attributes of captured rows as triggers write them into the outbox. They are JSON text that is cheap to put together
 * and to search in SQL; the event gets its form when it is moved to the log.
 */

/** The first character; `JSON.stringify` never begins with it. */
export const CAPTURED = ' '

/**
 * What precedes the states. With the space it occurs nowhere else: texts in JSON have no quotes that are not escaped,
 * and the members of a state are separated by commas alone.
 */
export const BEFORE = ', "before":'
export const AFTER = ', "after":'

/** What triggers write of a row. The other members are those of the event. */
interface Captured {
  /** The attributes of `captureAs`. */
  readonly actor?: JsonObject
  /** The columns that an update has changed. */
  readonly changed?: readonly string[]
  /** The bytes of the states, if they are left out. */
  readonly cut?: number
  readonly before?: JsonObject
  readonly after?: JsonObject
  readonly [identity: string]: unknown
}

const INTEGER = /^-?\d+$/
const LONG_INTEGER = /[:,[]-?\d{16}/

const isHeld = (number: string): boolean =>
  !INTEGER.test(number) || Number.isSafeInteger(Number(number))

// An attribute, a state, the value of a column.
const DEPTH = 3

const changesOf = ({ changed = [], before, after }: Captured): RecordedChange[] =>
  changed.map((column) => ({
    op: 'replace',
    path: jsonPointer([column]),
    value: after![column]!,
    old_value: before![column]!,
  }))

/** The attributes of the event of a captured row; `undefined` if no trigger has written the text. */
export function capturedAttributes(text: string): JsonText | undefined {
  if (!text.startsWith(CAPTURED)) return undefined
  const captured = (
    LONG_INTEGER.test(text) ? parseExactly(text, isHeld, DEPTH) : JSON.parse(text)
  ) as Captured
  const { actor = {}, changed, cut, before, after, ...identity } = captured
  const attributes: Record<string, unknown> = {
    ...identity,
    ...(before && { before }),
    ...(after && { after }),
    ...(changed && before && { changes: changesOf(captured) }),
  }
  for (const name of ACTOR_ATTRIBUTES)
    if (Object.hasOwn(actor, name) && !Object.hasOwn(attributes, name))
      attributes[name] = actor[name]
  const copy = toJsonText(attributes)
  return cut === undefined ? copy : withoutStates(copy, cut)
}

/** The suffix of the event's id from 8 random bytes in hexadecimal digits. */
export function capturedSuffix(random: string): string {
  // The variant of UUIDs.
  const variant = '89ab'[Number.parseInt(random.slice(0, 1), 16) & 3]!
  return variant + random.slice(1).toLowerCase()
}

/** Adds a note of the states that are left out. */
function withoutStates({ attributes }: JsonText, cut: number): JsonText {
  const { recording, ...rest } = attributes
  const { replaced = [], cut_bytes = 0 } = (recording ?? {}) as {
    readonly replaced?: readonly JsonValue[]
    readonly cut_bytes?: number
  }
  const all: JsonObject = {
    ...rest,
    recording: { replaced: ['/before', '/after', ...replaced], cut_bytes: cut + cut_bytes },
  }
  return { attributes: all, json: JSON.stringify(all) }
}
