import type { Command } from './call/command.js'
import { list } from './commands/list.js'

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [list]
