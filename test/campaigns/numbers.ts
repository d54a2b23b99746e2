import { type BrowserServer, chromium, type Page } from 'playwright-core'
import type { EventStore } from 'daybook'
import { createPostgresStore } from '../../adapters/postgres/postgres-store.js'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import { createRandom } from '../../benchmarks/harness/random.js'
import {
  chooseFacets,
  compareNumbers,
  noFigures,
  type NumberFigures,
} from '../page/numbers/compare.js'
import { randomEvents, randomQuery } from '../page/numbers/random-log.js'
import { countWithin } from '../support/exact-counts.js'
import buildPage from '../support/global-page.js'
import { servePage } from '../support/page-host.js'
import { startOwnPostgres } from '../support/postgres.js'
import { startBrowser } from '../support/start-browser.js'
import { tempDir } from '../support/temp.js'
import type { Campaign } from './run.js'

/*
 * Opens the page for random queries of logs of 300,000 and of 1,000,000 events. Compares each shown number with the
 * right one, which is computed from all events. The page has four facets. One of them, `request_id`, has more values
 * than an index counts. For every third query, counting has only a tenth of the time, so that some figures are not
 * complete.
 */

const SIZES = [300_000, 1_000_000]
const IMPORTED_AT_ONCE = 5000
const WITHIN_MS = 2000

interface Log {
  readonly store: EventStore
  /** Resolves when the index has all events. */
  readonly indexed: () => Promise<void>
  readonly remove: () => Promise<void>
}

async function openLog(isPostgres: boolean): Promise<Log> {
  if (isPostgres) {
    const server = await startOwnPostgres()
    const { store, sealer } = createPostgresStore({ connectionString: server.url })
    return { store, indexed: () => sealer.settled(), remove: () => server.stop() }
  }
  const temp = tempDir()
  const { store, sealer } = createSqliteStore({ filename: temp.file('audit.db') })
  return { store, indexed: () => sealer.settled(), remove: async () => temp.remove() }
}

interface LogRun {
  readonly page: Page
  readonly isPostgres: boolean
  readonly size: number
  readonly seed: number
  readonly first: number
  readonly rounds: number
  readonly isOver: () => boolean
}

/** Compares the numbers of some queries of one log. */
async function compareLog(run: LogRun, figures: NumberFigures): Promise<void> {
  const { page, isPostgres, size, seed, first, rounds, isOver } = run
  const { store, indexed, remove } = await openLog(isPostgres)
  const events = randomEvents(size, seed)
  const host = await servePage({ store })
  try {
    for (let at = 0; at < size; at += IMPORTED_AT_ONCE)
      await host.audit.importEvents(events.slice(at, at + IMPORTED_AT_ONCE))
    await indexed()
    const compared = { page, url: host.page, events, figures }
    await chooseFacets(compared)
    for (let round = first; round < first + rounds && !isOver(); round++) {
      countWithin(host.audit, round % 3 === 2 ? WITHIN_MS / 10 : WITHIN_MS)
      const random = createRandom(seed + round)
      await compareNumbers(compared, randomQuery(random, size), random)
      const { queries, numbers, lowerBounds } = figures
      console.log(
        `round ${round}: ${queries} queries, ${numbers} numbers, ${lowerBounds} lower bounds`,
      )
    }
  } finally {
    await page.goto('about:blank')
    await host.close()
    await remove()
  }
}

async function openPage(browser: BrowserServer): Promise<Page> {
  const connected = await chromium.connect(browser.wsEndpoint())
  const context = await connected.newContext({
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    viewport: { width: 1440, height: 900 },
    extraHTTPHeaders: { authorization: `Basic ${btoa('ann:ann')}` },
  })
  return context.newPage()
}

export const campaign: Campaign = {
  rounds: 40,
  async run({ seed, rounds, from, seconds = Infinity, store, failed }) {
    await buildPage()
    const browser = await startBrowser()
    const page = await openPage(browser)
    const end = performance.now() + seconds * 1000
    const isOver = (): boolean => performance.now() >= end
    const figures = noFigures()
    const perLog = Math.ceil(rounds / SIZES.length)
    for (const [i, size] of SIZES.entries()) {
      const first = Math.max(from, i * perLog)
      const last = Math.min(rounds, (i + 1) * perLog)
      if (first >= last || isOver()) continue
      const isPostgres = store === 'postgres'
      const log = { page, isPostgres, size, seed, first, rounds: last - first, isOver }
      await compareLog(log, figures).catch((error: unknown) =>
        failed(`the log of ${size} events: ${(error as Error).stack}`),
      )
    }
    await browser.close()
    const { false: wrong, ...counted } = figures
    for (const one of wrong) failed(one)
    return counted
  },
}
