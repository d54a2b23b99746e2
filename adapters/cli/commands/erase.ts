import type { Argument, Command } from '../call/command.js'

/** A person on the command line. */
export const SUBJECT: Argument = {
  name: 'subject',
  description: 'a person as <kind>=<id>, such as customer=c17',
}

export const erase: Command = {
  name: 'erase',
  summary: 'erase the data of a person, or whole events',
  description:
    'Destroys the key of a person, so that personal values of all events are unreadable. The log and the keys are those of the module of --config. With --ids, removes whole events instead; if the log has a ledger, the module needs its signer, and no other process may seal the log. Both are recorded in the log, and refused if a hold of the module keeps one of the events. Without --yes, or with --dry-run, it only shows what it would erase. Erasures that another process has begun are ended as soon as the log is opened.',
  arguments: [SUBJECT],
  options: [
    {
      flags: '--ids <ids>',
      description: 'the ids of events, separated by commas',
      repeatable: true,
      read: (text) => text.split(',').map((id) => id.trim()),
    },
    { flags: '--reason <text>', description: 'the reason, which the event of the erasure keeps' },
    { flags: '--username <user>', description: 'the user who erases' },
    { flags: '--yes', description: 'erase' },
    { flags: '--dry-run', description: 'show what would be erased, as without --yes' },
  ],
  targets: ['sqlite', 'postgres'],
  examples: [
    {
      run: 'daybook erase audit.db customer=c17 --config audit.config.js',
      says: 'how many events have data of a person',
    },
    {
      run: "daybook erase audit.db customer=c17 --config audit.config.js --reason 'request 4711' --username dpo --yes",
      says: 'erase it',
    },
  ],
  load: () => import('../run/erase.js'),
}
