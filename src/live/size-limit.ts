import type { BaseAttributes } from './base-attributes.js'
import type { JsonObject } from '../event/event.js'
import { newestText } from './growing-text.js'
import type { GrowingTexts } from './growing-texts.js'
import type { JsonLimits } from '../event/json.js'
import { jsonPointer } from '../event/json-copy.js'
import { recordingReserve, type Replacements } from './replacements.js'

// Share of the available room that a cut text keeps, so that it is not cut at every append.
const KEPT_SHARE = 3 / 4
const FRAME_BYTES = 100

export interface SizeLimitOptions {
  readonly limits: JsonLimits
  readonly base: BaseAttributes
  readonly texts: GrowingTexts
  readonly replacements: Replacements
  /** A storable copy of at most `maxBytes`. */
  readonly storable: (data: object, maxBytes: number) => JsonObject
  /** Notes that a text was cut. */
  readonly noteCut: (pointer: string, cutBytes: number) => void
}

/**
 * Returns a function that cuts the attributes to the limits. First it cuts the attributes that are not growing texts,
 * as for any event. Then it removes the oldest parts of the longest growing texts.
 */
export function createSizeLimit(options: SizeLimitOptions): () => void {
  const { limits, base, texts, replacements, storable, noteCut } = options

  const cutBase = (room: number): void => {
    const attributes = storable(base.values, room)
    for (const key of Object.keys(base.values))
      if (!Object.hasOwn(attributes, key)) texts.remove(key)
    for (const key of Object.keys(attributes)) if (!texts.has(key)) base.put(key, attributes[key]!)
  }
  const cutTexts = (room: number): void => {
    const longestFirst = [...texts.entries()].toSorted(([, a], [, b]) => b.bytes - a.bytes)
    for (const [key, text] of longestFirst) {
      const excess = base.bytes() + texts.bytes() - room
      if (excess <= 0) return
      const before = text.bytes
      text.set(newestText(text.text, Math.floor(Math.max(0, before - excess) * KEPT_SHARE)))
      noteCut(jsonPointer([key]), before - text.bytes)
    }
  }

  return () => {
    const bytes = base.bytes() + texts.bytes() + replacements.bytes() + FRAME_BYTES
    if (bytes <= limits.maxBytes) return
    const room = limits.maxBytes - recordingReserve(limits) - FRAME_BYTES
    if (base.bytes() > room) cutBase(room)
    cutTexts(room)
  }
}
