import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { openPage } from '../support/browser.js'
import { shareHost } from './shared-host.js'
import { copied, expectShown, rowIds, rowsOf, WAIT } from './shown.js'

/* The parts of the address beside the query. */

const host = shareHost()

const open = (search: string): Promise<Page> =>
  host.visit(`${host.page}?${search}`, { user: 'ann' })

const facets = (page: Page): Promise<string[]> =>
  page.getByRole('complementary', { name: 'Facets' }).getByRole('heading').allTextContents()

it('shows the facets of the address, and writes added facets into it', async () => {
  const page = await open('range=7d&facets=system,change_name')
  await expect.poll(() => facets(page), WAIT).toEqual(['Level', 'system', 'change_name'])
  await page.getByRole('button', { name: '+ Facet by any attribute' }).click()
  await page.keyboard.type('a,b%')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Add anyway' }).click()
  await expect.poll(() => facets(page), WAIT).toEqual(['Level', 'system', 'change_name', 'a,b%'])
  const reopened = await host.visit(page.url(), { user: 'bob' })
  await expect
    .poll(() => facets(reopened), WAIT)
    .toEqual(['Level', 'system', 'change_name', 'a,b%'])
  await page.goBack()
  await expect.poll(() => facets(page), WAIT).toEqual(['Level', 'system', 'change_name'])
})

it('keeps them while the query changes, and sends the service only the query', async () => {
  const page = await open('range=7d&facets=system&filter[username_eq]=ann')
  await rowsOf(page).first().waitFor()
  const sent = page.waitForRequest((request) => request.url().includes('/api/events?'))
  await page.getByRole('button', { name: 'Remove filter user is ann' }).click()
  expect((await sent).url()).not.toContain('facets')
  await expect.poll(() => new URL(page.url()).search, WAIT).toBe('?range=7d&facets=system')
})

it('reads hostile texts as names', async () => {
  const hostile = 'range=7d&facets=%ff,level,level,__proto__,%3Cb%3E&view=%'
  const page = await openPage(`${host.page}?${hostile}&toString=1`, { user: 'ann' })
  await page.getByRole('heading', { name: 'Part of the query is invalid' }).waitFor()
  await page.goto(`${host.page}?${hostile}`)
  await rowsOf(page).first().waitFor()
  await expect.poll(() => facets(page), WAIT).toContain('<b>')
})

it('is copied without the events that still wait', async () => {
  const page = await open('range=24h&filter[username_eq]=mira')
  // An event that is recorded before the list is loaded would not wait.
  await rowsOf(page).first().waitFor()
  await page.getByRole('button', { name: 'Live', exact: true }).click()
  const [shown] = await rowIds(page)
  await host.audit.record('api:changes:create', { name: 'new' }, { username: 'mira' })
  await page.getByRole('button', { name: /^Paused\s*\+1$/ }).waitFor()
  const link = await copied(page, () => page.keyboard.press('y'))
  const other = await host.visit(link, { user: 'bob' })
  await expect.poll(async () => (await rowIds(other))[0], WAIT).toBe(shown)
  await expectShown(other, host.audit, new URL(link).search.slice(1))
})

it('is copied with the facets that the user has chosen', async () => {
  const page = await open('range=7d')
  await page.getByRole('button', { name: '+ Facet by any attribute' }).click()
  await page.keyboard.type('change_name')
  await page.keyboard.press('Enter')
  await expect.poll(() => facets(page), WAIT).toContain('change_name')
  const link = await copied(page, () => page.keyboard.press('y'))
  const other = await host.visit(link, { user: 'bob' })
  await expect.poll(() => facets(other), WAIT).toEqual(await facets(page))
})

it('is copied with the default columns, so the columns of a colleague do not apply', async () => {
  const headers = (page: Page): Promise<string[]> =>
    page.getByRole('columnheader').allTextContents()
  const page = await open('range=7d')
  await rowsOf(page).first().waitFor()
  const link = await copied(page, () => page.keyboard.press('y'))
  const other = await host.visit(host.page, { user: 'bob' })
  await other.evaluate(`localStorage.setItem('daybook.columns', 'time,change_name')`)
  await other.reload()
  await other.getByRole('columnheader', { name: 'change_name' }).waitFor()
  await other.goto(link)
  await expect.poll(() => headers(other), WAIT).toEqual(await headers(page))
})
