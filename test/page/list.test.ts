import { type AuditEvent, describeEvent, sentenceText } from 'daybook'
import { workflowEventTypes } from 'daybook/workflow'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openPage, type OpenPageOptions } from '../support/browser.js'
import { servePage } from '../support/page-host.js'
import { requestEvents } from './requests.js'
import { firstIds, inOrder, newestFirst, scrollThrough } from './rows.js'
import { shareHost } from './shared-host.js'
import { rowOf, rowsOf, WAIT } from './shown.js'

const PHONE = { viewport: { width: 390, height: 844 } }
const ZONE = 'Asia/Kolkata'

const host = shareHost()

const open = (address = '', options: OpenPageOptions = {}): Promise<Page> =>
  host.visit(`${host.page}${address}`, { user: 'ann', ...options })

const eventOf = async (query: string): Promise<AuditEvent> =>
  (await host.audit.list(`${query}&limit=1`)).events[0]!

const clock = ({ created_at }: AuditEvent, timeZone: string): string => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'medium' })
  return `${format.format(new Date(created_at))}${created_at.slice(19, 23)}`
}

const cellsOf = (page: Page, { id }: AuditEvent) => rowOf(page, id).getByRole('gridcell')

describe('a row', () => {
  it('shows time, level, user, sentence, type and source; on hover the full time, and on a key press UTC', async () => {
    const event = await eventOf('filter[type_eq]=audit:steps:approve')
    const page = await open('', { timezoneId: ZONE })
    const cells = cellsOf(page, event)
    await expect
      .poll(() => cells.allInnerTexts(), WAIT)
      .toEqual([
        clock(event, ZONE),
        'audit',
        'ann',
        'approved step Deploy to production of change nightly-2211',
        'audit:steps:approve',
        'step Deploy to production',
      ])
    const link = cells.getByRole('link')
    expect(await link.getAttribute('href')).toBe(event.source)
    const time = cells.first()
    await time.hover()
    await expect.poll(() => time.getAttribute('title'), WAIT).toContain(event.created_at)
    const head = page.getByRole('columnheader').first()
    expect(await head.innerText()).toContain('UTC+5:30')
    // Moves the pointer away, because a cell under the pointer also has a button.
    await page.mouse.move(0, 0)
    // The button binds the key.
    await page.getByRole('button', { name: /^Times in Asia/ }).waitFor()
    await page.keyboard.press('u')
    await expect.poll(() => time.innerText(), WAIT).toBe(event.created_at.slice(11, 23))
    expect(await head.innerText()).not.toContain('+')
  })

  it('is named by its level, the sentence of the event, and its time; the newest is first', async () => {
    const page = await open('', { timezoneId: ZONE })
    const newest = (await newestFirst(host.audit)).slice(0, 12)
    await expect.poll(() => firstIds(page, 12), WAIT).toEqual(newest)
    expect(await page.getByRole('grid').getAttribute('aria-label')).toContain('newest first')
    const { events } = await host.audit.list('limit=12&filter[type_not_start]=info:template')
    const expected = events.toReversed().map((event) => {
      const sentence = sentenceText(describeEvent(event, { types: workflowEventTypes }))
      const [first] = event.type.split(':')
      const level = event.type.endsWith(':denied') ? 'denied' : event.system ? first : 'custom'
      return { id: event.id, name: `${level}: ${sentence}, ${clock(event, ZONE).slice(0, 8)}` }
    })
    for (const { id, name } of expected)
      await expect.poll(() => rowOf(page, id).getAttribute('aria-label'), WAIT).toBe(name)
  })

  it('keeps sentence, user and time on a phone', async () => {
    const event = await eventOf('filter[type_eq]=audit:steps:approve')
    const page = await open('', { ...PHONE, timezoneId: ZONE })
    const row = rowOf(page, event.id)
    await row.scrollIntoViewIfNeeded()
    const text = (await row.innerText()).replaceAll(/\s+/g, ' ')
    expect(text).toContain('ann approved step Deploy to production of change nightly-2211')
    expect(text).toContain(clock(event, ZONE).slice(0, 8))
  })
})

