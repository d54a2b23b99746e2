import type { Argument, Command, Option } from '../../adapters/cli/call/command.js'
import { argumentsOf, argumentText, optionsOf, VARIABLES } from '../../adapters/cli/call/options.js'
import { commands } from '../../adapters/cli/commands.js'
import { exitCodes } from '../../adapters/cli/terminal/exit-codes.js'
import { table } from './markdown.js'

/* The pages of the commands, made from their definitions. */

const TARGETS = { sqlite: 'SQLite files', postgres: 'Postgres', http: 'feeds over HTTP' }

const sentence = (text: string): string =>
  `${text[0]!.toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`

/**
 * Text outside of code blocks. In it, an option such as `--yes` and a value such as `<file>` must be marked as code.
 */
const prose = (text: string): string =>
  text
    .replaceAll(/(?<![\w`-])(?:--[a-z][\w-]*(?: <\w+>)?|<\w+>[\w.]*)/g, '`$&`')
    .replaceAll('|', String.raw`\|`)

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

function optionRow(option: Option): readonly string[] {
  const { flags, description, choices, default: initial, repeatable } = option
  const remarks = [
    choices && `one of ${choices.map((choice) => `\`${choice}\``).join(', ')}`,
    initial !== undefined && `default \`${initial}\``,
    repeatable && 'can be repeated',
  ].filter((remark) => typeof remark === 'string')
  return [`\`${flags}\``, [prose(description), ...remarks].join('; ')]
}

const argumentRow = ({ name, description }: Argument): readonly string[] => [
  `\`${name}\``,
  prose(description),
]

function section(command: Command, level: string): string {
  const { name, summary, description = '', examples, targets } = command
  const given = argumentsOf(command)
  const usage = ['daybook', name, '[options]', ...given.map(argumentText)].join(' ')
  const works = targets.map((target) => TARGETS[target])
  return [
    `${level} daybook ${name}`,
    `\`${usage}\``,
    `${sentence(summary)} ${prose(description)}`.trim(),
    works.length > 0 ? `Works on ${listed(works)}.` : 'Needs no log.',
    table(['Argument', ''], given.map(argumentRow)),
    table(['Option', ''], optionsOf(command).map(optionRow)),
    examples.map(({ run, says }) => `- \`${run}\`: ${says}`).join('\n'),
  ].join('\n\n')
}

function page(word: string, members: readonly Command[]): string {
  if (members[0]!.name === word) return `${section(members[0]!, '#')}\n`
  const sections = members.map((command) => section(command, '##'))
  return `# daybook ${word}\n\n${sections.join('\n\n')}\n`
}

const wordOf = ({ name }: Command): string => name.split(' ')[0]!

/** The pages by the first words of the commands: all commands on subscriptions are on one. */
export function commandPages(): ReadonlyMap<string, string> {
  const words = [...new Set(commands.map(wordOf))]
  const members = (word: string): Command[] =>
    commands.filter((command) => wordOf(command) === word)
  return new Map(words.map((word) => [word, page(word, members(word))]))
}

function commandRow(command: Command): readonly string[] {
  const word = wordOf(command)
  const anchor = command.name === word ? '' : `#daybook-${command.name.replace(' ', '-')}`
  return [
    `[\`${command.name}\`](../reference/commands/${word}.md${anchor})`,
    prose(command.summary),
  ]
}

/** The tables of the guide, by their names. */
export const commandTables = (): readonly (readonly [name: string, text: string])[] => [
  ['commands', table(['Command', ''], commands.map(commandRow))],
  [
    'variables',
    table(
      ['Variable', ''],
      VARIABLES.map(({ name, description }) => [`\`${name}\``, prose(description)]),
    ),
  ],
  [
    'exit-codes',
    table(
      ['Exit code', ''],
      Object.values(exitCodes).map(([code, meaning]) => [String(code), meaning]),
    ),
  ],
]
