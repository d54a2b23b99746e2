import { AuditLog, type EventStore } from 'daybook'
import { manualClock } from 'daybook/testing'
import { expect, it, onTestFinished } from 'vitest'
import { createMemoryStore } from '../../../adapters/memory/memory-store.js'

const SIZE = 300
const QUERIES = [
  'filter[kind_eq]=even&limit=7',
  'filter[kind_eq]=even&filter[sorts]=created_at&limit=7',
  'filter[n_eq]=3',
  'filter[n_eq]=297&filter[sorts]=created_at',
  'filter[n_lt]=20&filter[created_at_lt]=2026-06-01T00:00:02Z&limit=3',
  'filter[n_eq]=none',
]

async function logOf(store: EventStore): Promise<AuditLog> {
  const audit = new AuditLog({ store, types: {} })
  onTestFinished(() => audit.close())
  for (let n = 0; n < SIZE; n++)
    await audit.recordCustom('own', { n, kind: n % 2 === 0 ? 'even' : 'odd' })
  return audit
}

it.each([0, 1, 2, 7, 16])('a probe of %i and the index find what a scan finds', async (probe) => {
  const clock = manualClock('2026-06-01T00:00:00Z')
  const plain = await logOf(createMemoryStore({ clock }, { minIndexed: Infinity, probe }))
  const indexed = await logOf(createMemoryStore({ clock }, { minIndexed: 0, probe }))
  const numbers = async (audit: AuditLog, query: string) => {
    const { events, truncated } = await audit.list(query)
    return [events.map(({ attributes }) => attributes['n']), truncated]
  }
  for (const query of QUERIES)
    expect(await numbers(indexed, query), query).toEqual(await numbers(plain, query))
  const { steps } = await indexed.explain('filter[n_eq]=3')
  expect(steps.map(({ method, checked }) => [method, checked])).toEqual([
    ['probe', probe],
    ['index', 1],
  ])
})

it('the index follows added, changed and removed events', async () => {
  const audit = await logOf(createMemoryStore({}, { minIndexed: 0, probe: 0 }))
  const count = async (kind: string) => {
    const { events } = await audit.list(`filter[kind_eq]=${kind}&limit=1000`)
    return events.length
  }
  expect(await count('odd')).toBe(150)
  await audit.recordCustom('own', { kind: 'odd' })
  expect(await count('odd')).toBe(151)
  const { events } = await audit.list('filter[n_eq]=1')
  await audit.store.remove([events[0]!.id])
  expect(await count('odd')).toBe(150)
  await audit.importEvents([{ ...events[0]!, attributes: { kind: 'even' } }])
  expect([await count('odd'), await count('even')]).toEqual([150, 151])
  await audit.store.removeBefore(Number.MAX_SAFE_INTEGER)
  expect(await count('even')).toBe(0)
})