describe('the list', () => {
  it('shows dates with the times when it has no headings of days', async () => {
    const page = await open('', { timezoneId: ZONE })
    await page.getByRole('columnheader', { name: 'Who' }).getByRole('button').click()
    await expect.poll(() => page.locator('.day').count(), WAIT).toBe(0)
    const [id] = await firstIds(page, 1)
    const event = (await host.audit.get(id!))!
    const row = rowOf(page, event.id)
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: ZONE }).format(
      new Date(event.created_at),
    )
    const time = row.getByRole('gridcell').first()
    await expect.poll(() => time.innerText(), WAIT).toBe(`${day} ${clock(event, ZONE)}`)
    const isCut = await time.evaluate((cell) => cell.scrollWidth > cell.clientWidth)
    expect(isCut).toBe(false)
  })

  it('scrolls to the oldest event on a phone, each event once', async () => {
    // More than five pages of events.
    const filter = 'filter[type_start]=info:'
    const page = await open(`?range=all&${filter}`, { viewport: { width: 390, height: 2400 } })
    const ids = await newestFirst(host.audit, filter)
    expect(ids.length).toBeGreaterThan(500)
    await rowsOf(page).first().waitFor()
    const scrolled = await scrollThrough(page, ids.length)
    expect(scrolled.conflicts).toEqual([])
    expect(inOrder(scrolled)).toEqual(ids)
    expect(scrolled.most).toBeLessThan(90)
  })
})

// These tests come last, because they record events.
describe('two events of one act', () => {
  const act = { name: 'Ship it', step_id: '0199f09d-5b1e-7c41-8d20-6a4f3e9b1c78' }
  const FILTER = 'filter[step_id_eq]=0199f09d-5b1e-7c41-8d20-6a4f3e9b1c78'

  /**
   * An approval by ann, with another event between its two events; an approval by bob; and a request of ann without
   * an approval.
   */
  async function recordActs(): Promise<Record<'audit' | 'api', AuditEvent>> {
    const record = async (type: Parameters<typeof host.audit.record>[0], username: string) =>
      (await host.audit.record(type, act, { username }))!
    await record('api:steps:approve', 'mira')
    const audit = await record('audit:steps:approve', 'ann')
    await record('audit:steps:approve', 'bob')
    const api = await record('api:steps:approve', 'ann')
    return { audit, api }
  }

  it('have one row with a mark, and opening the row shows both', async () => {
    const { audit, api } = await recordActs()
    const page = await open(`?range=24h&${FILTER}`)
    const row = rowOf(page, audit.id)
    await expect.poll(() => row.getAttribute('aria-label'), WAIT).toMatch(/, 2 events$/)
    const ids = await newestFirst(host.audit, FILTER)
    const others = ids.filter((id) => id !== api.id)
    await expect.poll(() => firstIds(page, 9), WAIT).toEqual(others)
    // The two events still count as two.
    await expect
      .poll(() => page.getByRole('grid').getAttribute('aria-rowcount'), WAIT)
      .toBe(String(ids.length + 1))
    const heading = page.getByRole('heading', { level: 1 })
    await expect.poll(() => heading.innerText(), WAIT).toBe(`${ids.length} events`)
    await row.click()
    await expect.poll(() => firstIds(page, 9), WAIT).toEqual(ids)
    const panel = page.getByRole('complementary', { name: 'Event' })
    await panel.getByText(audit.id, { exact: true }).waitFor()
    expect(await row.getAttribute('aria-label')).not.toContain('2 events')
  })

  it('are each reached by keyboard', async () => {
    await recordActs()
    const page = await open(`?range=24h&${FILTER}`)
    await page.locator('.twins').first().waitFor()
    const ids = await newestFirst(host.audit, FILTER)
    const focused = () => page.locator(':focus').getAttribute('data-id')
    // An event that arrives later would come before the first row.
    const heading = page.getByRole('heading', { level: 1 })
    await expect.poll(() => heading.innerText(), WAIT).toBe(`${ids.length} events`)
    await rowsOf(page).first().focus()
    await page.keyboard.press('Home')
    const reached: (string | null)[] = []
    for (const id of ids) {
      await expect.poll(focused, WAIT).toBe(id)
      reached.push(await focused())
      await page.keyboard.press('ArrowDown')
    }
    expect(reached).toEqual(ids)
  })
})

it('notes that it has only the first events of an order, but only if there are more', async () => {
  const events = requestEvents(
    Array.from({ length: 1000 }, () => ({ path: '/api/x', status: 200 })),
  )
  const other = await servePage({ events })
  onTestFinished(() => other.close())
  const sorted = '?range=all&filter[sorts]=duration_ms'
  const page = await openPage(`${other.page}${sorted}`, { user: 'ann' })
  const grid = page.getByRole('grid')
  await rowsOf(page).first().waitFor()
  await expect.poll(() => grid.getAttribute('aria-rowcount'), WAIT).toBe('1001')
  expect(await page.getByText('Only the first').count()).toBe(0)
  await other.audit.recordCustom('later', {})
  await page.reload()
  await page.getByText('Only the first 1,000 events in this order').waitFor()
  // The counts give the number of rows.
  await expect.poll(() => grid.getAttribute('aria-rowcount'), WAIT).toBe('1002')
})
