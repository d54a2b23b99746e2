import {
  type CommandWords,
  groupsOf,
  groupSummary,
  isGroup,
  type OptionWords,
  subcommandOf,
  type Values,
} from './words.js'

/* https://fishshell.com/docs/current/cmds/complete.html */

/** In single quotes of fish, only backslash and quote are special. */
const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`

const line = (condition: string, ...rest: readonly string[]): string =>
  ['complete -c daybook', `-n ${quoted(condition)}`, ...rest].join(' ')

/** `-x`: the value is not a file; `-r -F`: it may be a file. */
function valueFlags(values: Values | undefined): string[] {
  if (!values) return []
  if (values.kind === 'words') return ['-x', `-a ${quoted(values.words.join(' '))}`]
  return values.kind === 'path' ? ['-r', '-F'] : ['-x']
}

function optionLine(condition: string, { long, short, description, value }: OptionWords): string {
  const flags = [...(short === undefined ? [] : [`-s ${short.slice(1)}`]), `-l ${long.slice(2)}`]
  return line(condition, ...flags, ...valueFlags(value), `-d ${quoted(description)}`)
}

function commandLines(command: CommandWords): string[] {
  const condition = `__daybook_runs ${command.name}`
  const options = command.options.map((option) => optionLine(condition, option))
  const [first] = command.arguments
  return first?.kind === 'words'
    ? [line(condition, '-f', `-a ${quoted(first.words.join(' '))}`), ...options]
    : options
}

/** Completion of fish 3 and later. */
export function fishCompletion(commands: readonly CommandWords[]): string {
  const groups = [...groupsOf(commands)]
  const words = groups.map(([word, members]) =>
    line('__daybook_is', '-f', `-a ${quoted(word)}`, `-d ${quoted(groupSummary(word, members))}`),
  )
  const subcommands = groups
    .filter(([word, members]) => isGroup(word, members))
    .flatMap(([word, members]) =>
      members.map((member) =>
        line(
          `__daybook_is ${word}`,
          '-f',
          `-a ${quoted(subcommandOf(member))}`,
          `-d ${quoted(member.summary)}`,
        ),
      ),
    )
  return `# Completion of daybook for fish. In ~/.config/fish/config.fish: daybook completion fish | source
# Whether the words before the cursor begin with these.
function __daybook_runs
  set -l words (commandline -opc)
  set -l last (math 1 + (count $argv))
  test "$words[2..$last]" = "$argv"
end
# Whether the words before the cursor are these, and no more.
function __daybook_is
  set -l words (commandline -opc)
  test "$words[2..]" = "$argv"
end
${[...words, ...subcommands, ...commands.flatMap(commandLines)].join('\n')}
`
}
