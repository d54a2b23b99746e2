import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { parseCsv } from '../support/csv.js'
import { servePage } from '../support/page-host.js'
import { readDownload } from './downloads.js'
import { requestEvents } from './requests.js'
import { scrollThrough } from './rows.js'
import { shareHost } from './shared-host.js'
import { rowIds, rowsOf, WAIT } from './shown.js'

const events = requestEvents(
  Array.from({ length: 300 }, (_, n) => ({
    path: `/api/r${n % 7}`,
    status: n % 10 === 0 ? 500 : 200,
    ms: (n * 37) % 301,
    more: { occurred_at: '2020-05-01T10:00:00.000000Z', tags: ['a', 'b'] },
  })),
)

const host = shareHost(() => servePage({ events }))

const open = async (search: string, options = {}): Promise<Page> => {
  const page = await host.visit(`${host.page}?range=all${search}`, {
    user: 'ann',
    tolerates: /stream/,
    ...options,
  })
  await rowsOf(page).first().waitFor()
  return page
}

const headers = (page: Page): Promise<string[]> => page.getByRole('columnheader').allTextContents()

const cells = (page: Page): Promise<string[]> =>
  rowsOf(page).first().getByRole('gridcell').allTextContents()

const parameter = (page: Page, name: string): string | null =>
  new URL(page.url()).searchParams.get(name)

const sheet = (page: Page) => page.getByRole('dialog', { name: 'Columns' })

