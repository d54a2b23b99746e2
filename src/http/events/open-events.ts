import type { AuditEvent } from '../../event/event.js'
import type { EndpointAudit } from './handler.js'

const NONE: ReadonlySet<string> = new Set()

/** Gives the ids of those events that are live and still open, among others. */
export type FindOpenEvents = (events: readonly AuditEvent[]) => Promise<ReadonlySet<string>>

/**
 * Only events of types that the registry calls live are asked for, so that other answers cost nothing
 * more.
 */
export function createOpenEventFinder({
  store,
  types,
}: Pick<EndpointAudit, 'store' | 'types'>): FindOpenEvents {
  const live = new Set(Object.keys(types).filter((type) => types[type]!.live === true))
  return async (events) => {
    if (live.size === 0 || !events.some(({ type }) => live.has(type))) return NONE
    const open = await store.openEvents()
    return new Set(open.map(({ id }) => id))
  }
}
