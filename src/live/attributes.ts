import { AuditLogError } from '../errors.js'
import type { JsonObject, JsonValue } from '../event/event.js'
import { isOwnField } from '../event/own-fields.js'
import { type JsonLimits, toJsonText } from '../event/json.js'
import { jsonPointer, setKey, storableText } from '../event/json-copy.js'
import { createReplacements, recordingReserve } from './replacements.js'
import { GrowingText, jsonBytes, newestText } from './growing-text.js'
import type { LiveChange } from '../store/store.js'

type Reckoning = (attributes: JsonObject) => object

/** An object's keys take the place of the attributes of these names; a function gives them all. */
export type AttributesChange = object | Reckoning

/** The attributes of a live event as they are by now, and what of them is not written yet. */
export interface LiveAttributes {
  /** `INVALID_DATA` for what is no object, and a function that throws: then nothing changes. */
  update(change: AttributesChange): void
  /** `INVALID_DATA` for an attribute that is no text. */
  append(key: string, text: string): void
  /** Nothing will be added any more. */
  end(): void
  isUnfinished(): boolean
  isChanged(): boolean
  /** About how much `take` would give. */
  pendingBytes(): number
  /** What has changed since the last call. */
  take(): Pick<LiveChange, 'json' | 'texts'>
}

// Of a text that has to be cut so much of the room is used, so that it is rarely written anew.
const KEPT_SHARE = 3 / 4
const FRAME_BYTES = 100

/**
 * Holds the texts that grow apart from the other attributes: what is added to one costs no more
 * than itself. The whole is never larger than the limits say: what is too long for any event is
 * cut as there, and of the texts the longest keep their newest part only.
 */
