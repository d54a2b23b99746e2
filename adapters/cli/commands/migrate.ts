import type { Command } from '../call/command.js'

export const migrate: Command = {
  name: 'migrate',
  summary: 'bring the log to the schema of this version',
  description:
    'Creates the tables of a log in an empty database, or changes those of an older version, in one transaction. No other command does so, except import into a new file. Services migrate a log when they open it, unless their store has the option migrate: never. If the module of --config has a ledger, the command creates the tables of the ledger too; from then on only the process that seals removes events.',
  arguments: [],
  options: [{ flags: '--dry-run', description: 'print the SQL, and change nothing' }],
  targets: ['sqlite', 'postgres'],
  examples: [
    { run: 'daybook migrate audit.db --dry-run', says: 'what would run' },
    { run: 'daybook migrate postgres://localhost/app', says: 'run it' },
  ],
  load: () => import('../run/migrate.js'),
}
