import type { AuditEvent } from '../../event.js'
import type { EndpointAudit } from './handler.js'

const NONE: ReadonlySet<string> = new Set()

/**
 * The ids of those events that are live and still open. Only those of types that the registry calls
 * live are asked for, so that other answers cost nothing more.
 */
export async function openAmong(
  { store, types }: Pick<EndpointAudit, 'store' | 'types'>,
  events: readonly AuditEvent[],
): Promise<ReadonlySet<string>> {
  const isLive = ({ type }: AuditEvent): boolean =>
    Object.hasOwn(types, type) && types[type]!.live === true
  if (!events.some(isLive)) return NONE
  const open = await store.openEvents()
  return new Set(open.map(({ id }) => id))
}
