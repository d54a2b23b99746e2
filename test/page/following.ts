import type { Locator, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { type OpenPage, openPage, type OpenPageOptions } from '../support/browser.js'
import { type PageHost, type PageHostOptions, servePage } from '../support/page-host.js'
import { dayOfEvents } from '../support/story.js'
import { firstIds, newestFirst } from './rows.js'
import { rowsOf, WAIT } from './shown.js'

/* Helpers for live updates. */

export const TYPE = 'api:changes:create'

/** The story's last events. */
export const past = dayOfEvents(Date.now() * 1000 - 5_000_000).slice(-300)

export async function servePast(options: PageHostOptions = {}): Promise<PageHost> {
  const host = await servePage({ events: past, ...options })
  onTestFinished(() => host.close())
  return host
}

/** Opens the page with live updates. */
export async function openList(
  host: Pick<PageHost, 'page'>,
  options: OpenPageOptions = {},
  open: OpenPage = openPage,
): Promise<Page> {
  const page = await open(`${host.page}?range=all`, { user: 'ann', ...options })
  await rowsOf(page).first().waitFor()
  await page.mouse.move(0, 0)
  return page
}

type Logged = Pick<PageHost, 'audit'>

export async function record(host: Logged, ...names: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const name of names)
    ids.unshift((await host.audit.record(TYPE, { name }, { username: 'bob' }))!.id)
  return ids
}

export const liveButton = (page: Page): Locator =>
  page.getByRole('banner').getByRole('button', {
    name: /^(Live|Paused|Offline|Stopped|Fixed range|Sorted|Not live)/,
  })
export const pill = (page: Page): Locator =>
  page.getByRole('button', { name: /^[\d,]+\+? new events?$/ })

/** Waits until the first rows are the newest events of the log. */
export async function expectNewest(page: Page, host: Logged): Promise<void> {
  const ids = await newestFirst(host.audit)
  await expect.poll(() => firstIds(page, 10), WAIT).toEqual(ids.slice(0, 10))
}
