import type { AuditEvent } from '../../event/event.js'
import type { ReadOptions } from '../../store/store.js'
import type { EndpointAudit } from './handler.js'

const NONE: ReadonlySet<string> = new Set()

/** Returns the ids of all open live events, if the given events may include one; else an empty set, at once. */
export type FindOpenEvents = (
  events: readonly AuditEvent[],
  options?: ReadOptions,
) => ReadonlySet<string> | Promise<ReadonlySet<string>>

/** Queries the store only if there are events of live types, so that other responses cost no query. */
export function createOpenEventFinder({
  store,
  types,
}: Pick<EndpointAudit, 'store' | 'types'>): FindOpenEvents {
  const live = new Set(Object.keys(types).filter((type) => types[type]!.live === true))
  const read = async (options: ReadOptions | undefined): Promise<ReadonlySet<string>> => {
    const open = await store.openEvents(options)
    return new Set(open.map(({ id }) => id))
  }
  return (events, options) =>
    live.size > 0 && events.some(({ type }) => live.has(type)) ? read(options) : NONE
}
