import { AuditLog, parseTimestamp } from 'daybook'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EventPlace, eachStore } from '../../support/event-stores.js'
import { eventAt } from '../../support/imported-event.js'

const SIZE = 4000

const past = Array.from({ length: SIZE }, (_, n) =>
  eventAt(parseTimestamp('2026-01-01')! + n * 1_000_000, {
    attributes: { list: [{ text: `${n} ${'hay '.repeat(40)}` }] },
  }),
)

/** Conditions with many tests of each event. All tests fail. */
const SLOW = Array.from({ length: 300 }, (_, i) => `filter[list_text_matches_any][]=%25a_${i}_y%25`)
const slow = SLOW.join('&')

describe.each(eachStore)('queryTimeoutMs on %s', (_, createPlace) => {
  let place: EventPlace

  beforeAll(async () => {
    place = await createPlace()
  })
  afterAll(() => place.remove())

  it('ends a list, and each page of pages, with QUERY_TIMEOUT', async () => {
    await using audit = new AuditLog({
      store: place.open(undefined, { queryTimeoutMs: 1 }),
      types: {},
    })
    for (let i = 0; i < SIZE; i += 1000) await audit.importEvents(past.slice(i, i + 1000))
    const timedOut = {
      code: 'QUERY_TIMEOUT',
      message: expect.stringContaining('created_at') as string,
    }
    await expect(audit.list(slow)).rejects.toMatchObject(timedOut)
    await expect(audit.list(`${slow}&filter[sorts]=list_text`)).rejects.toMatchObject(timedOut)
    await expect(audit.pages(slow).next()).rejects.toMatchObject(timedOut)
    const signal = AbortSignal.abort()
    await expect(audit.list(slow, { signal })).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it.each([0, -1, 1.5, Number.NaN, 2 ** 31, '5' as unknown as number])(
    'refuses %s',
    (queryTimeoutMs) => {
      expect(() => place.open(undefined, { queryTimeoutMs })).toThrow(
        expect.objectContaining({
          code: 'INVALID_OPTION',
          message: expect.stringContaining(
            'queryTimeoutMs must be a whole number from 1',
          ) as string,
        }),
      )
    },
  )
})
