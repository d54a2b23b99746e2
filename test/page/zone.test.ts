import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { type OpenPageOptions } from '../support/browser.js'
import { servePage } from '../support/page-host.js'
import { shareHost } from './shared-host.js'
import { rowIds, rowsOf, WAIT } from './shown.js'

/* The time zone of the page, and the ranges of its calendar. */

const host = shareHost()

async function open(search: string, options: OpenPageOptions = {}): Promise<Page> {
  const page = await host.visit(`${host.page}?${search}`, { user: 'ann', ...options })
  await rowsOf(page).first().waitFor()
  return page
}

const zoneButton = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const timeHeader = (page: Page) => page.getByRole('columnheader', { name: /^Time/ })

describe('the time zone', () => {
  it('is taken from the address, and does not change the preference of the reader', async () => {
    const page = await open('range=7d&zone=Asia/Tokyo')
    await expect.poll(() => timeHeader(page).innerText(), WAIT).toContain('UTC+9')
    await zoneButton(page, 'Times in Asia/Tokyo').waitFor()
    await page.goto(`${host.page}?range=7d`)
    await expect.poll(() => timeHeader(page).innerText(), WAIT).toContain('UTC')
    await zoneButton(page, 'Times in UTC').waitFor()
  })

  it('is chosen by the name of a city, and stays chosen', async () => {
    const page = await open('range=7d')
    await zoneButton(page, 'Times in UTC').click()
    await page.getByRole('combobox', { name: 'Find a city or a zone' }).fill('new york')
    await page.keyboard.press('Enter')
    await zoneButton(page, 'Times in America/New_York').waitFor()
    expect(new URL(page.url()).searchParams.get('zone')).toBe('America/New_York')
    await page.goto(`${host.page}?range=7d`)
    await zoneButton(page, 'Times in America/New_York').click()
    await page.getByRole('option', { name: /^Local time, UTC/ }).click()
    await zoneButton(page, 'Times in UTC').waitFor()
    expect(new URL(page.url()).searchParams.get('zone')).toBeNull()
  })

  it('changes between UTC and the chosen one on a key press', async () => {
    const page = await open('range=7d&zone=Asia/Tokyo')
    await zoneButton(page, 'Times in Asia/Tokyo').waitFor()
    await page.keyboard.press('u')
    await zoneButton(page, 'Times in UTC').waitFor()
    await page.keyboard.press('u')
    await zoneButton(page, 'Times in Asia/Tokyo').waitFor()
  })

  it('is local time if the address has a name that no zone has', async () => {
    const page = await open('range=7d&zone=Mars/Olympus', { timezoneId: 'Asia/Tokyo' })
    await zoneButton(page, 'Times in Asia/Tokyo').waitFor()
  })
})

