import { type EventTypeDefinition, misspeltKeys } from '../event/event-types.js'

// A host uses few keys, unless it generates them.
const MAX_HINTS = 1000

/** Emits a process warning for each call that is probably a mistake, once for each mistake. */
export interface Hints {
  /** Warns of keys that differ in one letter from a known one, for types that accept any key. */
  keys(type: string, definition: EventTypeDefinition, data: object): void
  /** Warns of keys of the throttle's scope that the data lacks, once for each type. */
  scope(type: string, missing: readonly string[]): void
}

export function createHints(): Hints {
  const given = new Set<string>()
  const hint = (about: string, message: string): void => {
    if (given.has(about) || given.size >= MAX_HINTS) return
    given.add(about)
    process.emitWarning(message)
  }
  return {
    keys(type, definition, data) {
      for (const { key, suggestion } of misspeltKeys(definition, data))
        hint(
          JSON.stringify([type, key]),
          `${type} was recorded with the data key ${key}; did you mean ${suggestion}?`,
        )
    },
    scope(type, missing) {
      hint(
        type,
        `${type} was recorded without ${missing.join(' and ')}, the scope of its throttle; events without it share one period`,
      )
    },
  }
}
