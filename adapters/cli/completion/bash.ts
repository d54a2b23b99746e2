import { type CommandWords, groupsOf, isGroup, quoted, subcommandOf } from './words.js'

/* https://www.gnu.org/software/bash/manual/html_node/Programmable-Completion.html */

const offer = (words: readonly string[]): string =>
  `COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$current"))`

const branch = (patterns: readonly string[], run: string): string =>
  `    ${patterns.map(quoted).join(' | ')}) ${run} ;;`

/** A branch for each option whose value is one of some words, and for each command with such an argument. */
function valueBranches({ name, options }: CommandWords): string[] {
  return options.flatMap(({ long, short, value }) => {
    if (value?.kind !== 'words') return []
    const flags = [long, ...(short === undefined ? [] : [short])]
    return [
      branch(
        flags.map((flag) => `${name} ${flag}`),
        `${offer(value.words)}; return`,
      ),
    ]
  })
}

function commandBranch({ name, options, arguments: [first] }: CommandWords): string {
  const flags = options.flatMap(({ long, short }) => (short === undefined ? [long] : [short, long]))
  const words = first?.kind === 'words' ? `else ${offer(first.words)}; ` : ''
  return branch([name], `if [[ $current == -* ]]; then ${offer(flags)}; ${words}fi`)
}

/** Completion of bash 3.2 and later. Where it has no words, bash offers files. */
export function bashCompletion(commands: readonly CommandWords[]): string {
  const groups = [...groupsOf(commands)]
  const subcommands = groups
    .filter(([word, members]) => isGroup(word, members))
    .map(
      ([word, members]) => `    ${quoted(word)})
      if ((COMP_CWORD == 2)); then
        ${offer(members.map(subcommandOf))}
        return
      fi
      command="$command \${COMP_WORDS[2]}"
      ;;`,
    )
  return `# Completion of daybook for bash. In ~/.bashrc: eval "$(daybook completion bash)"
_daybook() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local command=\${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    ${offer(groups.map(([word]) => word))}
    return
  fi
  case $command in
${subcommands.join('\n')}
  esac
  case "$command $previous" in
${commands.flatMap(valueBranches).join('\n')}
  esac
  case $command in
${commands.map(commandBranch).join('\n')}
  esac
}
complete -o default -F _daybook daybook
`
}
