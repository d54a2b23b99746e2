import { AuditLog, formatTimestamp } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { DAYS } from './large-log.js'
import { measureStatements, type ServerTimes, withClient } from './large-figures.js'

/* What the server takes to plan the statements of calls. */

const CALLS = 20

/** Lists without a filter, a list by an attribute that no event has, a total, a recorded event. */
export const PLANNED = ['newest 10', 'oldest 10', 'eq, no match', 'total', '`record()`'] as const

export type Plans = Readonly<Record<(typeof PLANNED)[number], ServerTimes>>

/** Of a log that has the events of a day as its newest. The first calls of each kind are not measured. */
export async function measurePlans(url: string): Promise<Plans> {
  const audit = new AuditLog({ store: postgresStore({ connectionString: url }), types: {} })
  const calls: { readonly [name in keyof Plans]: () => Promise<unknown> } = {
    'newest 10': () => audit.list('limit=10'),
    'oldest 10': () => audit.list('limit=10&filter[sorts]=created_at'),
    'eq, no match': () => audit.list('filter[no_such_attribute_eq]=1&limit=10'),
    total: () => audit.count(),
    '`record()`': () => audit.recordCustom('planned'),
  }
  const plans: Partial<Record<keyof Plans, ServerTimes>> = {}
  for (const name of PLANNED) {
    await calls[name]()
    plans[name] = await measureStatements(url, CALLS, calls[name])
  }
  await audit.close()
  return plans as Plans
}

/** Makes a log with a partition for each of many days that has no events, or without partitions. */
export async function makeEmptyLog(url: string, partitions: 'day' | 'none'): Promise<void> {
  const store = postgresStore({ connectionString: url, partitions })
  const audit = new AuditLog({ store, types: {} })
  const day = 86_400_000_000
  const today = Math.floor((Date.now() * 1000) / day) * day
  const events = Array.from({ length: partitions === 'day' ? DAYS : 1 }, (_, i) => ({
    id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
    created_at: formatTimestamp(today - (i + 1) * day),
    type: 'old',
    username: null,
    system: true,
    source: null,
    attributes: {},
  }))
  await audit.importEvents(events)
  await store.remove(events.map(({ id }) => id))
  await audit.close()
  await withClient(url, (client) => client.query('VACUUM (ANALYZE)'))
}
