import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLog, type AuditLogOptions, parseQuery, type SlowQuery } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { failing } from '../fake-store.js'

const NEVER_MS = 86_400_000

/** A log with some events on a store that can be slow, and the slow queries it reported. */
async function openLog(slowQueryMs: number | undefined, count = 3) {
  const store = faultyStore(memoryStore())
  const list = vi.spyOn(store, 'list')
  const audit: AuditLog = new AuditLog({ store, types: {}, slowQueryMs })
  onTestFinished(() => audit.close())
  for (let n = 0; n < count; n++) await audit.recordCustom('own', { n })
  const reported: SlowQuery[] = []
  const listen = () => audit.on('slow-query', (slow) => reported.push(slow))
  return { audit, store, list, reported, listen }
}

describe('slow queries', () => {
  it('are reported with their explanation', async () => {
    const { audit, store, reported, listen } = await openLog(20)
    listen()
    store.delay('list', 40, 1)
    await audit.list('filter[n_lt]=2&limit=1')
    await nextTurn()
    expect(reported).toEqual([
      {
        method: 'list',
        query: 'filter[n_lt]=2&limit=1',
        took_ms: expect.any(Number),
        error: undefined,
        explanation: expect.objectContaining({
          query: 'filter[n_lt]=2&limit=1',
          store: 'memory',
          events: 1,
          truncated: true,
          matched: 2,
          took_ms: reported[0]!.took_ms,
        }),
      },
    ])
    expect(reported[0]!.took_ms).toBeGreaterThanOrEqual(20)
    expect(() => parseQuery(reported[0]!.query)).not.toThrow()
  })

  it('can be serialized as JSON', async () => {
    const { audit, reported, listen } = await openLog(0)
    listen()
    await audit.list()
    await nextTurn()
    expect(JSON.parse(JSON.stringify(reported))[0]).toMatchObject({
      method: 'list',
      explanation: { store: 'memory', events: 3, matched: 3 },
    })
  })

  it('are reported after the query resolves', async () => {
    const { audit, reported, listen } = await openLog(0)
    listen()
    await audit.list()
    expect(reported).toEqual([])
    await nextTurn()
    expect(reported).toHaveLength(1)
  })

  it('do not include time in which other code blocks the event loop', async () => {
    const { audit, reported, listen } = await openLog(0, 1000)
    listen()
    const page = audit.list('filter[sorts]=n')
    setImmediate(() => {
      const end = performance.now() + 30
      while (performance.now() < end);
    })
    await page
    await expect.poll(() => reported).toHaveLength(1)
    const { took_ms, steps } = reported[0]!.explanation!
    expect(steps[0]!.took_ms).toBeGreaterThan(0)
    expect(steps[0]!.took_ms).toBeLessThanOrEqual(took_ms + 0.01)
  })

  it('take at least as long as the option', async () => {
    const { audit, reported, listen } = await openLog(NEVER_MS)
    listen()
    await audit.list()
    await audit.count()
    await nextTurn()
    expect(reported).toEqual([])
  })

  it('are reported for each page', async () => {
    const { audit, reported, listen } = await openLog(0, 1001)
    listen()
    const sizes: number[] = []
    for await (const page of audit.pages('filter[type_eq]=own')) sizes.push(page.length)
    await nextTurn()
    expect(sizes).toEqual([1000, 1])
    expect(reported.map(({ method, explanation }) => [method, explanation!.events])).toEqual([
      ['pages', 1000],
      ['pages', 1],
    ])
    // The reported query can be run again.
    const again = await audit.explain(reported[1]!.query)
    expect([again.events, again.query]).toEqual([1, reported[1]!.query])
  })

  it('are reported without an explanation if they are counts', async () => {
    const { audit, reported, listen } = await openLog(0)
    listen()
    const visible = parseQuery('filter[n_gt]=0').where
    await audit.count('filter[type_eq]=own', { visible })
    await nextTurn()
    expect(reported).toEqual([
      {
        method: 'count',
        query: 'filter[g][0][n_gt]=0&filter[g][1][type_eq]=own&limit=1000',
        took_ms: expect.any(Number),
        explanation: undefined,
        error: undefined,
      },
    ])
  })

  it('are also reported if they fail', async () => {
    const { audit, store, reported, listen } = await openLog(0)
    listen()
    store.fail('list', 1)
    await expect(audit.list()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await nextTurn()
    expect(reported).toMatchObject([
      { method: 'list', error: { code: 'STORE_FAILED' }, explanation: { events: 0, steps: [] } },
    ])
    await expect(audit.list('filter[n_equals]=1')).rejects.toMatchObject({
      code: 'UNKNOWN_PREDICATE',
    })
    await nextTurn()
    expect(reported).toHaveLength(1)
  })

  it('are not affected by a handler that throws', async () => {
    const { audit, reported, listen } = await openLog(0)
    const errors: unknown[] = []
    audit.on('error', (error) => errors.push(error))
    audit.on('slow-query', failing(new Error('of the handler')))
    listen()
    expect((await audit.list()).events).toHaveLength(3)
    await nextTurn()
    expect(errors).toEqual([new Error('of the handler')])
    expect(reported).toHaveLength(1)
  })

  it('are reported even if no query string can express them', async () => {
    const { audit, reported, listen } = await openLog(0)
    listen()
    await audit.list({ filter: { n_eq: '\udfff' } })
    await audit.count({ filter: { n_eq: '\udfff' } })
    await nextTurn()
    expect(reported.map(({ query }) => query)).toEqual([
      'filter[n_eq]=%EF%BF%BD&limit=10',
      'filter[n_eq]=%EF%BF%BD&limit=1000',
    ])
  })

  it('do not include explain, tail and get', async () => {
    const { audit, reported, listen } = await openLog(0)
    listen()
    const { events } = await audit.list()
    await nextTurn()
    await audit.explain()
    await audit.get(events[0]!.id)
    const tail = audit.tail(undefined, { after: events[0]!.created_at })
    await tail.next()
    await tail.return()
    await nextTurn()
    expect(reported).toHaveLength(1)
  })

  it.each([
    ['without the option', undefined, true],
    ['where nobody listens', 0, false],
  ])('cause no further request to the store %s', async (_, slowQueryMs, isHeard) => {
    const { audit, list, listen } = await openLog(slowQueryMs)
    if (isHeard) listen()
    const options = { lazy: true }
    await audit.list({ limit: 5 }, options)
    expect(list.mock.lastCall).toEqual([parseQuery('limit=5'), options])
    expect(list.mock.lastCall![1]).toBe(options)
  })

  it('pass on the options, with only the trace added', async () => {
    const { audit, list, listen } = await openLog(0)
    listen()
    const { signal } = new AbortController()
    await audit.list({}, { lazy: true, signal })
    expect(list.mock.lastCall![1]).toEqual({
      lazy: true,
      signal,
      trace: expect.objectContaining({ detailed: false }),
    })
  })

  it.each([Number.NaN, -1, Infinity, '500', null, {}])('refuses slowQueryMs: %s', (slowQueryMs) => {
    const options = { store: memoryStore(), types: {}, slowQueryMs } as AuditLogOptions<{}>
    expect(() => new AuditLog(options)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: 'slowQueryMs must be a number of milliseconds, 0 or more',
      }),
    )
  })
})
