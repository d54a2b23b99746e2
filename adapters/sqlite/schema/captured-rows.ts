import type { RecordedChange } from '../../../src/event/changes.js'
import type { EventDraft, JsonObject } from '../../../src/event/event.js'
import { parseExactly } from '../../../src/event/exact-numbers.js'
import { jsonPointer, storableText } from '../../../src/event/json-copy.js'
import { toJsonText } from '../../../src/event/json.js'
import {
  ACTOR_ATTRIBUTES,
  MAX_ACTOR_CHARACTERS,
  MAX_CAPTURED_BYTES,
} from '../../../src/store-kit/capture.js'

/*
 * The attributes of captured rows as triggers write them into the outbox. They are JSON text that is cheap to put together
 * and to search in SQL; the event gets its form when it is moved to the log.
 */

/** The first character; `JSON.stringify` never begins with it. */
export const CAPTURED = ' '

/**
 * The text before the states. With the space it occurs nowhere else: texts in JSON have no quotes that are not escaped,
 * and the members of a state are separated by commas alone.
 */
export const BEFORE = ', "before":'
export const AFTER = ', "after":'

/** Members that triggers write for a row. The other members are those of the event. */
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

const NOT_IDENTITY: ReadonlySet<string> = new Set(['actor', 'changed', 'cut', 'before', 'after'])

const INTEGER = /^-?\d+$/
const LONG_INTEGER = /[:,[]-?\d{16}/

const isHeld = (number: string): boolean =>
  !INTEGER.test(number) || Number.isSafeInteger(Number(number))

// An attribute, a state, the value of a column.
const DEPTH = 3

// Values of keys and changes are those of the states.
const LISTED = ['before', 'after', ...ACTOR_ATTRIBUTES].map((name) => jsonPointer([name]))
const isListed = (place: string): boolean =>
  LISTED.some((one) => place === one || place.startsWith(`${one}/`))

type States = Partial<Record<'before' | 'after', JsonObject>> & {
  readonly changes?: readonly RecordedChange[]
}

const statesOf = (
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  changed: readonly string[],
): States => ({
  ...(before && { before }),
  ...(after && { after }),
  ...(before &&
    after && {
      changes: changed.map((column) => ({
        op: 'replace',
        path: jsonPointer([column]),
        value: after[column]!,
        old_value: before[column]!,
      })),
    }),
})

/** The bytes of the states as JSON; 0 if they are far from the limit. */
const bytesOf = (text: string, states: States): number =>
  text.length * 8 > MAX_CAPTURED_BYTES ? Buffer.byteLength(JSON.stringify(states)) : 0

/** The attributes that `captureAs` has given and the row has not, and the places of those that are too long. */
function actorOf(
  given: JsonObject,
  ofRow: object,
): { readonly actor: JsonObject; readonly long: readonly string[] } {
  const texts = ACTOR_ATTRIBUTES.filter(
    (name) => typeof given[name] === 'string' && !Object.hasOwn(ofRow, name),
  )
  const isLong = (name: string): boolean => (given[name] as string).length > MAX_ACTOR_CHARACTERS
  const kept = texts.filter((name) => !isLong(name))
  return {
    actor: Object.fromEntries(kept.map((name) => [name, given[name]!])),
    long: texts.filter(isLong).map((name) => jsonPointer([name])),
  }
}

const NO_ACTOR: ReturnType<typeof actorOf> = { actor: {}, long: [] }

type CapturedRow = Pick<EventDraft, 'suffix' | 'username'> & {
  /** The text that a trigger has written. */
  readonly attributes: string
}

/** The members of the event of a captured row; `undefined` if no trigger has written the row of the outbox. */
export function readCaptured(
  row: CapturedRow,
): Pick<EventDraft, 'suffix' | 'username' | 'attributes' | 'json'> | undefined {
  const { attributes: text } = row
  if (!text.startsWith(CAPTURED)) return undefined
  const captured = (
    LONG_INTEGER.test(text) ? parseExactly(text, isHeld, DEPTH) : JSON.parse(text)
  ) as Captured
  const { actor: given, changed = [], cut, before, after } = captured
  const identity: Record<string, unknown> = {}
  // Faster than a rest pattern.
  for (const name of Object.keys(captured))
    if (!NOT_IDENTITY.has(name)) identity[name] = captured[name]
  const states = statesOf(before, after, changed)
  const bytes = cut ?? bytesOf(text, states)
  const isCut = bytes > MAX_CAPTURED_BYTES
  const { actor, long } = given ? actorOf(given, identity) : NO_ACTOR
  const data = Object.assign(identity, isCut ? undefined : states, actor)
  const copy = toJsonText(data, undefined, undefined, 'text')
  const { username, isLong } = usernameOf(row)
  const content = { suffix: suffixOf(row.suffix), username }
  const { recording } = copy.attributes
  if (recording === undefined && !isCut && !isLong && long.length === 0)
    return { ...content, attributes: copy.attributes, json: copy.json }
  const { replaced = [], cut_bytes = 0 } = (recording ?? {}) as Partial<Recording>
  const noted = {
    replaced: [
      ...(isCut ? ['/before', '/after'] : []),
      ...replaced.filter(isListed),
      ...(isLong ? ['/username'] : []),
      ...long,
    ],
    cut_bytes: (isCut ? bytes : 0) + cut_bytes,
  }
  const { recording: _, ...rest } = copy.attributes
  const isNoted = noted.replaced.length > 0 || noted.cut_bytes > 0
  const attributes: JsonObject = isNoted ? { ...rest, recording: noted } : rest
  return { ...content, attributes, json: JSON.stringify(attributes) }
}

function usernameOf({ username }: CapturedRow): {
  readonly username: string | null
  readonly isLong: boolean
} {
  if (username === null) return { username, isLong: false }
  const name = storableText(username)
  const isLong = name.length > MAX_ACTOR_CHARACTERS
  return { username: isLong ? storableText(name.slice(0, MAX_ACTOR_CHARACTERS)) : name, isLong }
}

interface Recording {
  readonly replaced: readonly string[]
  readonly cut_bytes: number
}

/** The suffix of the event's id from 8 random bytes in hexadecimal digits. */
function suffixOf(random: string): string {
  // The variant of UUIDs.
  const variant = '89ab'[Number.parseInt(random.slice(0, 1), 16) & 3]!
  return variant + random.slice(1).toLowerCase()
}
