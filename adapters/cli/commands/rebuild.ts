import type { Command } from '../call/command.js'

export const rebuild: Command = {
  name: 'rebuild',
  summary: 'build the index anew from the events',
  description:
    'Queries use the old index until the new one is complete, and services can record meanwhile. The database needs room for both. Ctrl-C ends the wait; the next process that writes to the log goes on.',
  arguments: [],
  options: [],
  targets: ['sqlite', 'postgres'],
  examples: [
    { run: 'daybook rebuild audit.db', says: 'after daybook verify has found damage in the index' },
  ],
  load: () => import('../run/rebuild.js'),
}
