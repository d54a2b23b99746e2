import type { Command } from '../call/command.js'

export const stats: Command = {
  name: 'stats',
  summary: 'show how large the log is, and how it is doing',
  description:
    'Shows the number of events, of each level too, the oldest and the newest event, the size on disk, the events that wait for the index, ' +
    'how many calls throttles have suppressed, the runs of cleaning rules, and the subscriptions. The rules of --config also have their ' +
    'next run. A feed does not tell the size on disk, the index and the cleaning rules, and shows the subscriptions that its user may see. ' +
    'Counting ends after a minute, over HTTP after two seconds: a number with >= in front is a lower bound then.\n\n' +
    'With --json it prints one object. Unknown figures are null.',
  arguments: [],
  options: [],
  targets: ['sqlite', 'postgres', 'http'],
  examples: [
    { run: 'daybook stats audit.db', says: 'the figures of a file' },
    {
      run: 'daybook stats https://shop.example/api/events --json',
      says: 'those that a service gives, for a program',
    },
  ],
  load: () => import('../run/stats.js'),
}
