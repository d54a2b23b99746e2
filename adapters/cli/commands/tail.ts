import type { Command } from '../call/command.js'
import { concealOption, queryOptions } from '../call/query.js'
import { rowOptions } from '../call/rows.js'
import { LEVELS } from '../../../src/event/level.js'

export const tail: Command = {
  name: 'tail',
  summary: 'follow matching events as they are recorded',
  description:
    'Prints each matching event once, in the order in which events become visible, until Ctrl-C. While the log cannot be reached, tail waits and tries again; afterwards it goes on with the event that follows the last one it printed.',
  arguments: [{ name: 'query', description: 'a query string, or an address of the audit page' }],
  options: [
    ...queryOptions,
    concealOption,
    {
      flags: '--since <time>',
      description:
        'begin with the events from this time on: how long ago (30s, 1h30m, 2 hours, 7d), yesterday, 14:00, 2026-11-24 or 2026-11-24T06:00:00Z',
    },
    {
      flags: '--after <created_at>',
      description:
        'begin after the event with this created_at, such as the last one that was printed',
    },
    {
      flags: '--level <level>',
      description: 'only events of this level',
      choices: LEVELS,
      repeatable: true,
    },
    ...rowOptions,
  ],
  targets: ['sqlite', 'postgres', 'http'],
  examples: [
    { run: 'daybook tail audit.db', says: 'new events' },
    {
      run: 'daybook tail audit.db --since 10m --level error --level warn',
      says: 'errors and warnings of the last ten minutes, and new ones',
    },
  ],
  load: () => import('../run/tail.js'),
}
