import type { Call } from '../call/command.js'
import { pendingMigrations } from '../log/stored-log.js'
import { CommandError } from '../terminal/exit-codes.js'
import { showElapsed } from '../terminal/progress.js'
import { write } from '../terminal/terminal.js'

export async function run(call: Call): Promise<void> {
  const { options, terminal } = call
  const { version, latest, sql } = await pendingMigrations(call.target)
  if (version > latest)
    throw new CommandError(
      'failed',
      `the log has schema version ${version}; this version of daybook knows ${latest}: update daybook`,
    )
  const isDry = options['dryRun'] === true
  if (!isDry && sql.length > 0) {
    const elapsed = showElapsed(terminal, 'migrating')
    await call.openLog({ readOnly: false, migrate: true }).finally(() => elapsed.stop())
  }
  if (options['json']) {
    const result = { from: version, to: latest, ...(isDry && { sql }) }
    return write(terminal.stdout, `${JSON.stringify(result)}\n`)
  }
  if (isDry) return write(terminal.stdout, sql.map((text) => `${text.trim()}\n`).join('\n'))
  const text =
    sql.length === 0 ? `version ${latest}: nothing to do` : `version ${version} to ${latest}`
  return write(terminal.stdout, `${text}\n`)
}
