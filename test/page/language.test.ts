import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { openPage } from '../support/browser.js'
import { violationsOf } from './axe.js'
import { shareHost } from './shared-host.js'
import { rowsOf, WAIT } from './shown.js'

const host = shareHost()

const BLANK = 'about:blank'

/** Opens the page in a browser with this language. Returns the names of the language files that it loads. */
async function open(locale: string, address = ''): Promise<{ page: Page; files: string[] }> {
  const page = await openPage(BLANK, { user: 'ann', locale })
  const files: string[] = []
  page.on('response', (response) => {
    const [, file] = /\/(\w+)-[\w-]{8}\.js$/.exec(response.url()) ?? []
    if (file === 'en' || file === 'de') files.push(file)
  })
  await page.goto(`${host.page}${address}`)
  await rowsOf(page).first().waitFor()
  return { page, files }
}

const LANGUAGE = 'document.documentElement.lang'

it('shows the page in the language of the browser, and loads only its texts', async () => {
  const { page, files } = await open('de-DE')
  expect(await page.evaluate(LANGUAGE)).toBe('de')
  expect(await page.title()).toMatch(/^Audit-Protokoll/)
  await page.getByRole('columnheader', { name: 'Was geschah' }).waitFor()
  const { total } = await host.audit.count('')
  await page.getByRole('heading', { name: `${total.toLocaleString('de')} Ereignisse` }).waitFor()
  expect(files).toEqual(['de'])
  await page
    .getByRole('complementary', { name: 'Facetten' })
    .getByRole('heading', { name: 'Benutzer username' })
    .waitFor()
  expect(await violationsOf(page)).toEqual([])
})

it('shows the page in English to readers of other languages', async () => {
  const { page, files } = await open('fr-FR')
  expect(await page.evaluate(LANGUAGE)).toBe('en')
  await page.getByRole('columnheader', { name: 'What happened' }).waitFor()
  expect(files).toEqual(['en'])
})

it('keeps the language that the user chooses, and the query', async () => {
  const address = '?range=all&filter[username_eq]=bob'
  const { page } = await open('en-US', address)
  const column = page.getByRole('complementary', { name: 'Facets' })
  await column.getByRole('combobox', { name: 'Language' }).selectOption('Deutsch')
  await page.getByRole('columnheader', { name: 'Was geschah' }).waitFor()
  expect(await page.evaluate(LANGUAGE)).toBe('de')
  expect(decodeURI(new URL(page.url()).search)).toBe(address)
  await page.getByText('Benutzer ist bob', { exact: false }).first().waitFor()
  await page.reload()
  await expect.poll(() => page.evaluate(LANGUAGE), WAIT).toBe('de')
})
