/** Levels of events, most severe first. An event's level is the first part of its type, else `custom`. */
export const LEVELS = ['error', 'warn', 'audit', 'info', 'api', 'custom'] as const

export type Level = (typeof LEVELS)[number]

/** The prefixes of event types for each level. */
export const LEVEL_PREFIXES: Readonly<Record<Exclude<Level, 'custom'>, readonly string[]>> = {
  error: ['error:'],
  // The catalogue uses both spellings.
  warn: ['warn:', 'warning:'],
  audit: ['audit:'],
  info: ['info:'],
  api: ['api:'],
}

const levels: ReadonlyMap<string, Level> = new Map(
  Object.entries(LEVEL_PREFIXES).flatMap(([level, prefixes]) =>
    prefixes.map((prefix) => [prefix, level as Level] as const),
  ),
)

/** The level of an event type. Case is ignored, as in filters. */
export function levelOf(type: string): Level {
  return levels.get(type.slice(0, type.indexOf(':') + 1).toLowerCase()) ?? 'custom'
}
