import type { AuditEvent } from '../../../src/event/event.js'
import { query } from '../data/address.js'
import { listEvents } from '../data/api.js'
import { apiQuery, conditionOn } from '../data/query.js'
import { newestKnown, queryTime } from './loading.js'

const PAGE = 1000

/** The events later than the newest known one, oldest first. */
export async function readNew(): Promise<readonly AuditEvent[]> {
  const found: AuditEvent[] = []
  for (let after = newestKnown(); ; after = found.at(-1)!.created_at) {
    const where = [...query.value.where, conditionOn('created_at', 'gt', [after])]
    const sorts = [{ attribute: 'created_at', direction: 'asc' }] as const
    const text = apiQuery({ ...query.value, where, sorts }, queryTime())
    const { events, truncated } = await listEvents(text, PAGE)
    found.push(...events)
    if (!truncated) return found
  }
}
