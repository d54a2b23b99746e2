import type { Call } from '../call/command.js'
import { pendingMigrations } from '../log/stored-log.js'
import { CommandError } from '../terminal/exit-codes.js'
import { showElapsed } from '../terminal/progress.js'
import { write } from '../terminal/terminal.js'

export async function run(call: Call): Promise<void> {
  const { options, terminal } = call
  const { version, latest, ledger, ...pending } = await pendingMigrations(call.target)
  const beginsLedger = call.config?.ledger !== undefined && ledger !== undefined
  const sql = beginsLedger ? [...pending.sql, ledger] : pending.sql
  if (version > latest)
    throw new CommandError(
      'failed',
      `the log has schema version ${version}; this version of daybook knows ${latest}: update daybook`,
    )
  const isDry = options['dryRun'] === true
  if (!isDry && sql.length > 0) {
    const elapsed = showElapsed(terminal, 'migrating')
    const migrated = call.openLog({ readOnly: false, migrate: true })
    const { audit } = await migrated.finally(() => elapsed.stop())
    if (beginsLedger) await audit!.store.ledger!.begin(Infinity)
  }
  if (options['json']) {
    const result = {
      from: version,
      to: latest,
      ...(beginsLedger && { ledger: true }),
      ...(isDry && { sql }),
    }
    return write(terminal.stdout, `${JSON.stringify(result)}\n`)
  }
  if (isDry) return write(terminal.stdout, sql.map((text) => `${text.trim()}\n`).join('\n'))
  const steps = [
    ...(pending.sql.length > 0 ? [`version ${version} to ${latest}`] : []),
    ...(beginsLedger ? ['the log has a ledger now'] : []),
  ]
  const text = steps.length > 0 ? steps.join('; ') : `version ${latest}: nothing to do`
  return write(terminal.stdout, `${text}\n`)
}
