import type { Command } from '../call/command.js'

export const verify: Command = {
  name: 'verify',
  summary: 'read the whole log, and report damage',
  description:
    'Reads all events, the index and the structures of the database, and prints each damaged place with what depends on it. The exit code is 1 if there is damage. Other processes can use the log meanwhile.',
  arguments: [],
  options: [],
  targets: ['sqlite', 'postgres'],
  examples: [{ run: 'daybook verify audit.db', says: 'read everything' }],
  load: () => import('../run/verify.js'),
}
