import type { Command } from '../call/command.js'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** The command that prints the completion of these commands and of itself. */
export function completionOf(commands: readonly Command[]): Command {
  const command: Command = {
    name: 'completion',
    summary: 'print the completion of a shell',
    description:
      'Prints a script that lets the shell complete commands, options and their values. It needs daybook on the PATH, as after npm install --global daybook.',
    arguments: [{ name: 'shell', description: SHELLS.join(', '), required: true, choices: SHELLS }],
    options: [],
    targets: [],
    examples: [
      { run: 'eval "$(daybook completion bash)"', says: 'in ~/.bashrc' },
      { run: 'eval "$(daybook completion zsh)"', says: 'in ~/.zshrc, after compinit' },
      { run: 'daybook completion fish | source', says: 'in ~/.config/fish/config.fish' },
    ],
    async load() {
      const { printCompletion } = await import('../run/completion.js')
      return { run: (call) => printCompletion([...commands, command], call) }
    },
  }
  return command
}
