import { CommanderError } from 'commander'
import { shortText } from '../../src/describing/visible-text.js'
import { AuditLogError } from '../../src/errors.js'
import { CommandError, type Exit, exitCodes, exitOf, messageOf } from './terminal/exit-codes.js'
import { painter } from './terminal/style.js'
import type { Terminal } from './terminal/terminal.js'

/** Limit in characters. Messages repeat the user's input, which may be long. */
const MAX_MESSAGE = 1000

interface Reported {
  readonly exit: Exit
  readonly message: string
  readonly suggestion?: string | undefined
}

function read(error: unknown): Reported {
  if (error instanceof CommanderError) {
    if (error.code === 'commander.help')
      return { exit: 'usage', message: 'a command is missing; --help lists the commands' }
    // "error: unknown command 'lst'\n(Did you mean list?)"
    const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
    const suggestion = /\(Did you mean (?:one of )?(.*)\?\)/.exec(rest.join(' '))?.[1]
    return { exit: 'usage', message: first, suggestion }
  }
  const suggestion =
    error instanceof CommandError || error instanceof AuditLogError ? error.suggestion : undefined
  return { exit: exitOf(error), message: messageOf(error), suggestion }
}

/** Prints the error to stderr, as JSON or as a sentence, and returns the exit code. */
export function reportError(error: unknown, asJson: boolean, { stderr, env }: Terminal): number {
  const { exit, message, suggestion } = read(error)
  const text = shortText(message, MAX_MESSAGE)
  if (asJson) {
    stderr.write(`${JSON.stringify({ error: { exit, message: text, suggestion } })}\n`)
  } else {
    const hint =
      suggestion === undefined || text.includes('did you mean')
        ? ''
        : `; did you mean ${suggestion}?`
    stderr.write(`${painter(stderr, env)('red', 'error')}: ${text}${hint}\n`)
  }
  return exitCodes[exit][0]
}
