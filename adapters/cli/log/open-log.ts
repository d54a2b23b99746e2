import type { Terminal } from '../terminal/terminal.js'
import type { OpenLog, OpenOptions } from './log.js'
import type { Target } from './target.js'

/** Opens the log. If it is opened read-only, it is never created or migrated. */
export async function openLog(
  target: Target,
  options: OpenOptions,
  terminal: Terminal,
): Promise<OpenLog> {
  if (target.kind === 'http') {
    const { openHttpLog } = await import('./http-log.js')
    return openHttpLog(target, options, terminal)
  }
  const { openStoredLog } = await import('./stored-log.js')
  return openStoredLog(target, options, terminal)
}
