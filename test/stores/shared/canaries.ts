import { AuditLog, type AuditEvent, type EventStore } from 'daybook'
import { expect } from 'vitest'
import { imported } from '../../../src/testing/conformance/helpers.js'
import { canary } from '../../support/scan-files.js'

/** Events with random words in every place that a caller can write to, half of which are removed. */
export interface Canaries {
  readonly removed: readonly string[]
  readonly kept: readonly string[]
  /** A name of an attribute among the words of `removed`. */
  readonly name: string
  /** The ids of the events with the words of `removed`. */
  readonly ids: readonly string[]
  /** Queries that find one event each, among those that stay. */
  readonly queries: readonly string[]
}

const TYPES = {
  'own:throttled': { throttle: { period: { days: 1 }, scope: ['who'] }, data: ['who'] },
  'own:live': {},
} as const

export const canaryLog = (store: EventStore): AuditLog<typeof TYPES> =>
  new AuditLog({ store, types: TYPES })

type Log = AuditLog<typeof TYPES>

interface Planted {
  readonly words: readonly string[]
  readonly event: AuditEvent
  readonly query: string
}

/** Each one plants a word. */
const PLANTS: readonly ((log: Log, word: string) => Promise<AuditEvent | undefined>)[] = [
  (log, word) => log.recordCustom('own:value', { value: word }),
  (log, word) => log.recordCustom('own:value', { value: `in a text ${word} of words` }),
  (log, word) => log.recordCustom('own:nested', { a: { b: [{ c: word }] } }),
  (log, word) => log.recordCustom('own:name', { [word]: 'value of the name' }),
  (log, word) => log.recordCustom('own:name', { a: { [`x_${word}`]: { y: 1 } } }),
  (log, word) => log.recordCustom('own:long', { long: `${word} ${'and so on '.repeat(2000)}` }),
  (log, word) => log.recordCustom('own:key', { value: word }, { idempotencyKey: word }),
  (log, word) => log.recordCustom(`own:${word}`, {}),
  (log, word) => log.record('own:throttled', { who: word }),
  (log, word) => log.recordCustom('own:user', {}, { username: word }),
  (log, word) => log.recordSystem('own:source', {}, { source: `/api/${word}` }),
  async (log, word) => {
    const live = await log.recordLive('own:live', { text: 'begun' })
    await live.append('text', ` ${word}`)
    return live.close()
  },
]

/** The plant of a name of an attribute. */
const NAME = 3

/** The query that finds the words of a plant. */
const queryOf = (plant: number, word: string): string => {
  if (plant === NAME) return `filter[${word}_not_null]=1`
  if (plant === 4) return `filter[a_x_${word}_y_eq]=1`
  return `q=${word}`
}

/** Plants the words, in rounds, so that segments and pages have both kinds of events. */
export async function plantCanaries(log: Log, rounds: number): Promise<Canaries> {
  const kinds: Record<'removed' | 'kept', Planted[]> = { removed: [], kept: [] }
  for (let round = 0; round < rounds; round++)
    for (const kind of ['removed', 'kept'] as const)
      for (const [i, plant] of PLANTS.entries()) {
        const word = canary()
        const event = await plant(log, word)
        kinds[kind].push({ words: [word], event: event!, query: queryOf(i, word) })
      }
  for (const [n, kind] of (['removed', 'kept'] as const).entries()) {
    const word = canary()
    const event = imported({
      id: `0196b3c2-0000-4000-8000-00000000000${n}`,
      created_at: `2025-05-01T10:00:00.00000${n}Z`,
      attributes: { legacy: word },
    })
    await log.importEvents([event])
    kinds[kind].push({ words: [word], event, query: `q=${word}` })
  }
  const wordsOf = (kind: 'removed' | 'kept') => kinds[kind].flatMap(({ words }) => words)
  return {
    removed: wordsOf('removed'),
    name: wordsOf('removed')[NAME]!,
    kept: wordsOf('kept'),
    ids: kinds.removed.map(({ event }) => event.id),
    queries: kinds.kept.map(({ query }) => query),
  }
}

/** Expects a name that was forgotten to be found in a new event, before and after it is in the index. */
export async function expectNameAgain(
  log: Log,
  { name }: Canaries,
  settled: () => Promise<void>,
): Promise<void> {
  for (let n = 0; n < 20; n++) await log.recordCustom('own:again', { [name]: n })
  for (const indexed of [false, true]) {
    if (indexed) await settled()
    const { events } = await log.list(`filter[${name}_eq]=7`)
    expect(events).toHaveLength(1)
  }
}

/** Expects each of the events that stay to be found, and no other one. */
export async function expectKept(log: Log, { queries, removed, kept }: Canaries): Promise<void> {
  for (const query of queries) {
    const { events } = await log.list(query)
    expect(events, query).toHaveLength(1)
  }
  const { events } = await log.list({ limit: 1000 })
  const all = JSON.stringify(events)
  expect(kept.filter((word) => !all.includes(word))).toEqual([])
  expect(removed.filter((word) => all.includes(word))).toEqual([])
}
