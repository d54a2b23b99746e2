import type { JsonObject, JsonValue } from '../event/event.js'
import type { JsonLimits } from '../event/json.js'
import { storableText } from '../event/json-copy.js'

/** Bytes reserved for the attribute `recording` when an event is cut. */
export function recordingReserve({ maxBytes }: JsonLimits): number {
  return Math.min(8192, maxBytes >> 2)
}

/** Collects the paths of values that were replaced and cut in a live event, for its attribute `recording`. */
export interface Replacements {
  /** Returns true if the attribute changes. */
  note(pointer: string, cutBytes?: number): boolean
  /** Adds the entries of another `recording`. Returns false if the value is not a `recording`. */
  take(value: JsonValue | undefined): boolean
  /** The attribute; `undefined` if nothing was replaced. */
  recording(): JsonObject | undefined
  /** Size of the attribute as JSON. */
  bytes(): number
}

// The same limit as for other events.
const MAX_POINTERS = 50
const FRAME_BYTES = 60

export function createReplacements(reserve: number): Replacements {
  const pointers = new Set<string>()
  let cutBytes = 0
  let bytes = 0

  const note = (pointer: string, cut = 0): boolean => {
    cutBytes += cut
    const listed = storableText(pointer)
    const added = Buffer.byteLength(JSON.stringify(listed)) + 1
    const isFull = pointers.size >= MAX_POINTERS || bytes + added > reserve - FRAME_BYTES
    if (pointers.has(listed) || isFull) return cut > 0
    pointers.add(listed)
    bytes += added
    return true
  }

  return {
    note,
    take(value) {
      if (!isRecording(value)) return false
      for (const pointer of value.replaced) note(pointer)
      cutBytes += value.cut_bytes
      return true
    },
    recording() {
      if (pointers.size === 0) return undefined
      return { replaced: [...pointers], cut_bytes: cutBytes }
    },
    bytes: () => (pointers.size === 0 ? 0 : bytes + FRAME_BYTES),
  }
}

interface Recording extends JsonObject {
  replaced: string[]
  cut_bytes: number
}

function isRecording(value: JsonValue | undefined): value is Recording {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const { replaced, cut_bytes } = value
  return (
    Object.keys(value).length === 2 &&
    Array.isArray(replaced) &&
    replaced.every((pointer) => typeof pointer === 'string') &&
    typeof cut_bytes === 'number'
  )
}
