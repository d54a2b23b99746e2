/* The numbers that a suite takes from the command line. */

export const OPTIONS = {
  rounds: 'rounds',
  seconds: 'measured seconds of a trial',
  events: 'events in a log',
  logs: 'logs',
  rows: 'rows of a table',
} as const

export type OptionName = keyof typeof OPTIONS
export type Numbers = Readonly<Record<OptionName, number>>
export type TimedOptions = Pick<Numbers, 'rounds' | 'seconds'>

export interface Options extends Numbers {
  /** Folder for logs that the next run may use again. */
  readonly folder: string
}

/** An error in the command line: only its message is printed. */
export class UsageError extends Error {}

/** Reads the value of an option. All but seconds are whole. */
export function readNumber(name: OptionName, text: string): number {
  const value = Number(text)
  if (value > 0 && (name === 'seconds' || Number.isInteger(value))) return value
  throw new UsageError(
    `--${name} must be a ${name === 'seconds' ? 'number greater than 0' : 'whole number of at least 1'}, not ${JSON.stringify(text)}`,
  )
}
