import type { Command } from '../call/command.js'
import { concealOption, queryOptions, rangeOptions } from '../call/query.js'
import { utcOption } from '../call/times.js'

export const count: Command = {
  name: 'count',
  summary: 'count the matching events',
  description:
    'Counts all matching events, whatever limit the query has. After a minute the number is a lower bound: it then has the prefix >=, and the exit code is 1.',
  arguments: [{ name: 'query', description: 'a query string, or an address of the audit page' }],
  options: [
    ...queryOptions,
    concealOption,
    ...rangeOptions,
    utcOption,
    {
      flags: '--by <attribute>',
      description: 'also count each of the most frequent values: type, level, username',
    },
    { flags: '--top <n>', description: 'the number of these values, 1 to 1000', default: '20' },
  ],
  targets: ['sqlite', 'postgres', 'http'],
  examples: [
    { run: 'daybook count audit.db --filter type_start=error:', says: 'the number of errors' },
    {
      run: 'daybook count audit.db --since yesterday --until today',
      says: 'the number of events of yesterday',
    },
    { run: 'daybook count audit.db --by username', says: 'the number of events of each user' },
  ],
  load: () => import('../run/count.js'),
}
