/* Command-line options. Each suite declares which options it takes, and with which defaults. */
import fs from 'node:fs'
import path from 'node:path'

export interface Option<Value> {
  /** Placeholder in the help, such as `<n>`. */
  readonly hint: string
  readonly description: string
  readonly default: Value
  /** The allowed texts, where they are a fixed list. */
  readonly choices?: readonly string[]
  /** Throws an error that says what `--name` must be. */
  parse(text: string, name: string): Value
}

export type Options = Readonly<Record<string, Option<unknown>>>

/** The values of the options, by name. */
export type Values<Of extends Options> = { readonly [name in keyof Of]: Of[name]['default'] }

/** An error in the command line: only its message is printed. */
export class UsageError extends Error {}

export function wholeNumber(byDefault: number, description: string): Option<number> {
  return {
    hint: '<n>',
    description,
    default: byDefault,
    parse(text, name) {
      const value = Number(text)
      if (Number.isInteger(value) && value >= 1) return value
      throw new UsageError(`--${name} must be a whole number of at least 1`)
    },
  }
}

/** Whole numbers, with commas between them. */
export function wholeNumbers(
  byDefault: readonly number[],
  description: string,
): Option<readonly number[]> {
  return {
    hint: '<n,n>',
    description,
    default: byDefault,
    parse(text, name) {
      const values = text.split(',').map(Number)
      if (values.every((value) => Number.isInteger(value) && value >= 1)) return values
      throw new UsageError(
        `--${name} must be whole numbers of at least 1, with commas between them`,
      )
    },
  }
}

export function positiveNumber(byDefault: number, description: string): Option<number> {
  return {
    hint: '<n>',
    description,
    default: byDefault,
    parse(text, name) {
      const value = Number(text)
      if (value > 0) return value
      throw new UsageError(`--${name} must be a number greater than 0`)
    },
  }
}

export function oneOf<Choice extends string>(
  choices: readonly Choice[],
  byDefault: NoInfer<Choice>,
  description: string,
): Option<Choice> {
  return {
    hint: choices.join('|'),
    description,
    default: byDefault,
    choices,
    parse(text, name) {
      const choice = choices.find((one) => one === text)
      if (choice !== undefined) return choice
      throw new UsageError(`--${name} must be one of ${choices.join(', ')}`)
    },
  }
}

/** The name of a file that exists; empty without one. */
export function fileName(description: string): Option<string> {
  return {
    hint: '<file>',
    description,
    default: '',
    parse(text, name) {
      if (fs.existsSync(text)) return path.resolve(text)
      throw new UsageError(`--${name} must be a file; there is no ${text}`)
    },
  }
}

/** The name of a folder, which is created if it does not exist. */
export function folderName(byDefault: string, description: string): Option<string> {
  return {
    hint: '<folder>',
    description,
    default: byDefault,
    parse: (text) => path.resolve(text),
  }
}

/** The options of most suites. */
export interface TimedOptions {
  readonly rounds: number
  /** Measured time of a trial. */
  readonly seconds: number
}

export const SIZES = { '10k': 1e4, '100k': 1e5, '1m': 1e6 } as const
export type Size = keyof typeof SIZES

/** Reads the values given as text; options that are not given have their default. */
export function readValues<Of extends Options>(
  options: Of,
  given: Readonly<Record<string, string>>,
): Values<Of> {
  const values = Object.entries(options).map(([name, option]) => {
    const text = given[name]
    return [name, text === undefined ? option.default : option.parse(text, name)]
  })
  return Object.fromEntries(values) as Values<Of>
}
