import type { Command } from './call/command.js'
import { count } from './commands/count.js'
import { exportCommand } from './commands/export.js'
import { get } from './commands/get.js'
import { list } from './commands/list.js'
import { tail } from './commands/tail.js'

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [list, get, count, tail, exportCommand]
