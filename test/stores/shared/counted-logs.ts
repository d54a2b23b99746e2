import {
  AuditLog,
  type AuditEvent,
  type CountOptions,
  type EventCounts,
  formatTimestamp,
  parseTimestamp,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import { expect } from 'vitest'
import type { JsonValue } from '../../../src/event/event.js'

/* The same events in memory and in a store whose index counts. Both must have the same counts for all queries. */

export const SIZE = 1000
export const FIRST = parseTimestamp('2026-01-01')!
export const MINUTE = 60_000_000
export const TUNING = { segmentSize: 128, fanOut: 4 }

const TYPES = ['error:a:b', 'Error:c:d', 'warn:a:b', 'api:a:b', 'own', 'x'.repeat(255)]
const USERS = [null, 'ann', 'Ann', 'bob', 'ü', '']
const KINDS = ['a', 'b', true, 4, null, '']
const STEPS: readonly JsonValue[] = [
  7,
  '7',
  true,
  null,
  ['x', 'x', ['y']],
  { id: 'deep' },
  'ŻÓŁW',
  [],
  1e21,
]

const elementOf = <Element>(list: readonly Element[], index: number): Element =>
  list[index % list.length]!

/** An event `n` minutes after the first, or `shift` microseconds later. */
const eventAt = (n: number, shift: number): AuditEvent => ({
  id: `00000000-0000-4000-8000-${String(n * 10 + shift).padStart(12, '0')}`,
  created_at: formatTimestamp(FIRST + n * MINUTE + shift),
  type: elementOf(TYPES, n * 7 + (n >> 5)),
  username: elementOf(USERS, n * 11),
  system: n % 3 === 0,
  source: null,
  attributes: {
    n,
    kind: elementOf(KINDS, n * 5),
    list: [n % 4, [n % 3], { code: n % 7 }],
    step: elementOf(STEPS, n),
    text: n === 850 ? 'x'.repeat(600) : `text ${n % 9}`,
    ...(n % 11 === 0 && { rare: `r${n % 5}` }),
  },
})

export const eventsAt = (from: number, to: number, shift = 0): AuditEvent[] =>
  Array.from({ length: to - from }, (_, i) => eventAt(from + i, shift))

const between = (from: number, to: number): string =>
  `filter[created_at_gteq]=${formatTimestamp(FIRST + from * MINUTE)}&filter[created_at_lt]=${formatTimestamp(FIRST + to * MINUTE)}`

type CountQuery = readonly [filter: string, options: CountOptions]

/** Queries for which no store reads an event if all events are in segments. */
export const INDEXED: readonly CountQuery[] = [
  ['', {}],
  ['', { buckets: { count: 40 }, facets: ['level', 'type', 'username', 'system'], top: 1000 }],
  ['', { facets: ['kind', 'step', 'step_id', 'rare', 'n', 'none'], top: 1000 }],
  [between(300, 911), { buckets: { count: 200 }, facets: ['username', 'rare'] }],
  [between(700, 701), { facets: ['type', 'username'] }],
  [between(999, 5000), { facets: ['type'] }],
  ['filter[type_start]=error:', { buckets: { count: 7 }, facets: ['level', 'type', 'step'] }],
  ['filter[type_not_eq]=own&filter[username_cont]=N', { facets: ['type', 'username', 'system'] }],
  ['filter[type_not_eq]=own&filter[n_gteq]=40', { facets: ['type', 'n', 'step'] }],
  [`filter[username_cont]=nn&${between(100, 950)}`, { facets: ['username', 'level'] }],
  ['filter[username_null]=1&filter[system_not_eq]=0', { buckets: { count: 9 } }],
  ['filter[step_not_null]=1&filter[rare_blank]=1', { facets: ['rare', 'step'], top: 3 }],
  [
    `filter[list_code_gt]=3&filter[list_not_eq]=2&${between(100, 950)}`,
    { buckets: { count: 30 }, facets: ['type', 'list_code', 'system'] },
  ],
  ['filter[kind_null]=1', { facets: ['kind', 'list'] }],
]

/** Queries that the index cannot count, or whose events a store may find by values and read. */
export const OTHERS: readonly CountQuery[] = [
  [`filter[username_eq]=ann&${between(100, 950)}`, { facets: ['username', 'level'] }],
  ['filter[username_null]=1&filter[system_true]=1', { buckets: { count: 9 } }],
  ['filter[type_eq]=none', { buckets: { count: 5 }, facets: ['type'] }],
  ['filter[kind_eq]=a', { buckets: { count: 40 }, facets: ['level', 'kind', 'list', 'username'] }],
  [
    'filter[kind_or_username_eq]=ann&filter[type_start]=error:&filter[username_eq]=ann',
    { facets: ['level', 'username', 'kind'] },
  ],
  ['filter[kind_present]=1', { buckets: { count: 3 }, facets: ['text'] }],
  ['filter[text_cont]=T+3', { facets: ['kind'] }],
  ['filter[source_null]=1&filter[kind_eq]=b', { facets: ['list'] }],
  ['filter[kind_eq]=b', { facets: ['list', 'source'], attributes: true }],
]

export const QUERIES: readonly CountQuery[] = [...INDEXED, ...OTHERS]

/** Queries of each kind, for states of a log that affect all kinds. */
const SOME = QUERIES.filter((_, i) => i % 2 === 0)

export const untimed = (counts: EventCounts): EventCounts => ({ ...counts, took_ms: 0 })

type Count = (filter: string, options: CountOptions) => Promise<EventCounts>

export const clock = manualClock('2026-01-05T00:00:00Z')

/** So that a log of some hundred events has more segments than are searched together. */
export const SMALL_TUNING = { segmentSize: 16, fanOut: 64 }

/** Counts a new log, in which segments of later events cover an open live event. */
export async function expectOpenCounted(
  audit: AuditLog<{ 'info:a:b': {} }>,
  seal: () => Promise<void>,
  count: Count,
): Promise<void> {
  const live = await audit.recordLive('info:a:b', {})
  for (let n = 0; n < 320; n++) await audit.recordCustom('own', { n, part: n % 16 })
  await seal()
  const expectTotals = async (): Promise<void> => {
    expect(await count('', {})).toMatchObject({ total: 321, exact: { total: true } })
    // The events of a value are read, and are in every segment.
    expect(await count('filter[part_eq]=3', {})).toMatchObject({ total: 20 })
  }
  await expectTotals()
  await live.close()
  await expectTotals()
}

/** `stored` is the log in the store, and `count` counts there, by the index even if it has few events. */
export function countedLogs(stored: () => AuditLog<{ 'info:a:b': {} }>, count: Count) {
  const memory: AuditLog = new AuditLog({ store: memoryStore({ clock }), types: {} })
  const inBoth = async (act: (audit: Pick<AuditLog, 'importEvents' | 'store'>) => unknown) => {
    for (const audit of [memory, stored()]) await act(audit)
  }
  return {
    memory,
    inBoth,
    importInBoth: (events: readonly AuditEvent[]) => inBoth((audit) => audit.importEvents(events)),
    removeInBoth: (events: readonly AuditEvent[]) =>
      inBoth((audit) => audit.store.remove(events.map(({ id }) => id))),

    /** Compares counts with those of the memory store. */
    async expectAgreement(queries: readonly CountQuery[] = SOME, counting = count): Promise<void> {
      for (const [filter, given] of queries) {
        const options = { within: 60_000, ...given }
        expect(untimed(await counting(filter, options)), JSON.stringify([filter, options])).toEqual(
          untimed(await memory.count(filter, options)),
        )
      }
    },

    /** Checks that a live event counts once, while it is open and after it was closed. */
    async expectLiveCounted(): Promise<void> {
      const total = async (): Promise<number> => (await count('', {})).total
      const before = await total()
      const live = await stored().recordLive('info:a:b', {})
      expect(await total()).toBe(before + 1)
      await live.close()
      expect(await total()).toBe(before + 1)
      await stored().store.remove([live.event!.id])
    },
  }
}
