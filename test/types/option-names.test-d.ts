/* Compiled by `tsc`, never run. Only the lines under `@ts-expect-error` must not compile. */
import type { OptionNames } from '../../src/options.js'

interface Given {
  readonly first: string
  readonly second?: number
}
type Either = Given | { readonly third: true }

export const all: OptionNames<Given> = { first: true, second: true }
export const ofUnion: OptionNames<Either> = { first: true, second: true, third: true }
// @ts-expect-error
export const lacksOne: OptionNames<Given> = { first: true }
// @ts-expect-error
export const hasAnother: OptionNames<Given> = { first: true, second: true, other: true }
// @ts-expect-error
export const lacksMember: OptionNames<Either> = { first: true, second: true }
