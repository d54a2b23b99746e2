import { AuditLogError } from '../errors.js'
import { createBaseAttributes } from './base-attributes.js'
import type { JsonObject } from '../event/event.js'
import { hasReason } from '../event/known-attributes.js'
import { isOwnField } from '../event/own-fields.js'
import { type JsonLimits, toJsonText } from '../event/json.js'
import { jsonPointer, storableText } from '../event/json-copy.js'
import { createGrowingTexts } from './growing-texts.js'
import { createReplacements, recordingReserve, type Replacements } from './replacements.js'
import { createSizeLimit } from './size-limit.js'
import type { LiveChange } from '../store/store.js'
import { isPromise } from '../event/realm.js'

type ChangeFunction = (attributes: JsonObject) => object

/** A change. An object replaces the attributes that it names. A function returns all new attributes. */
export type AttributesChange = object | ChangeFunction

/** The current attributes of a live event, and the unwritten changes. */
export interface LiveAttributes {
  /**
   * Applies the change. Throws `INVALID_DATA` for a change that is not an object, and for a function that throws.
   * Then nothing changes.
   */
  update(change: AttributesChange): void
  /** Throws `INVALID_DATA` for an attribute that is not a text. */
  append(key: string, text: string): void
  /** Nothing is appended after this. */
  end(): void
  isUnfinished(): boolean
  isChanged(): boolean
  /** Approximate size of what `take` would return. */
  pendingBytes(): number
  /** The changes since the last call. */
  take(): Pick<LiveChange, 'json' | 'texts'>
}

/** With `keepsReason`, a change that leaves no reason throws `INVALID_DATA`. The attributes never exceed the limits: see `createSizeLimit`. */
export function createLiveAttributes(
  opened: JsonObject,
  limits: JsonLimits,
  keepsReason = false,
): LiveAttributes {
  const base = createBaseAttributes()
  const texts = createGrowingTexts(base)
  const replacements = createReplacements(recordingReserve(limits))

  const note = (pointer: string, cutBytes = 0): void => {
    if (replacements.note(pointer, cutBytes)) base.markChanged()
  }
  const markWritten = (): void => {
    base.markWritten()
    texts.markWritten()
  }
  const storable = createStorable(limits, replacements)
  const fit = createSizeLimit({ limits, base, texts, replacements, storable, noteCut: note })

  /** The attributes as they are written. */
  const written = (): JsonObject => {
    const recording = replacements.recording()
    if (!recording) return base.values
    if (Object.hasOwn(base.values, 'recording')) {
      base.put(freeName('recording', base.values), base.values['recording']!)
      texts.remove('recording')
    }
    return { ...base.values, recording }
  }

  const replaceAll = (change: ChangeFunction): void => {
    // `fit` cuts the beginning of growing texts; a smaller limit here would cut their end.
    const attributes = storable(resultOf(change, texts.copyAll()), 2 * limits.maxBytes)
    if (keepsReason) checkReason(attributes)
    for (const key of Object.keys(base.values))
      if (!Object.hasOwn(attributes, key)) texts.remove(key)
    for (const key of Object.keys(attributes))
      if (attributes[key] !== texts.text(key)) texts.set(key, attributes[key]!)
  }
  const replaceSome = (change: object): void => {
    const attributes = storable(checkObject(change, 'a change'), limits.maxBytes)
    if (keepsReason && Object.hasOwn(change, 'reason')) checkReason(attributes)
    for (const key of Object.keys(attributes)) texts.set(key, attributes[key]!)
    // A key with the value `undefined` removes the attribute.
    for (const key of Object.keys(change).map(storedName))
      if (!Object.hasOwn(attributes, key)) texts.remove(key)
  }

  for (const [key, value] of Object.entries(opened))
    if (key !== 'recording' || !replacements.take(value)) base.put(key, value)
  markWritten()

  return {
    update(change) {
      if (typeof change === 'function') replaceAll(change as ChangeFunction)
      else replaceSome(change)
      fit()
    },
    append(key, addition) {
      const name = appendName(key, addition, base.values)
      const isUnchanged = texts.grow(name).add(addition)
      if (!isUnchanged || name !== key) note(jsonPointer([name]))
      fit()
    },
    end() {
      for (const [key, text] of texts.entries()) if (!text.end()) note(jsonPointer([key]))
      fit()
    },
    isUnfinished: () => base.values['unfinished'] === true,
    isChanged: () => base.isChanged() || texts.isChanged(),
    pendingBytes: () => base.changedBytes() + texts.pendingLength(),
    take() {
      const json = base.isChanged() ? JSON.stringify(written()) : undefined
      const changes = texts.changes()
      markWritten()
      return { json, texts: changes }
    },
  }
}

/** Makes copies that can be stored. Their attribute `recording` goes into `replacements`. */
const createStorable =
  (limits: JsonLimits, replacements: Replacements) =>
  (data: object, maxBytes: number): JsonObject => {
    const attributes = { ...toJsonText(data, { ...limits, maxBytes, system: true }).attributes }
    if (replacements.take(attributes['recording'])) delete attributes['recording']
    return attributes
  }

/** The name of the attribute to append to. */
function appendName(key: unknown, addition: unknown, values: JsonObject): string {
  if (typeof key !== 'string' || typeof addition !== 'string')
    throw new AuditLogError('INVALID_DATA', 'append takes the name of an attribute and a text')
  // The name `recording` is ours, an outcome does not grow, and a text cannot be renamed while it grows.
  const isTaken = key === 'recording' || key === 'outcome'
  const name = isTaken ? `attributes_${key}` : storedName(key)
  if (Object.hasOwn(values, name) && typeof values[name] !== 'string')
    throw new AuditLogError('INVALID_DATA', `${name} is not a text`, {
      pointer: jsonPointer([name]),
    })
  return name
}

/** The name under which an attribute is stored. */
function storedName(key: string): string {
  const name = storableText(key)
  return isOwnField(name) ? `attributes_${name}` : name
}

function freeName(taken: string, attributes: JsonObject): string {
  const name = `attributes_${taken}`
  return Object.hasOwn(attributes, name) ? freeName(name, attributes) : name
}

function checkReason(attributes: JsonObject): void {
  if (hasReason(attributes)) return
  const message = 'the type of the event needs a reason, which the change would remove'
  throw new AuditLogError('INVALID_DATA', message, { pointer: '/reason' })
}

function checkObject(value: unknown, what: string): object {
  // A promise has no own keys, so it would remove all attributes.
  const isOther = Array.isArray(value) || isPromise(value)
  if (value !== null && typeof value === 'object' && !isOther) return value
  throw new AuditLogError('INVALID_DATA', `${what} of attributes must be an object`)
}

function resultOf(change: ChangeFunction, attributes: JsonObject): object {
  let result: unknown
  try {
    result = change(attributes)
  } catch (error) {
    const message = 'the function that changes the attributes threw'
    throw new AuditLogError('INVALID_DATA', message, { cause: error })
  }
  return checkObject(result, 'the result of a change')
}
