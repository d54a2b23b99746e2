import type { Command } from '../call/command.js'
import { keyOption } from '../call/options.js'

export const verify: Command = {
  name: 'verify',
  summary: 'read the whole log, and report damage or tampering',
  description:
    'Reads all events, the index and the structures of the database, and prints each damaged place with what depends on it. The exit code is 1 if there is damage. Other processes can use the log meanwhile. With --ledger it compares every event with its leaf in the ledger, and the ledger with signed heads that were kept elsewhere. The exit code is then 0 if the log is as it was sealed, 1 if it was changed, and 2 if no head from outside was given or nothing could be compared.',
  arguments: [],
  options: [
    { flags: '--ledger', description: 'compare the events with the ledger' },
    {
      flags: '--head <file>',
      description:
        'a signed head that was kept outside of the database; may be repeated. Without it, the note beside the key of --config',
      repeatable: true,
    },
    keyOption,
    {
      flags: '--since <time>',
      description: 'compare only events from this created_at on',
    },
  ],
  targets: ['sqlite', 'postgres'],
  examples: [
    { run: 'daybook verify audit.db', says: 'read everything' },
    {
      run: 'daybook verify audit.db --ledger --key "$VKEY" --head monday.note',
      says: 'compare the log with a head that was kept elsewhere',
    },
  ],
  load: () => import('../run/verify.js'),
}
