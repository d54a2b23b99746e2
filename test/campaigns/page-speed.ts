import { median } from 'simple-statistics'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import { randomEvents } from '../page/numbers/random-log.js'
import buildPage from '../support/global-page.js'
import { type PageHost, servePage } from '../support/page-host.js'
import { startBrowser } from '../support/start-browser.js'
import { tempDir } from '../support/temp.js'
import type { Campaign } from './run.js'

/*
 * Opens the page of a log of 300,000 events in a new profile, with the processor slowed down four times. Measures the time from
 * the end of the first response with events to the frame that shows rows. Then scrolls 600 pixels in each frame at full speed,
 * counts the frames with blank rows, and measures the heap.
 */

const SIZE = 300_000
const IMPORTED_AT_ONCE = 5000
const SLOWDOWN = 4
const FRAMES = 400
const MEBIBYTE = 1024 * 1024

/** Sets `firstRowAt` when a frame shows the first row. */
const OBSERVE = `new MutationObserver((_, observer) => {
  if (!document.querySelector('.row[data-id]')) return
  observer.disconnect()
  requestAnimationFrame(() => setTimeout(() => { globalThis.firstRowAt = performance.now() }))
}).observe(document, { childList: true, subtree: true })`

/** Milliseconds from the end of the first response with events to the first rows. */
const FIRST_ROWS = `(() => {
  const isList = ({ name }) => new URL(name).pathname === '/api/events'
  const [list] = performance.getEntriesByType('resource').filter(isList)
  return globalThis.firstRowAt - list.responseEnd
})()`

/** Scrolls, and returns the number of frames in which a place of the list had no row. */
const SCROLL = `(async () => {
  const grid = document.querySelector('[role=grid]')
  const isScroller = (element) => element.scrollHeight > element.clientHeight + 1 &&
    /auto|scroll/.test(getComputedStyle(element).overflowY)
  let scroller = document.querySelector('.row[data-id]')
  while (scroller && !isScroller(scroller)) scroller = scroller.parentElement
  const frame = () => new Promise(requestAnimationFrame)
  let blank = 0
  for (let n = 0; n < ${FRAMES}; n++) {
    scroller.scrollTop += 600
    await frame()
    const { left, top, bottom, width } = scroller.getBoundingClientRect()
    const places = [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => top + 40 + (bottom - top - 80) * part)
    const isBlank = (y) => !document.elementFromPoint(left + width / 2, y)?.closest('.row[data-id], .day, [role=row]')
    if (places.some(isBlank)) blank += 1
  }
  return { blank, scrolled: scroller.scrollTop }
})()`

async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value / MEBIBYTE
}

interface Opened {
  readonly page: Page
  readonly session: CDPSession
  readonly close: () => Promise<void>
}

async function openSlowed(browser: Browser, host: PageHost): Promise<Opened> {
  const context = await browser.newContext({
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    viewport: { width: 1440, height: 900 },
    extraHTTPHeaders: { authorization: `Basic ${btoa('ann:ann')}` },
  })
  await context.addInitScript(OBSERVE)
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Performance.enable')
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  await page.goto(`${host.page}?range=all`)
  while (!(await page.evaluate('globalThis.firstRowAt'))) await page.waitForTimeout(20)
  return { page, session, close: () => context.close() }
}

const tenths = (value: number): number => Math.round(value * 10) / 10

export const campaign: Campaign = {
  rounds: 9,
  async run({ seed, rounds, from }) {
    await buildPage()
    const temp = tempDir()
    const { store, sealer } = createSqliteStore({ filename: temp.file('audit.db') })
    const host = await servePage({ store })
    const events = randomEvents(SIZE, seed)
    for (let at = 0; at < SIZE; at += IMPORTED_AT_ONCE)
      await host.audit.importEvents(events.slice(at, at + IMPORTED_AT_ONCE))
    await sealer.settled()
    const server = await startBrowser()
    const browser = await chromium.connect(server.wsEndpoint())
    const firstRows: number[] = []
    const blank: number[] = []
    const heaps: number[] = []
    for (let round = from; round < rounds; round++) {
      const { page, session, close } = await openSlowed(browser, host)
      firstRows.push(await page.evaluate<number>(FIRST_ROWS))
      await session.send('Emulation.setCPUThrottlingRate', { rate: 1 })
      await page.locator('.legend button').first().waitFor()
      const before = await heapOf(session)
      const { blank: frames, scrolled } = await page.evaluate<{ blank: number; scrolled: number }>(
        SCROLL,
      )
      const after = await heapOf(session)
      blank.push(frames)
      heaps.push(after)
      console.log(
        `round ${round}: first rows after ${tenths(firstRows.at(-1)!)} ms, heap ${tenths(before)} to ${tenths(after)} MiB, ${frames} of ${FRAMES} frames with blank rows, scrolled ${scrolled} px`,
      )
      await close()
    }
    await browser.close()
    await server.close()
    await host.close()
    temp.remove()
    return {
      firstRowsMs: { median: tenths(median(firstRows)), max: tenths(Math.max(...firstRows)) },
      blankFrames: { median: median(blank), max: Math.max(...blank), of: FRAMES },
      heapMiB: { median: tenths(median(heaps)), max: tenths(Math.max(...heaps)) },
    }
  },
}
