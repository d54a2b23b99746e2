import {
  type ArgumentWords,
  type CommandWords,
  groupsOf,
  groupSummary,
  isGroup,
  type OptionWords,
  quoted,
  subcommandOf,
  type Values,
} from './words.js'

/* https://zsh.sourceforge.io/Doc/Release/Completion-System.html, `_arguments` and `_describe` */

const escaped = (text: string): string => text.replaceAll(/[\\:[\]]/g, String.raw`\$&`)

function actionOf(values: Values): string {
  if (values.kind === 'words') return `(${values.words.join(' ')})`
  return values.kind === 'path' ? '_files' : ' '
}

function optionSpec({ long, short, description, repeatable, value }: OptionWords): string {
  const flags = short === undefined ? [long] : [short, long]
  const others = repeatable ? '*' : `(${flags.join(' ')})`
  const takes = value === undefined ? '' : `:${escaped(value.name)}:${actionOf(value)}`
  return flags.map((flag) => quoted(`${others}${flag}[${escaped(description)}]${takes}`)).join(' ')
}

const argumentSpec = (argument: ArgumentWords, at: number): string =>
  quoted(`${argument.variadic ? '*' : at + 1}:${escaped(argument.name)}:${actionOf(argument)}`)

const describe = (label: string, words: readonly (readonly [string, string])[]): string =>
  `local -a choices=(${words.map(([word, says]) => quoted(`${escaped(word)}:${escaped(says)}`)).join(' ')})
        _describe ${label} choices`

function commandBranch(command: CommandWords): string {
  const specs = [...command.options.map(optionSpec), ...command.arguments.map(argumentSpec)]
  return `    ${quoted(command.name)})
      _arguments -s ${specs.join(' \\\n        ')}
      ;;`
}

/** Completion of zsh 5. */
export function zshCompletion(commands: readonly CommandWords[]): string {
  const groups = [...groupsOf(commands)]
  const subcommands = groups
    .filter(([word, members]) => isGroup(word, members))
    .map(
      ([word, members]) => `    ${quoted(word)})
      if ((CURRENT == 2)); then
        ${describe(
          'subcommand',
          members.map((member) => [subcommandOf(member), member.summary]),
        )}
        return
      fi
      command="$command $words[2]"
      shift words
      ((CURRENT--))
      ;;`,
    )
  return `#compdef daybook
# Completion of daybook for zsh. In ~/.zshrc, after compinit: eval "$(daybook completion zsh)"
_daybook() {
  if ((CURRENT == 2)); then
        ${describe(
          'command',
          groups.map(([word, members]) => [word, groupSummary(word, members)]),
        )}
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${subcommands.join('\n')}
  esac
  case $command in
${commands.map(commandBranch).join('\n')}
  esac
}
compdef _daybook daybook
`
}
