import { setTimeout as delay } from 'node:timers/promises'
import { type AuditEvent, AuditLog, type EventStore, parseQuery } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it } from 'vitest'
import { bothOf, type Grouping, oneCondition } from '../../../../src/filter/ast.js'
import { compileFilter } from '../../../../src/filter/evaluate.js'
import { createBroadcast } from '../../../../src/http/stream/broadcast.js'
import { createSharedTail } from '../../../../src/tail/shared-tail.js'
import { randomOf } from '../../../support/random.js'

/** Serves lists from copies of the log. Some of them lag behind, as replicas do. */
function replicated(store: EventStore, random: () => number): EventStore {
  const horizons: string[] = []
  return {
    ...store,
    async list(query, options) {
      const page = await store.list({ where: undefined, sorts: [], limit: 1 }, options)
      const newest = page.events[0]?.created_at
      if (newest !== undefined && newest !== horizons.at(-1)) horizons.push(newest)
      const behind = random() < 0.3 ? Math.floor(random() * 20) : 0
      const horizon = horizons.at(-1 - behind)
      if (horizon === undefined) return store.list(query, options)
      const where = bothOf(query.where, oneCondition('created_at', 'lteq', [horizon]))
      return store.list({ ...query, where }, options)
    },
  }
}

const FILTERS = [
  '',
  '',
  'filter[n_end]=7',
  'filter[type_eq]=b',
  'filter[type_eq]=nothing',
  'filter[m]=or&filter[type_eq]=a&filter[n_gt]=300',
]

const eitherOf = (...groupings: Grouping[]): Grouping => ({
  combinator: 'or',
  conditions: [],
  groupings,
})

const EVENTS = 600

async function follow(
  seed: number,
  change: (store: EventStore, random: () => number) => EventStore,
): Promise<void> {
  const random = randomOf(seed)
  const store = memoryStore()
  await using audit: AuditLog = new AuditLog({ store, types: {} })
  const shared = createSharedTail(change(store, random), { maxEvents: 7, batchBytes: 500 })
  const broadcast = createBroadcast(shared, ({ id }) => id)
  let recorded = 0
  const all: AuditEvent[] = []
  const write = async (): Promise<void> => {
    while (recorded < EVENTS) {
      const burst = Math.ceil(random() * 20)
      const calls = Array.from({ length: burst }, () =>
        audit.recordCustom(random() < 0.5 ? 'a' : 'b', { n: String(recorded++) }),
      )
      all.push(...(await Promise.all(calls)).map((event) => event!))
      await delay(random() * 4)
    }
  }

  /** Reads slowly, leaves at random and comes back. */
  const read = async (query: string): Promise<void> => {
    await delay(random() * 60)
    const filter = parseQuery(query).where
    const wanted = filter && eitherOf(filter, oneCondition('type', 'eq', ['end']))
    const matches = compileFilter(wanted)
    const seen: AuditEvent[] = []
    let firstNumber: number | undefined
    let after: string | undefined
    while (seen.at(-1)?.type !== 'end') {
      const stop = new AbortController()
      const view = { key: query, where: wanted, matches }
      const chunks = await broadcast.read(view, { after, signal: stop.signal })
      firstNumber ??= recorded
      // The reader resumes after the last event that it has seen.
      for (let left = Math.ceil(random() * 12); left > 0; left--) {
        const { value } = await chunks.next()
        seen.push(...value!.events)
        expect(Buffer.from(value!.bytes).toString()).toBe(
          value!.events.map(({ id }) => id).join(''),
        )
        if (seen.at(-1)!.type === 'end') break
        if (random() < 0.3) await delay(random() * 15)
      }
      stop.abort()
      after = seen.at(-1)!.created_at
    }
    const expected = all
      .filter((event) => matches(event))
      .toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))
    const numbers = (events: readonly AuditEvent[]): unknown[] =>
      events.map(({ attributes }) => attributes['n'])
    // No event is missing, from the start of the reader on.
    expect(numbers(seen)).toEqual(numbers(expected.slice(-seen.length)))
    const missed = expected.slice(0, -seen.length)
    expect(missed.filter(({ attributes }) => Number(attributes['n']) >= firstNumber!)).toEqual([])
  }

  const reading = Array.from({ length: 24 }, (_, i) => read(FILTERS[i % FILTERS.length]!))
  await write()
  all.push((await audit.recordCustom('end', { n: '-' }))!)
  await Promise.all(reading)
}

describe('readers of a broadcast that are slow, leave and come back', () => {
  it('see every event once and in order', () => follow(1, (store) => store))

  it('see every event once even if the store reads from lagging replicas', () =>
    follow(2, replicated))
})