export function createLiveAttributes(opened: JsonObject, limits: JsonLimits): LiveAttributes {
  const reserve = recordingReserve(limits)
  const replacements = createReplacements(reserve)
  /** Without a `recording` of ours; a text that grows is `''` here. */
  const base: JsonObject = {}
  const sizes = new Map<string, number>()
  let baseBytes = 0
  const texts = new Map<string, GrowingText>()
  /** All that ever grew: of these the store may hold parts. */
  const grown = new Set<string>()
  const changed = new Set<string>()
  let changedBytes = 0
  let isBaseChanged = false

  const put = (key: string, value: JsonValue): void => {
    const bytes = jsonBytes(key) + Buffer.byteLength(JSON.stringify(value)) + '"":,'.length
    const before = sizes.get(key) ?? 0
    setKey(base, key, value)
    sizes.set(key, bytes)
    baseBytes += bytes - before
    changedBytes += bytes - (changed.has(key) ? before : 0)
    changed.add(key)
    isBaseChanged = true
  }

  const remove = (key: string): void => {
    if (!Object.hasOwn(base, key)) return
    const bytes = sizes.get(key)!
    delete base[key]
    sizes.delete(key)
    baseBytes -= bytes
    if (changed.delete(key)) changedBytes -= bytes
    texts.delete(key)
    isBaseChanged = true
  }

  const note = (key: string, cutBytes = 0): void => {
    if (replacements.note(jsonPointer([key]), cutBytes)) isBaseChanged = true
  }

  const written = (): void => {
    changed.clear()
    changedBytes = 0
    isBaseChanged = false
    for (const text of texts.values()) text.written()
  }

  const growing = (key: string): GrowingText => {
    const known = texts.get(key)
    if (known) return known
    const text = new GrowingText(grown.has(key))
    const value = Object.hasOwn(base, key) ? base[key] : undefined
    if (typeof value === 'string') text.set(value)
    if (value !== '') put(key, '')
    texts.set(key, text)
    grown.add(key)
    return text
  }

  const set = (key: string, value: JsonValue): void => {
    if (typeof value === 'string' && grown.has(key)) return growing(key).set(value)
    texts.delete(key)
    return put(key, value)
  }

  const whole = (): JsonObject => {
    const copy = JSON.parse(JSON.stringify(base)) as JsonObject
    for (const [key, { text }] of texts) setKey(copy, key, text)
    return copy
  }

  /** The data as it can be stored, without what tells how it differs: that is noted. */
  const storable = (data: object, maxBytes: number): JsonObject => {
    const attributes = { ...toJsonText(data, { maxDepth: limits.maxDepth, maxBytes }).attributes }
    if (replacements.take(attributes['recording'])) delete attributes['recording']
    return attributes
  }

  const textBytes = (): number => [...texts.values()].reduce((sum, { bytes }) => sum + bytes, 0)

  const cutTexts = (room: number): void => {
    const longestFirst = [...texts].toSorted(([, a], [, b]) => b.bytes - a.bytes)
    for (const [key, text] of longestFirst) {
      const excess = baseBytes + textBytes() - room
      if (excess <= 0) return
      const before = text.bytes
      text.set(newestText(text.text, Math.floor(Math.max(0, before - excess) * KEPT_SHARE)))
      note(key, before - text.bytes)
    }
  }

  const cutBase = (room: number): void => {
    const attributes = storable(base, room)
    for (const key of Object.keys(base)) if (!Object.hasOwn(attributes, key)) remove(key)
    for (const key of Object.keys(attributes)) if (!texts.has(key)) put(key, attributes[key]!)
  }

  const fit = (): void => {
    const bytes = baseBytes + textBytes() + replacements.bytes() + FRAME_BYTES
    if (bytes <= limits.maxBytes) return
    const room = limits.maxBytes - reserve - FRAME_BYTES
    if (baseBytes > room) cutBase(room)
    cutTexts(room)
  }

  /** The attributes as a store is given them. */
  const told = (): JsonObject => {
    const recording = replacements.recording()
    if (!recording) return base
    if (Object.hasOwn(base, 'recording')) {
      const name = freeName('recording', base)
      put(name, base['recording']!)
      remove('recording')
    }
    return { ...base, recording }
  }

  for (const [key, value] of Object.entries(opened))
    if (key !== 'recording' || !replacements.take(value)) put(key, value)
  written()

  return {
    update(change) {
      if (typeof change === 'function') {
        // Of the texts that grow `fit` cuts off the beginning; here it would be the end.
        const room = 2 * limits.maxBytes
        const attributes = storable(resultOf(change as Reckoning, whole()), room)
        for (const key of Object.keys(base)) if (!Object.hasOwn(attributes, key)) remove(key)
        for (const key of Object.keys(attributes))
          if (attributes[key] !== texts.get(key)?.text) set(key, attributes[key]!)
      } else {
        const attributes = storable(checkObject(change, 'a change'), limits.maxBytes)
        for (const key of Object.keys(attributes)) set(key, attributes[key]!)
        for (const key of Object.keys(change).map(storedName))
          if (!Object.hasOwn(attributes, key)) remove(key)
      }
      fit()
    },
    append(key, addition) {
      if (typeof key !== 'string' || typeof addition !== 'string')
        throw new AuditLogError('INVALID_DATA', 'append takes the name of an attribute and a text')
      // Another `recording` has to stand back behind ours, and cannot while it grows.
      const name = key === 'recording' ? 'attributes_recording' : storedName(key)
      if (Object.hasOwn(base, name) && typeof base[name] !== 'string')
        throw new AuditLogError('INVALID_DATA', `${name} is not a text`, {
          pointer: jsonPointer([name]),
        })
      const isKept = growing(name).add(addition)
      if (!isKept || name !== key) note(name)
      fit()
    },
    end() {
      for (const [key, text] of texts) if (!text.end()) note(key)
      fit()
    },
    isUnfinished: () => base['unfinished'] === true,
    isChanged: () =>
      isBaseChanged || [...texts.values()].some((text) => text.replaces || text.pending !== ''),
    pendingBytes: () =>
      [...texts.values()].reduce((sum, { pending }) => sum + pending.length, changedBytes),
    take() {
      const json = isBaseChanged ? JSON.stringify(told()) : undefined
      const added = Array.from(texts, ([key, { pending: text, replaces }]) => ({
        key,
        text,
        replaces,
      }))
      written()
      return { json, texts: added.filter(({ text, replaces }) => replaces || text !== '') }
    },
  }
}

/** The name under which an attribute is kept. */
function storedName(key: string): string {
  const name = storableText(key)
  return isOwnField(name) ? `attributes_${name}` : name
}

function freeName(taken: string, attributes: JsonObject): string {
  const name = `attributes_${taken}`
  return Object.hasOwn(attributes, name) ? freeName(name, attributes) : name
}

function checkObject(value: unknown, what: string): object {
  // Of a promise nothing would be left, and so of the attributes.
  const isOther = Array.isArray(value) || value instanceof Promise
  if (value !== null && typeof value === 'object' && !isOther) return value
  throw new AuditLogError('INVALID_DATA', `${what} of attributes must be an object`)
}

function resultOf(change: Reckoning, attributes: JsonObject): object {
  let result: unknown
  try {
    result = change(attributes)
  } catch (error) {
    const message = 'the function that changes the attributes threw'
    throw new AuditLogError('INVALID_DATA', message, { cause: error })
  }
  return checkObject(result, 'the result of a change')
}
