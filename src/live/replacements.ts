import type { JsonObject, JsonValue } from '../event/event.js'
import type { JsonLimits } from '../event/json.js'
import { storableText } from '../event/json-copy.js'

/** Room that is kept for the attribute `recording` in what is cut. */
export function recordingReserve({ maxBytes }: JsonLimits): number {
  return Math.min(8192, maxBytes >> 2)
}

/** What was replaced and cut in one event while it changed, for its attribute `recording`. */
export interface Replacements {
  /** Gives whether that is news. */
  note(pointer: string, cutBytes?: number): boolean
  /** Adds those of such an attribute; gives whether it is one. */
  take(value: JsonValue | undefined): boolean
  /** The attribute; `undefined` where nothing was replaced. */
  recording(): JsonObject | undefined
  /** Of its JSON text. */
  bytes(): number
}

// As many as are listed for any event.
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
