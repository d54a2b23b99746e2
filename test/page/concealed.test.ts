import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openPage } from '../support/browser.js'
import { servePage } from '../support/page-host.js'
import { dayOfEvents } from '../support/story.js'
import { shareHost } from './shared-host.js'
import { rowsOf, WAIT } from './shown.js'

/* The page of a user who does not see some attributes. */

const CONCEALED = ['name', 'url_params', 'remote_address']

const host = shareHost(() =>
  servePage({
    events: dayOfEvents(Date.now() * 1000 - 5_000_000).slice(-200),
    feed: { conceal: () => CONCEALED },
  }),
)

// An address without counts needs a page of its own.
const open = async (address: string): Promise<Page> =>
  openPage(`${host.page}?range=all&${address}`, { user: 'ann', tolerates: /400 \(Bad Request\)/ })

const facetsOf = (page: Page) => page.getByRole('complementary', { name: 'Facets' })
const countedOf = (page: Page) => facetsOf(page).getByRole('checkbox', { name: /^api/ }).first()

describe('a concealed attribute', () => {
  it('does not keep the other facets and the chart from being counted', async () => {
    const page = await open('facets=type,name,username')
    await countedOf(page).waitFor()
    const section = facetsOf(page)
      .locator('section')
      .filter({ has: page.locator('code', { hasText: 'name' }) })
    await expect
      .poll(() => section.allInnerTexts(), WAIT)
      .toContainEqual(expect.stringContaining('You may not see this attribute'))
    await facetsOf(page).getByRole('checkbox', { name: /^ann/ }).first().waitFor()
    await page.getByRole('region', { name: 'Events over time' }).getByRole('heading').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('does not disturb the facets that the page shows by itself', async () => {
    const page = await open('')
    await countedOf(page).waitFor()
    expect(await facetsOf(page).innerText()).not.toContain('You may not see')
  })

  it.each([
    ['a filter', 'filter[name_cont]=a&filter[type_start]=api', /filter\[type_start\]=api/],
    ['an order', 'filter[sorts]=remote_address%20desc&filter[type_start]=api', /type_start/],
  ])('in %s is named, and can be left out', async (_name, address, left) => {
    const page = await open(address)
    await page
      .getByRole('heading', { name: /^You may not see “(?:name|remote_address)”$/ })
      .waitFor()
    await page.getByRole('button', { name: 'Leave it out' }).click()
    await rowsOf(page).first().waitFor()
    expect(decodeURIComponent(page.url())).toMatch(left)
    expect(page.url()).not.toMatch(/name_cont|sorts/)
  })

  it('is empty as a column', async () => {
    const page = await open('columns=name')
    await rowsOf(page).first().waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })
})
