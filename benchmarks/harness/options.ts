import { parseArgs } from 'node:util'

/* What the command line says. */

const OPTIONS = {
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  write: { type: 'boolean', default: false },
  /** Where `npm run bench` wants the rows of its table. */
  rows: { type: 'string' },
} as const

function readCount(name: string, text: string | undefined, byDefault: number): number {
  const count = text === undefined ? byDefault : Number(text)
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`--${name} must be a whole number from 1`)
  return count
}

function readSeconds(text: string | undefined, byDefault: number): number {
  const seconds = text === undefined ? byDefault : Number(text)
  if (!(seconds > 0)) throw new Error('--seconds must be a number above 0')
  return seconds
}

/** How long to measure, as the command line says or by default, and whether to write it into results.md. */
export function readOptions(defaults: { readonly rounds: number; readonly seconds: number }): {
  rounds: number
  seconds: number
  write: boolean
  rows: string | undefined
} {
  const { values } = parseArgs({ options: OPTIONS })
  return {
    rounds: readCount('rounds', values.rounds, defaults.rounds),
    seconds: readSeconds(values.seconds, defaults.seconds),
    write: values.write,
    rows: values.rows,
  }
}

export const SIZES = { '10k': 1e4, '100k': 1e5, '1m': 1e6, '10m': 1e7 } as const
export type Size = keyof typeof SIZES

export function readSize(text: string): Size {
  if (Object.hasOwn(SIZES, text)) return text as Size
  throw new Error(`--size must be one of ${Object.keys(SIZES).join(', ')}`)
}

/** The options of those that measure a log of some size. */
export interface SizedOptions {
  readonly size: Size
  readonly rounds: number
  /** Of one trial, where it is measured by time. */
  readonly seconds: number
  /** A folder in which prepared logs stay, and are looked for. */
  readonly keep: string | undefined
  readonly rows: string | undefined
}

export function readSized(defaults: { rounds: number; seconds?: number }): SizedOptions {
  const { write: _, ...options } = OPTIONS
  const { values } = parseArgs({
    options: { ...options, size: { type: 'string', default: '1m' }, keep: { type: 'string' } },
  })
  return {
    size: readSize(values.size),
    rounds: readCount('rounds', values.rounds, defaults.rounds),
    seconds: readSeconds(values.seconds, defaults.seconds ?? 2),
    keep: values.keep,
    rows: values.rows,
  }
}
