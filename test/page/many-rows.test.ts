import { type AuditEvent, formatTimestamp } from 'daybook'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keepPages } from '../support/browser.js'
import { type PageHost, servePage } from '../support/page-host.js'
import { firstIds, shownRows } from './rows.js'
import { rowIds, WAIT } from './shown.js'

describe('20,000 events', () => {
  const COUNT = 20_000
  const END = Math.floor(Date.now() / 1000) * 1_000_000
  const STEP = 4_000_000
  const LEVELS = ['api', 'info', 'audit', 'warn', 'error']

  /** Evenly over most of a day, oldest first. */
  const events = Array.from({ length: COUNT }, (_, n): AuditEvent => {
    const time = END - (COUNT - n) * STEP
    return {
      id: `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
      created_at: formatTimestamp(time),
      username: n % 3 === 0 ? 'ann' : null,
      system: true,
      type: `${LEVELS[n % LEVELS.length]}:things:create`,
      source: null,
      attributes: { n },
    }
  })
  /** Newest first. */
  const ids = events.map(({ id }) => id).toReversed()

  const visit = keepPages()
  let host: PageHost
  beforeAll(async () => {
    host = await servePage({ events })
  })
  afterAll(() => host.close())

  const open = async (viewport = { width: 1280, height: 900 }): Promise<Page> => {
    const page = await visit(`${host.page}?range=all`, { user: 'ann', viewport })
    await expect
      .poll(() => page.getByRole('grid').getAttribute('aria-rowcount'), WAIT)
      .toBe(String(COUNT + 1))
    return page
  }

  /** Checks that a part of the list shows its rows, in the order of the log. */
  async function expectRowsAt(page: Page, part: number): Promise<void> {
    let shown: readonly string[] = []
    // The rows of a part may be loaded with two requests.
    const loaded = async (): Promise<number> => {
      shown = (await shownRows(page)).filter(({ row }) => isNear(row, part)).map(({ id }) => id)
      return shown.length
    }
    await expect.poll(loaded, WAIT).toBeGreaterThan(15)
    const first = ids.indexOf(shown[0]!)
    expect(Math.abs(first / COUNT - part)).toBeLessThan(0.02)
    expect(shown).toEqual(ids.slice(first, first + shown.length))
    expect((await shownRows(page)).length).toBeLessThan(70)
  }

  const isNear = (row: number, part: number): boolean => Math.abs(row / COUNT - part) < 0.01

  /** Scrolls like a user who drags the scroll bar. */
  const scrollTo = (page: Page, part: number): Promise<void> =>
    page.evaluate(`{
      const list = document.querySelector('#events')
      list.scrollTop = list.scrollHeight * ${part}
    }`)

  it('are jumped through by the scroll bar', async () => {
    const page = await open()
    for (const part of [0.5, 0.9, 0.2]) {
      await scrollTo(page, part)
      await expectRowsAt(page, part)
    }
    await scrollTo(page, 0)
    await expect.poll(() => firstIds(page, 10), WAIT).toEqual(ids.slice(0, 10))
  })

  it('are jumped through by the axis of the chart', async () => {
    const page = await open()
    const axis = page.getByRole('region', { name: 'Events over time' }).locator('.axis')
    const { width } = (await axis.boundingBox())!
    for (const place of [0.25, 0.75]) {
      await axis.click({ position: { x: width * place, y: 6 } })
      await expectRowsAt(page, 1 - place)
    }
  })

  it('end with the oldest', async () => {
    const page = await open()
    const last = async (): Promise<string | undefined> => {
      // The list may have been rendered again, from its beginning.
      await scrollTo(page, 1)
      return (await rowIds(page)).at(-1)
    }
    await expect.poll(last, WAIT).toBe(ids.at(-1))
    expect((await shownRows(page)).length).toBeLessThan(70)
  })
})
