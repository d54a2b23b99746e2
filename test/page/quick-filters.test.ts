import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { shareHost } from './shared-host.js'
import { matching, rowIds, rowOf, WAIT } from './shown.js'

/* Filtering and sorting from the list, and the time range. */

const host = shareHost()

const { open, shows } = host

const COLUMNS = ['time', 'level', 'who', 'what', 'type', 'source'] as const

/** A cell of the newest event that matches the filter. */
async function cell(page: Page, filter: string, column: (typeof COLUMNS)[number]) {
  const [id] = await matching(host.audit, filter)
  return rowOf(page, id!).getByRole('gridcell').nth(COLUMNS.indexOf(column))
}

const DENIED = 'filter[type_eq]=audit:steps:approve:denied'

describe('a cell under the pointer', () => {
  it.each([
    ['who', 'is', 'filter[username_eq]=bob'],
    ['who', 'is not', 'filter[username_not_eq]=bob'],
    ['type', 'is', DENIED],
    ['level', 'is not', 'filter[type_not_start_all][]=audit:'],
    ['source', 'is', 'filter[step_id_eq]=0199f09d-5b1e-7c41-8d20-6a4f3e9b1c77'],
  ] as const)('filters: %s %s', async (column, name, filter) => {
    const page = await open()
    const pointed = await cell(page, DENIED, column)
    await pointed.hover()
    await pointed.getByRole('button', { name, exact: true }).click()
    await shows(page, filter)
  })

  it('filters with keys, and a second value replaces the first', async () => {
    const page = await open()
    const service = await cell(page, 'filter[type_eq]=api:steps:success', 'who')
    await service.hover()
    await page.keyboard.press('x')
    await shows(page, 'filter[username_not_null]=1')
    await (await cell(page, DENIED, 'type')).hover()
    await page.keyboard.press('i')
    await shows(page, `filter[username_not_null]=1&${DENIED}`)
    await page.keyboard.press('Backspace')
    await shows(page, 'filter[username_not_null]=1')
    await page.keyboard.press('Backspace')
    await shows(page, '')
  })
})

describe('a cell in focus', () => {
  it('filters with i and x', async () => {
    const page = await open()
    await page.mouse.move(0, 0)
    const [id] = await matching(host.audit, DENIED)
    await rowOf(page, id!).focus()
    for (const _ of ['time', 'level', 'who']) await page.keyboard.press('ArrowRight')
    await expect.poll(() => page.locator(':focus').textContent(), WAIT).toContain('bob')
    await page.keyboard.press('i')
    await shows(page, 'filter[username_eq]=bob')
    await rowOf(page, id!).focus()
    for (const _ of COLUMNS.slice(0, 5)) await page.keyboard.press('ArrowRight')
    await expect.poll(() => page.locator(':focus').textContent(), WAIT).toContain('denied')
    await page.keyboard.press('x')
    await shows(page, 'filter[username_eq]=bob&filter[type_not_eq]=audit:steps:approve:denied')
  })
})

describe('the column headers', () => {
  it('sort, and show the order', async () => {
    const page = await open()
    const head = (name: string | RegExp) => page.getByRole('columnheader', { name })
    const press = (name: string | RegExp) => head(name).getByRole('button').click()
    await press('Type')
    await shows(page, 'filter[sorts][]=type asc')
    expect(await head('Type').getAttribute('aria-sort')).toBe('ascending')
    await page.getByRole('banner').getByRole('button', { name: 'Sorted' }).waitFor()
    await press('Type')
    await shows(page, 'filter[sorts][]=type desc')
    await press('Who')
    await shows(page, 'filter[sorts][]=username asc')
    await press(/^Time/)
    await shows(page, '')
    expect(await head(/^Time/).getAttribute('aria-sort')).toBe('descending')
    await press(/^Time/)
    await shows(page, 'filter[sorts][]=created_at asc')
  })
})

describe('the range', () => {
  const SINCE = 'filter[created_at_gteq]'
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Time' })
  const times = (page: Page, name: 'From' | 'To') => dialog(page).getByLabel(name)

  it('is relative to now', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'All time' }).click()
    const hourAgo = (): number => Date.now() - 3_600_000
    const earliest = hourAgo()
    const sent = page.waitForRequest((request) => {
      const { pathname, searchParams } = new URL(request.url())
      return pathname.endsWith('/api/events') && searchParams.has(SINCE)
    })
    await dialog(page).getByRole('button', { name: 'Last hour' }).click()
    const since = new URL((await sent).url()).searchParams.get(SINCE)!
    // The page leaves out the fraction of the second.
    expect(Date.parse(since)).toBeGreaterThan(earliest - 1000)
    expect(Date.parse(since)).toBeLessThanOrEqual(hourAgo())
    await expect.poll(() => new URL(page.url()).search, WAIT).toBe('?range=1h')
    const expected = await matching(host.audit, `${SINCE}=${since}`)
    await page
      .getByRole('grid')
      .and(page.locator(`[aria-rowcount="${expected.length + 1}"]`))
      .waitFor()
    await expect
      .poll(async () => (await rowIds(page)).slice(0, 8), WAIT)
      .toEqual(expected.slice(0, 8))
    await page.getByRole('button', { name: 'Last hour' }).waitFor()
  })

  it('is between two times in the shown zone', async () => {
    const page = await open('', { timezoneId: 'Asia/Kathmandu' })
    const [first, second] = [6, 3].map((hours) => {
      const at = new Date(Date.now() - hours * 3_600_000)
      return `${at.toISOString().slice(0, 16)}:00Z`
    })
    // 5 h 45 min ahead of UTC.
    const wall = (time: string) =>
      new Date(Date.parse(time) + 20_700_000).toISOString().slice(0, 19)
    await page.getByRole('button', { name: 'All time' }).click()
    await times(page, 'To').fill(wall(first!))
    await times(page, 'From').fill(wall(second!))
    await dialog(page).getByText('The range must end after it starts').waitFor()
    await times(page, 'From').fill(wall(first!))
    await times(page, 'To').fill(wall(second!))
    await dialog(page).getByRole('button', { name: 'Show this range' }).click()
    const between = `filter[created_at_gteq]=${first}&filter[created_at_lt]=${second}`
    expect(await shows(page, between)).toBeGreaterThan(100)
    await page.getByRole('banner').getByRole('button', { name: 'Fixed range' }).waitFor()
  })

  it('is chosen in the toolbar on a phone', async () => {
    const page = await open('filter[username_eq]=bob', { viewport: { width: 390, height: 844 } })
    const tools = page.getByRole('navigation', { name: 'Tools' })
    await tools.getByRole('button', { name: 'All time' }).click()
    await dialog(page).getByRole('button', { name: 'Last 7 days' }).click()
    await tools.getByRole('button', { name: '7 days' }).waitFor()
    await shows(page, 'filter[username_eq]=bob')
    expect(page.url()).toContain('range=7d')
  })
})
