import { REDACTED } from '../../../src/event/secrets.js'

/*
 * Parts of the SQL of captured tables.
 */

/** Values of settings that the text of values depends on. */
const OUTPUT_SETTINGS = {
  timezone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  lc_monetary: 'C',
  array_nulls: 'on',
} as const

type OutputSetting = keyof typeof OUTPUT_SETTINGS

/** Types whose values depend on no setting. */
const PLAIN_TYPES =
  'bool int2 int4 int8 numeric text varchar bpchar name uuid json jsonb bytea date time timestamp enum'

/** The settings that the values of a type depend on; of other types all. Each takes time for each row. */
const SETTINGS_OF: Readonly<Record<string, readonly OutputSetting[]>> = {
  ...Object.fromEntries(PLAIN_TYPES.split(' ').map((kind) => [kind, []])),
  timestamptz: ['timezone'],
  float4: ['extra_float_digits'],
  float8: ['extra_float_digits'],
  interval: ['IntervalStyle'],
}

export const SEARCH_PATH = 'SET search_path = pg_catalog, pg_temp'

export const setting = (name: OutputSetting): string => `SET ${name} = '${OUTPUT_SETTINGS[name]}'`

export const ALL_SETTINGS = Object.keys(OUTPUT_SETTINGS) as OutputSetting[]

export const settingsFor = (kinds: readonly string[]): string => {
  const needed = new Set(kinds.flatMap((kind) => SETTINGS_OF[kind] ?? ALL_SETTINGS))
  return [SEARCH_PATH, ...[...needed].map(setting)].join(' ')
}

/** A literal that means the same whatever `standard_conforming_strings` is, and does not end a function's body. */
export const literal = (text: string): string =>
  `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('$', '\\x24')}'`

export const textArray = (texts: readonly string[]): string =>
  `ARRAY[${texts.map(literal).join(', ')}]::text[]`

export const MAX_POINTERS = 50

/**
 * Separates the JSON text of a value from the pointers to what in it is not as in the table. JSON text does not contain it
 * unescaped.
 */
export const MARK = "E'\\x01'"

export const REDACTED_JSON = literal(JSON.stringify(REDACTED))

/** SQL for a JSON Pointer to a member. */
export const pointerTo = (name: string): string =>
  `'/' || replace(replace(${name}, '~', '~0'), '/', '~1')`
