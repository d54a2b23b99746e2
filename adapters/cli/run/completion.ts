import type { Call, Command } from '../call/command.js'
import { bashCompletion } from '../completion/bash.js'
import { fishCompletion } from '../completion/fish.js'
import { type CommandWords, readWords } from '../completion/words.js'
import { zshCompletion } from '../completion/zsh.js'
import { write } from '../terminal/terminal.js'

const scripts: Readonly<Record<string, (commands: readonly CommandWords[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

export async function printCompletion(
  commands: readonly Command[],
  { arguments: { shell }, terminal }: Call,
): Promise<void> {
  await write(terminal.stdout, scripts[shell as string]!(readWords(commands)))
}
