import type { Command } from '../call/command.js'
import { concealOption, limitOption, queryOptions, rangeOptions } from '../call/query.js'
import { rowOptions } from '../call/rows.js'

export const list: Command = {
  name: 'list',
  summary: 'show the newest matching events',
  description:
    'Shows matching events, the newest last. With filter[sorts][] the query chooses the order, and the first events in it are shown.',
  arguments: [
    {
      name: 'query',
      description:
        "a query string, such as 'filter[type_start]=error:', or an address of the audit page",
    },
  ],
  options: [...queryOptions, concealOption, ...rangeOptions, limitOption, ...rowOptions],
  targets: ['sqlite', 'postgres', 'http'],
  examples: [
    { run: 'daybook list audit.db', says: 'the newest ten events' },
    {
      run: 'daybook list audit.db --filter type_start=error: --limit 50',
      says: 'the newest fifty errors',
    },
    { run: 'daybook list audit.db --since 2h', says: 'the newest ten of the last two hours' },
    {
      run: "daybook list audit.db 'filter[username_eq]=ann' --json",
      says: 'what ann did, as lines of JSON',
    },
  ],
  load: () => import('../run/list.js'),
}
