import { AuditLog, type QueryObject } from 'daybook'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EventPlace, eachStore } from '../../support/event-stores.js'
import { turnsDuring } from '../../support/turns.js'

const many = (count: number, text: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => text(i))

/** Filters without matches that take long for a long text. */
const SLOW: readonly (readonly [title: string, filter: QueryObject['filter']])[] = [
  ['many patterns', { text_matches_any: many(300, (i) => `%${i}x_y%z`) }],
  ['many conditions', { m: 'or', g: many(200, (i) => ({ text_cont: `b${i}` }) as never) as never }],
  ['a long pattern', { text_matches: `%${'_'.repeat(400)}${'a_'.repeat(1500)}_b_%a` }],
]

describe.each(eachStore)('the event loop runs during a query of %s', (_, createPlace) => {
  let place: EventPlace
  let audit: AuditLog
  beforeAll(async () => {
    place = await createPlace()
    audit = new AuditLog({ store: place.open(), types: {} })
    await audit.recordSystem('test:long', { text: `${'a'.repeat(250_000)}_b_a` })
    await audit.recordSystem('test:wide', { wide: Array.from({ length: 60_000 }, () => ({})) })
    await audit.recordSystem('test:short', { text: 'a' })
  })
  afterAll(async () => {
    await audit.close()
    await place.remove()
  })

  it.each(SLOW)('with %s', async (_title, filter) => {
    // On Postgres, the event loop also runs while a list waits for the server.
    const turns = await turnsDuring(() => audit.list({ filter }))
    const sortedTurns = await turnsDuring(() =>
      audit.list({ filter: { ...filter, sorts: 'text' } }),
    )
    const countTurns = await turnsDuring(() => audit.count({ filter }, { within: 60_000 }))
    expect([turns, sortedTurns, countTurns].map((n) => n >= 5)).toEqual([true, true, true])
  })

  it.each([
    ['by the index', 'wide_a'],
    ['by a scan', 'id'],
  ])('with many sorts of an event of many values, %s', async (_title, last) => {
    const filter = { type_eq: 'test:wide', sorts: [...many(15, (i) => `wide_b${i}`), last] }
    const turns = await turnsDuring(() => audit.list({ filter }))
    expect(turns).toBeGreaterThanOrEqual(5)
  })

  it('with many facets of an event of many values', async () => {
    const facets = many(20, (i) => `wide_a${i}`)
    const query = { filter: { type_eq: 'test:wide' } }
    const turns = await turnsDuring(() => audit.count(query, { facets, within: 60_000 }))
    expect(turns).toBeGreaterThanOrEqual(5)
  })
})
