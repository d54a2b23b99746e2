import type { OpenLog, OpenOptions } from './log.js'
import type { Target } from './target.js'

/** Opens the log. A log that is opened read-only is never created or migrated. */
export async function openLog(target: Target, options: OpenOptions): Promise<OpenLog> {
  if (target.kind === 'http') throw new Error('HTTP feeds cannot be opened yet')
  const { openStoredLog } = await import('./stored-log.js')
  return openStoredLog(target, options)
}