describe('chosen columns', () => {
  it('are the columns of the address, in their order and with their widths', async () => {
    const page = await open('&columns=response_status:90,what,tags,who')
    await expect
      .poll(async () => (await headers(page)).slice(2), WAIT)
      .toEqual(['response_status', 'What happened', 'tags', 'Who'])
    const [, , status, , tags, who] = await cells(page)
    expect([status, tags, who].map((text) => text!.replace(/^.*?: /, ''))).toEqual([
      '200',
      'a, b',
      'ann',
    ])
    const box = await page.getByRole('columnheader', { name: 'response_status' }).boundingBox()
    expect(Math.round(box!.width)).toBe(90)
    const row = await rowsOf(page).first().boundingBox()
    expect(Math.round(row!.height)).toBe(34)
  })

  it('keep names with characters that the address separates by', async () => {
    const names = ['a,b', 'a+b', 'a%2Cb', 'a:12', '.a', '@a']
    const page = await open('')
    await page.getByRole('button', { name: 'Columns' }).click()
    for (const name of names) {
      await sheet(page).getByRole('combobox', { name: 'Add a column' }).fill(name)
      await page.keyboard.press('Enter')
    }
    await sheet(page).getByRole('button', { name: 'Done' }).click()
    const last = async (): Promise<string[]> => (await headers(page)).slice(-names.length)
    await expect.poll(last, WAIT).toEqual(names)
    await page.reload()
    await expect.poll(last, WAIT).toEqual(names)
    await page.getByRole('button', { name: 'Columns' }).click()
    await sheet(page).getByRole('button', { name: 'Reset' }).click()
  })

  it('are chosen, moved, given a width, kept and reset', async () => {
    const page = await open('')
    await page.getByRole('button', { name: 'Columns' }).click()
    await sheet(page).getByRole('combobox', { name: 'Add a column' }).fill('duration_ms')
    await page.keyboard.press('Enter')
    await expect
      .poll(() => parameter(page, 'columns'), WAIT)
      .toBe('who,what,type,source,duration_ms')
    await sheet(page).getByRole('button', { name: 'Move duration_ms to the left' }).click()
    await sheet(page).getByRole('button', { name: 'Remove Type' }).click()
    await sheet(page)
      .getByRole('spinbutton', { name: 'Width of duration_ms in pixels' })
      .fill('120')
    await page.keyboard.press('Tab')
    await expect
      .poll(() => parameter(page, 'columns'), WAIT)
      .toBe('who,what,duration_ms:120,source')
    await sheet(page).getByRole('button', { name: 'Done' }).click()
    await page.goto(`${host.page}?range=all`)
    await expect
      .poll(async () => (await headers(page)).slice(2), WAIT)
      .toEqual(['Who', 'What happened', 'duration_ms', 'Source'])
    await page.getByRole('button', { name: 'Columns' }).click()
    await sheet(page).getByRole('button', { name: 'Reset' }).click()
    await expect
      .poll(async () => (await headers(page)).slice(2), WAIT)
      .toEqual(['Who', 'What happened', 'Type', 'Source'])
    expect(parameter(page, 'columns')).toBeNull()
  })

  it('sort by an attribute after a click on its header', async () => {
    const page = await open('&columns=who,what,duration_ms')
    await page.getByRole('columnheader', { name: 'duration_ms' }).getByRole('button').click()
    const { events } = await host.audit.list('filter[sorts]=duration_ms&limit=8')
    const ids = events.map(({ id }) => id)
    await expect.poll(async () => (await rowIds(page)).slice(0, 8), WAIT).toEqual(ids)
    expect(
      await page.getByRole('columnheader', { name: 'duration_ms' }).getAttribute('aria-sort'),
    ).toBe('ascending')
  })

  it('filter by the value of an attribute', async () => {
    const page = await open('&columns=who,what,request_path')
    const cell = rowsOf(page).first().getByRole('gridcell').nth(4)
    await cell.hover()
    await cell.getByRole('button', { name: 'is', exact: true }).click()
    await expect.poll(() => parameter(page, 'filter[request_path_eq]'), WAIT).toBe('/api/r5')
  })

  it('have widths that a pointer and the keyboard change', async () => {
    const page = await open('&columns=who,what,duration_ms:100')
    const header = page.getByRole('columnheader', { name: 'duration_ms' })
    await header.waitFor()
    const { x, y, width, height } = (await header.boundingBox())!
    await page.mouse.move(x + width - 3, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width - 43, y + height / 2, { steps: 4 })
    await page.mouse.up()
    await expect.poll(() => parameter(page, 'columns'), WAIT).toBe('who,what,duration_ms:60')
    await header.getByRole('button').focus()
    await page.keyboard.press('Shift+ArrowLeft')
    await expect.poll(() => parameter(page, 'columns'), WAIT).toBe('who,what,duration_ms:50')
  })

  it('move the focus through all cells with the arrow keys', async () => {
    const page = await open('&columns=who,what,duration_ms')
    await page.getByRole('columnheader', { name: 'duration_ms' }).waitFor()
    await rowsOf(page).first().focus()
    for (let n = 0; n < 5; n++) await page.keyboard.press('ArrowRight')
    await expect
      .poll(() => page.evaluate<string>('document.activeElement.className'), WAIT)
      .toBe('attribute')
  })

  it('show another time in the time column, with a note that the order is by created_at', async () => {
    const page = await open('&columns=@occurred_at')
    await expect
      .poll(async () => (await headers(page))[0], WAIT)
      .toContain('occurred_at (order: created_at)')
    await expect
      .poll(async () => (await cells(page))[0], WAIT)
      .toMatch(/^Fri, May 1, 2020, 10:00:00\.000/)
    await page.getByRole('columnheader', { name: 'Type' }).getByRole('button').click()
    await expect.poll(async () => (await headers(page))[0], WAIT).toBe('occurred_at')
    await expect
      .poll(async () => (await cells(page))[0], WAIT)
      .toMatch(/^Fri, May 1, 2020, 10:00:00\.000/)
  })

  it('leave no blank rows while the list scrolls', async () => {
    const page = await open('&columns=who,what,duration_ms,request_path,response_status')
    await page.getByRole('columnheader', { name: 'duration_ms' }).waitFor()
    // All rows are loaded first, because loading the next page may take longer than the frames below.
    const { rows } = await scrollThrough(page, events.length)
    expect(rows).toHaveLength(events.length)
    await page.evaluate(`{ document.querySelector('.rows').scrollTop = 0 }`)
    await expect.poll(async () => (await rowIds(page))[0], WAIT).toBe(events.at(-1)!.id)
    const blanks = await page.evaluate<number>(`(async () => {
      const rows = document.querySelector('.rows')
      const frame = () => new Promise(requestAnimationFrame)
      let blanks = 0
      for (let i = 0; i < 10; i++) {
        rows.scrollTop += 600
        await frame()
        await frame()
        const box = rows.getBoundingClientRect()
        const at = document.elementFromPoint(box.left + 200, box.top + box.height / 2)
        if (!at.closest('.row, .day')) blanks += 1
      }
      return blanks
    })()`)
    expect(blanks).toBe(0)
  })

  it('are lines of the row on a phone', async () => {
    const page = await open('&columns=who,what,request_path', {
      viewport: { width: 390, height: 844 },
    })
    const line = rowsOf(page).first().getByText('request_path: /api/r5')
    await line.waitFor()
    const { width } = (await rowsOf(page).first().boundingBox())!
    expect(width).toBeLessThanOrEqual(390)
  })

  it('are the columns of a CSV export', async () => {
    const page = await open('&columns=who,what,duration_ms,request_path')
    await page.keyboard.press('e')
    const dialog = page.getByRole('dialog', { name: 'Export' })
    await dialog.getByRole('button', { name: 'CSV', exact: true }).click()
    await dialog.getByRole('checkbox', { name: /duration_ms, request_path$/ }).check()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Export CSV' }).click(),
    ])
    const [head, first] = parseCsv(await readDownload(download))
    expect(head!.slice(-3)).toEqual(['sentence', 'duration_ms', 'request_path'])
    expect(first!.slice(-2)).toEqual(['0', '/api/r0'])
  })
})