describe('a range of the calendar', () => {
  const DAY_MS = 86_400_000
  const HOUR_MS = 3_600_000

  it('follows the time zone, in the list, the address and after a reload', async () => {
    const expected = async (aheadHours: number): Promise<string[]> => {
      const ahead = aheadHours * HOUR_MS
      const today = Math.floor((Date.now() + ahead) / DAY_MS) * DAY_MS - ahead
      const at = (time: number): string => new Date(time).toISOString()
      const filter = `filter[created_at_gteq]=${at(today - DAY_MS)}&filter[created_at_lt]=${at(today)}`
      const { events } = await host.audit.list(`${filter}&limit=1000`)
      return events.map(({ id }) => id).toReversed()
    }
    const page = await open('range=7d')
    await page.getByRole('button', { name: 'Last 7 days' }).click()
    await page.getByRole('button', { name: 'Yesterday' }).click()
    const shown = async (): Promise<string[]> => (await rowIds(page)).slice(0, 5)
    const inUtc = (await expected(0)).slice(0, 5)
    await expect.poll(shown, WAIT).toEqual(inUtc)
    expect(new URL(page.url()).search).toBe('?range=yesterday')
    await page.goto(`${host.page}?range=yesterday&zone=Pacific/Kiritimati`)
    const inKiritimati = (await expected(14)).slice(0, 5)
    await expect.poll(shown, WAIT).toEqual(inKiritimati)
    expect(inKiritimati).not.toEqual(inUtc)
    // The button binds the key.
    await zoneButton(page, 'Times in Pacific/Kiritimati').waitFor()
    await page.keyboard.press('u')
    await expect.poll(shown, WAIT).toEqual(inUtc)
    await page.getByRole('button', { name: 'Fixed range' }).waitFor()
  })

  it('starts at the newest event of a type', async () => {
    const { events } = await host.audit.list('filter[type_eq]=api:projects:update&limit=1')
    const since = await host.audit.list(
      `filter[created_at_gteq]=${events[0]!.created_at}&limit=1000`,
    )
    const page = await open('range=24h')
    await page.getByRole('combobox', { name: 'Add a filter' }).fill('since projects:update')
    await page.keyboard.press('Enter')
    const ids = since.events.map(({ id }) => id).toReversed()
    await expect.poll(() => rowIds(page), WAIT).toEqual(ids)
    await page.goBack()
    await rowsOf(page).last().click()
    const opened = new URL(page.url()).hash.slice('#event='.length)
    await page.getByRole('button', { name: 'Show since this event' }).click()
    await expect.poll(async () => (await rowIds(page)).at(-1), WAIT).toBe(opened)
  })
})

describe('where clocks are set back', () => {
  // In New York, the hour from 01:00 to 02:00 of 3 November 2024 occurred twice.
  const start = Date.parse('2024-11-03T04:00:00Z')
  const events = Array.from({ length: 18 }, (_, i) => ({
    id: `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`,
    type: 'api:projects:create',
    username: 'ann',
    system: false,
    source: null,
    attributes: {},
    created_at: new Date(start + i * 1_200_000).toISOString().replace('Z', '000Z'),
  }))
  const autumn = shareHost(() => servePage({ events }))
  const DAY =
    'filter[created_at_gteq]=2024-11-03T04:00:00Z&filter[created_at_lt]=2024-11-03T10:00:00Z'

  const openDay = async (): Promise<Page> => {
    const page = await autumn.visit(`${autumn.page}?${DAY}&zone=America/New_York`, {
      user: 'ann',
      viewport: { width: 1440, height: 900 },
    })
    await rowsOf(page).nth(17).waitFor()
    return page
  }

  it('each time of the list and the chart is one time only', async () => {
    const page = await openDay()
    await expect.poll(() => timeHeader(page).innerText(), WAIT).toMatch(/UTC−5 \/ UTC−4/)
    const times = await page.locator('.row .when').allInnerTexts()
    expect(times.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual(
      expect.arrayContaining(['01:20:00.000 UTC−5', '01:20:00.000 UTC−4', '02:00:00.000']),
    )
    expect(new Set(times).size).toBe(18)
    await expect
      .poll(() => page.locator('svg.axis text').allTextContents(), WAIT)
      .toContain('01:00 UTC−5')
    const labels = await page.locator('svg.axis text').allTextContents()
    expect(new Set(labels).size).toBe(labels.length)
  })

  it('the picker of the range shows the selected of two equal times, and offers the other', async () => {
    const page = await openDay()
    await page.getByRole('button', { name: / to / }).first().click()
    const picker = page.getByRole('dialog', { name: 'Time' })
    await picker.getByLabel('From').fill('2024-11-03T01:30:00')
    await picker.getByRole('combobox', { name: /twice/ }).selectOption('UTC−5')
    await picker.getByRole('button', { name: 'Show this range' }).click()
    await expect
      .poll(() => decodeURIComponent(page.url()), WAIT)
      .toContain('gteq]=2024-11-03T06:30:00Z')
    await page.getByRole('button', { name: /2024, 01:30 UTC−5 to .* 05:00/ }).waitFor()
  })
})
