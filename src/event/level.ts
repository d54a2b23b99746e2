/** What the first part of an event's type tells, by weight; `custom` is every other first part. */
export const LEVELS = ['error', 'warn', 'audit', 'info', 'api', 'custom'] as const

export type Level = (typeof LEVELS)[number]

/** The first parts of types, with their colon, that make each level. */
export const LEVEL_PREFIXES: Readonly<Record<Exclude<Level, 'custom'>, readonly string[]>> = {
  error: ['error:'],
  // The catalogue writes both.
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

/** The level of an event type; upper and lower case are alike, as they are to filters. */
export function levelOf(type: string): Level {
  return levels.get(type.slice(0, type.indexOf(':') + 1).toLowerCase()) ?? 'custom'
}
