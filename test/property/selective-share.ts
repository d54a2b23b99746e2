import { AuditLog, type QueryObject } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import fc from 'fast-check'
import { events } from './arbitraries.js'

const LOGS = 40
const QUERIES = 20

/**
 * The share of random queries that return only a part of the events, for logs of random events in the memory store.
 * Queries that return no events or all events prove nothing in a comparison of stores. The seed is fixed, because the
 * few random runs of a comparison can all be unusual. So the share changes only with the random events or queries.
 */
export async function selectiveShare(query: fc.Arbitrary<QueryObject>): Promise<number> {
  const samples = fc.sample(
    fc.tuple(events, fc.array(query, { minLength: QUERIES, maxLength: QUERIES, size: 'max' })),
    { numRuns: LOGS, seed: 42 },
  )
  let selective = 0
  for (const [events, queries] of samples) {
    const store = memoryStore({ clock: manualClock('2026-06-01T00:00:00Z') })
    const audit: AuditLog = new AuditLog({ store, types: {} })
    try {
      await audit.importEvents(events)
      for (const query of queries) {
        const found = (await audit.list(query)).events.length
        if (found > 0 && found < events.length) selective++
      }
    } finally {
      await audit.close()
    }
  }
  return selective / (LOGS * QUERIES)
}
