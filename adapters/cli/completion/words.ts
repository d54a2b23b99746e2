import type { Command, Option } from '../call/command.js'
import { argumentsOf, optionsOf } from '../call/options.js'

/** Possible values of an option or an argument. */
export type Values =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'path' | 'text' }

export interface OptionWords {
  /** `--filter`. */
  readonly long: string
  /** `-f`. */
  readonly short: string | undefined
  readonly description: string
  readonly repeatable: boolean
  /** The value that the option takes, with its name. */
  readonly value: (Values & { readonly name: string }) | undefined
}

export type ArgumentWords = Values & { readonly name: string; readonly variadic: boolean }

/** The words of one command. */
export interface CommandWords {
  /** `list`, or `subscriptions pause`. */
  readonly name: string
  readonly summary: string
  readonly options: readonly OptionWords[]
  readonly arguments: readonly ArgumentWords[]
}

/** Names of values that are paths. A log is most often a file. */
const PATHS = new Set(['file', 'files', 'log', 'logs', 'module'])

function valuesOf(name: string, choices: readonly string[] | undefined): Values {
  if (choices) return { kind: 'words', words: choices }
  return { kind: PATHS.has(name) ? 'path' : 'text' }
}

function readOption({ flags, description, repeatable = false, choices }: Option): OptionWords {
  const [, short, long, name] = /^(?:(-\w), )?(--[\w-]+)(?: <(.+)>)?$/.exec(flags)!
  const value = name === undefined ? undefined : { name, ...valuesOf(name, choices) }
  return { long: long!, short, description, repeatable, value }
}

/** The words that each command takes. */
export const readWords = (commands: readonly Command[]): readonly CommandWords[] =>
  commands.map((command) => ({
    name: command.name,
    summary: command.summary,
    options: optionsOf(command).map(readOption),
    arguments: argumentsOf(command).map(({ name, choices, variadic = false }) => ({
      name,
      variadic,
      ...valuesOf(name, choices),
    })),
  }))

/** The commands by the first word of their names, in order: `subscriptions` has several. */
export function groupsOf(
  commands: readonly CommandWords[],
): ReadonlyMap<string, readonly CommandWords[]> {
  const groups = new Map<string, readonly CommandWords[]>()
  for (const command of commands) {
    const word = command.name.split(' ')[0]!
    groups.set(word, [...(groups.get(word) ?? []), command])
  }
  return groups
}

/** The second word of the name of a command in a group. */
export const subcommandOf = ({ name }: CommandWords): string => name.split(' ')[1]!

/** True if the word is the name of a group, not of a command. */
export const isGroup = (word: string, [first]: readonly CommandWords[]): boolean =>
  first!.name !== word

/** One line that describes the commands with a first word. */
export const groupSummary = (word: string, commands: readonly CommandWords[]): string =>
  isGroup(word, commands) ? commands.map(subcommandOf).join(', ') : commands[0]!.summary

/** Quoted for a shell; a quote in the text ends the string, is escaped, and begins it again. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
