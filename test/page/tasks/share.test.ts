import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { type PageHost, serveStory } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { copied, rowIds, rowOf, rowsOf, WAIT } from '../shown.js'

/* Show a colleague exactly what one sees. */

let host: PageHost
beforeAll(async () => {
  host = await serveStory()
})
afterAll(() => host.close())

it('shares what is shown by a link', async () => {
  const page = await openPage(`${host.page}?range=24h&zone=Asia/Tokyo`, { user: 'ann' })
  const ann = auditor(page)
  await rowsOf(page).first().waitFor()
  await ann.click(page.getByRole('checkbox', { name: /^bob/ }))
  const { events } = await host.audit.list('filter[username_eq]=bob&filter[sorts]=type&limit=1000')
  await ann.click(page.getByRole('columnheader', { name: /^Type/ }).getByRole('button'))
  await ann.sees(events.map(({ id }) => id).slice(0, 4))
  const opened = events[2]!.id
  await ann.click(rowOf(page, opened))
  const link = await copied(page, () => ann.press('y'))
  const shown = (await rowIds(page)).slice(0, 8)

  // What happens later is not part of it.
  await host.audit.record('api:changes:create', { name: 'later' }, { username: 'bob' })
  const colleague = await openPage(link, { user: 'eve' })
  expect(shown.length).toBeGreaterThan(3)
  await expect.poll(async () => (await rowIds(colleague)).slice(0, 8), WAIT).toEqual(shown)
  // In the zone of the sender, whatever that of the colleague is.
  const firstTime = (of: Page): Promise<string | null> =>
    rowsOf(of).first().getByRole('gridcell').first().textContent()
  expect(await firstTime(colleague)).toBe(await firstTime(page))
  const panel = colleague.getByRole('complementary', { name: 'Event' })
  await panel.getByText(opened).first().waitFor()
})
