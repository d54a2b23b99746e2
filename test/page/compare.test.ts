import type { AuditEvent } from 'daybook'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { openPage, type OpenPageOptions } from '../support/browser.js'
import { servePage } from '../support/page-host.js'
import { shareHost } from './shared-host.js'
import { copied, rowOf, rowsOf, WAIT } from './shown.js'

/* Two events side by side. */

const host = shareHost(servePage)
let first: AuditEvent
let second: AuditEvent

beforeAll(async () => {
  const record = async (data: object, username: string): Promise<AuditEvent> =>
    (await host.audit.record('api:projects:update', { name: 'acme', ...data }, { username }))!
  const request = { request_method: 'PATCH', request_path: '/api/projects/acme' }
  first = await record(
    {
      ...request,
      response_status: 200,
      request_body: { limits: [4, 8], description: 'Storefront and checkout' },
      code: 8,
      duration_ms: 18,
    },
    'ann',
  )
  second = await record(
    {
      ...request,
      response_status: 500,
      request_body: { limits: [4, 9], description: 'Storefront and returns' },
      code: '8',
      error: 'boom',
    },
    'bob',
  )
})

const comparison = (page: Page) => page.getByRole('complementary', { name: 'Comparison' })

/** The visible rows: sign and attribute, value of the first event, value of the second. */
const shownRows = (page: Page): Promise<string[][]> =>
  comparison(page)
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)))

const expectRows = (page: Page, rows: readonly string[][]) =>
  expect.poll(() => shownRows(page), WAIT).toEqual(rows)

const DIFFERENT = [
  ['≠different: username', 'ann', 'bob'],
  ['≠different: response_status', '200', '500'],
  ['≠different: request_body.limits[1]', '8', '9'],
  ['≠different: request_body.description', 'Storefront and checkout', 'Storefront and returns'],
  ['≠different: code', '8', '"8"'],
  ['−only in the first: duration_ms', '18', 'missing'],
  ['+only in the second: error', 'missing', 'boom'],
]

const open = (hash = '', options: OpenPageOptions = {}): Promise<Page> =>
  host.visit(`${host.page}?range=all${hash}`, { user: 'ann', ...options })

const addressed = (one: AuditEvent, other: AuditEvent): string => `#compare=${one.id},${other.id}`

describe('a comparison', () => {
  it('shows the differences, and on request the equal values', async () => {
    const page = await open(addressed(first, second))
    await expectRows(page, DIFFERENT)
    await comparison(page).getByText('7 differences').waitFor()
    const marked = await comparison(page).locator('.differs').allTextContents()
    expect(marked).toContain('checkout')
    expect(marked).not.toContain('Storefront')
    await comparison(page).getByRole('button', { name: 'Show 7 equal attributes' }).click()
    await expect.poll(async () => (await shownRows(page)).length, WAIT).toBe(14)
    expect(await shownRows(page)).toContainEqual(['=equal: request_method', 'PATCH', 'PATCH'])
  })

  it('swaps its sides, and has a link', async () => {
    const page = await open(addressed(first, second))
    await comparison(page).getByRole('button', { name: 'Swap sides' }).click()
    await expect
      .poll(async () => (await shownRows(page))[0], WAIT)
      .toEqual(['≠different: username', 'bob', 'ann'])
    const link = await copied(page, () =>
      comparison(page).getByRole('button', { name: 'Copy link to this comparison' }).click(),
    )
    expect(new URL(link).hash).toBe(addressed(second, first))
    await page.goBack()
    await expectRows(page, DIFFERENT)
  })

  it('says that one of the events does not exist', async () => {
    const id = '0199f1a6-02cc-7d14-9a55-000000000000'
    const page = await openPage(`${host.page}?range=all#compare=${first.id},${id}`, {
      user: 'ann',
      tolerates: new RegExp(`404.*${id}`),
    })
    await comparison(page).getByText('One of the events does not exist').waitFor()
  })
})

describe('the events to compare are chosen', () => {
  const hash = (page: Page) => expect.poll(() => new URL(page.url()).hash, WAIT)

  it('with m on two rows', async () => {
    const page = await open()
    await rowOf(page, second.id).focus()
    await page.keyboard.press('m')
    await page.locator('.picking').getByText('bob updated project acme').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('m')
    await hash(page).toBe(addressed(second, first))
    await comparison(page).getByRole('heading').waitFor()
    await page.keyboard.press('Escape')
    await comparison(page).waitFor({ state: 'detached' })
    await expect.poll(() => page.locator(':focus').getAttribute('data-id'), WAIT).toBe(second.id)
  })

  it('with the button of a row', async () => {
    const page = await open()
    await rowOf(page, first.id).locator('time').hover()
    await rowOf(page, first.id).getByRole('button', { name: 'Compare' }).click()
    await page.locator('.picking').waitFor()
    await rowOf(page, second.id).locator('time').hover()
    await rowOf(page, second.id).getByRole('button', { name: 'Compare' }).click()
    await hash(page).toBe(addressed(first, second))
  })

  it('or not, with Cancel or Escape', async () => {
    const page = await open()
    const bar = page.locator('.picking')
    await rowOf(page, first.id).click()
    await page.getByRole('button', { name: 'Compare with…' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await bar.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Compare with…' }).click()
    await bar.waitFor()
    await page.keyboard.press('Escape')
    await bar.waitFor({ state: 'detached' })
    await rowOf(page, second.id).click()
    await hash(page).toBe(`#event=${second.id}`)
  })

  it('on a phone, where the panel is closed to choose the second', async () => {
    const page = await open('', { viewport: { width: 390, height: 844 } })
    await rowsOf(page).first().waitFor()
    await rowOf(page, first.id).click()
    await page.getByRole('button', { name: 'Compare with…' }).click()
    await page.getByRole('button', { name: 'Back to the list' }).click()
    await rowOf(page, second.id).click()
    await expectRows(page, DIFFERENT)
  })
})
