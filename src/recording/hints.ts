import { type EventTypeDefinition, misspeltKeys } from '../event/event-types.js'

// The keys of a host's calls are few, unless it makes them up.
const MAX_HINTS = 1000

/** Warns the process of calls that are probably mistakes, of each once. */
export interface Hints {
  /** Keys one letter off a known one, of types that accept any key. */
  keys(type: string, definition: EventTypeDefinition, data: object): void
  /** Keys of the throttle's scope that the data lacks, for each type once. */
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
