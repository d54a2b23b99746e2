import { sqliteStore } from 'daybook/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom } from '../../benchmarks/harness/random.js'
import { openPage } from '../support/browser.js'
import { countWithin } from '../support/exact-counts.js'
import { type PageHost, QUERY_TIMEOUT_MS, servePage } from '../support/page-host.js'
import { tempDir } from '../support/temp.js'
import { chooseFacets, compareNumbers, noFigures, type NumberFigures } from './numbers/compare.js'
import { randomEvents, randomQuery } from './numbers/random-log.js'

/*
 * Each number of the page must be the truth, or be marked as a lower bound of it. `npm run soak -- numbers` checks
 * the same in large logs.
 */

const SIZE = 4000
const SEED = 20_261_124
const QUERIES = 3
const DESK = { width: 1440, height: 900 }

const temp = tempDir()
const events = randomEvents(SIZE, SEED)
let host: PageHost
beforeAll(async () => {
  const filename = temp.file('audit.db')
  const store = sqliteStore({ filename, queryTimeoutMs: QUERY_TIMEOUT_MS })
  host = await servePage({ store, events })
})
afterAll(async () => {
  await host.close()
  temp.remove()
})

/** Compares the numbers of some queries, with this time for each count. */
async function compared(within: number, queries: number): Promise<NumberFigures> {
  countWithin(host.audit, within)
  const page = await openPage('about:blank', { user: 'ann', viewport: DESK })
  const all = { page, url: host.page, events, figures: noFigures() }
  await chooseFacets(all)
  const random = createRandom(SEED)
  for (let n = 0; n < queries; n++) await compareNumbers(all, randomQuery(random, SIZE), random)
  return all.figures
}

describe('the numbers of the page, for random queries', () => {
  it('are the truth if all events are counted', async () => {
    const { false: wrong, numbers, ...figures } = await compared(60_000, QUERIES)
    expect(wrong).toEqual([])
    expect(numbers).toBeGreaterThan(20 * QUERIES)
    expect(figures).toMatchObject({ queries: QUERIES, exactTotals: QUERIES, lowerBounds: 0 })
    expect(figures.offers).toBeGreaterThan(0)
  })

  it('are marked lower bounds if there is no time to count', async () => {
    const { false: wrong, lowerBounds, exactTotals } = await compared(0, 2)
    expect(wrong).toEqual([])
    expect(exactTotals).toBe(0)
    expect(lowerBounds).toBeGreaterThan(5)
  })
})
