import { eventsOf } from '../event/event-of-log.js'
import type { EventQuery } from '../filter/ast.js'
import { groupEvents } from '../grouping/groups.js'
import type { CountsQuery } from '../store/counts.js'
import type { EventGroups, GroupsQuery } from '../store/groups.js'
import type { ListOptions, ReadOptions } from '../store/store.js'
import { countAcross, type CountsContext } from './count-across.js'
import { listAcross } from './list-across.js'
import { pagesAcross } from './pages-across.js'
import type { LogsUntilOptions } from './range.js'

/** Groups the events of several logs as the events of one log. */
export function groupsAcross(
  context: CountsContext,
  query: GroupsQuery,
  options: LogsUntilOptions,
): Promise<EventGroups> {
  const logs = {
    async list(wanted: EventQuery, reading: ListOptions) {
      const { events, truncated } = await listAcross(context, wanted, { ...options, ...reading })
      return { events: eventsOf(events), truncated }
    },
    async *pages(wanted: EventQuery, reading: ListOptions) {
      for await (const page of pagesAcross(context, wanted, { ...options, ...reading }))
        yield eventsOf(page)
    },
    count: (wanted: CountsQuery, reading: ReadOptions) =>
      countAcross(context, wanted, { ...options, ...reading }),
  }
  return groupEvents(logs, query, { signal: options.signal })
}
