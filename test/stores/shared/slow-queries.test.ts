import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLog, parseTimestamp, type SlowQuery } from 'daybook'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EventPlace, eachStore } from '../../support/event-stores.js'
import { eventAt } from '../../support/imported-event.js'

const SIZE = 3000

/** One event per second. Only the oldest event has the word `needle`. */
const past = Array.from({ length: SIZE }, (_, n) =>
  eventAt(parseTimestamp('2026-01-01')! + n * 1_000_000, {
    type: n % 2 === 0 ? 'api:a:b' : 'error:a:b',
    attributes: { n, word: n === 0 ? 'needle' : 'hay', text: `${n % 7}` },
  }),
)

describe.each(eachStore)('%s: a query is explained', (_, createPlace) => {
  let place: EventPlace
  let audit: AuditLog

  beforeAll(async () => {
    place = await createPlace()
    // Queries may take long on a busy machine.
    const store = place.open(undefined, { queryTimeoutMs: 60_000 })
    audit = new AuditLog({ store, types: {}, slowQueryMs: 0 })
    for (let i = 0; i < SIZE; i += 1000) await audit.importEvents(past.slice(i, i + 1000))
  })
  afterAll(async () => {
    await audit.close()
    await place.remove()
  })

  it.each([
    ['a value of the newest events', 'filter[word_eq]=hay', 10, true],
    ['a value of the oldest event only', 'filter[word_eq]=needle', 1, false],
    ['a value of no event', 'filter[word_eq]=straw', 0, false],
    ['part of a text', 'filter[word_cont]=eedl', 1, false],
    ['a text with another end', 'filter[word_end]=eedl', 0, false],
    ['a missing attribute', 'filter[other_null]=1', 10, true],
    ['the first of an order', 'filter[sorts]=text desc', 10, true],
    ['the oldest first', 'filter[word_eq]=needle&filter[sorts]=created_at', 1, false],
    ['a range of time', 'filter[created_at_lt]=2026-01-01T00:00:05Z', 5, false],
    ['an empty range of time', 'filter[created_at_lt]=2025-01-01', 0, false],
  ])('%s', async (_title, query, events, truncated) => {
    const page = await audit.list(query)
    const explanation = await audit.explain(query)
    expect([page.events.length, page.truncated]).toEqual([events, truncated])
    expect(explanation).toMatchObject({ events, truncated, store: audit.store.name })
    expect(explanation.matched).toBeGreaterThanOrEqual(events + Number(truncated))
    // The query of the explanation gives the same result.
    const again = await audit.explain(explanation.query)
    expect(again).toMatchObject({ events, truncated, query: explanation.query })
    expect(again.steps.map(({ method }) => method)).toEqual(
      explanation.steps.map(({ method }) => method),
    )
    expect(JSON.parse(JSON.stringify(explanation))).toMatchObject({ events, truncated })
  })

  it('by the events that it had to check', async () => {
    const newest = await audit.explain('filter[n_lt]=3000')
    expect(newest.steps[0]).toMatchObject({ method: expect.stringMatching(/^(probe|scan)$/) })
    expect(newest.checked).toBeLessThanOrEqual(1000)
    const sorted = await audit.explain('filter[n_lt]=3000&filter[sorts]=type&limit=1000')
    expect(sorted.matched).toBeGreaterThanOrEqual(1001)
    expect(sorted.steps.filter(({ took_ms }) => took_ms === 0)).toEqual([])
  })

  it('in the event slow-query', async () => {
    const reported: SlowQuery[] = []
    const listen = (slow: SlowQuery): void => void reported.push(slow)
    audit.on('slow-query', listen)
    const query = 'filter[word_eq]=needle&limit=3'
    await audit.list(query)
    await nextTurn()
    audit.off('slow-query', listen)
    const explanation = await audit.explain(query)
    const methods = explanation.steps.map(({ method }) => method)
    expect(reported).toMatchObject([{ method: 'list', query, error: undefined }])
    expect(reported[0]!.explanation).toMatchObject({
      query,
      events: 1,
      truncated: false,
      matched: 1,
    })
    expect(reported[0]!.explanation!.steps.map(({ method }) => method)).toEqual(methods)
  })

  it('unless it is invalid or aborted', async () => {
    await expect(audit.explain('filter[n_equals]=1')).rejects.toMatchObject({
      name: 'AuditLogError',
      code: 'UNKNOWN_PREDICATE',
      parameter: 'filter[n_equals]',
    })
    await expect(audit.explain('limit=0')).rejects.toMatchObject({ code: 'INVALID_VALUE' })
    const reason = new Error('enough')
    await expect(audit.explain('', { signal: AbortSignal.abort(reason) })).rejects.toMatchObject({
      code: 'ABORTED',
      cause: reason,
    })
  })
})
