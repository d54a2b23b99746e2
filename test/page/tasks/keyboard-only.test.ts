import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { type PageHost, serveStory } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { matching, rowsOf, WAIT } from '../shown.js'

let host: PageHost
beforeAll(async () => {
  host = await serveStory()
})
afterAll(() => host.close())

it('by keys only: filters, opens the newest event, and returns to its row', async () => {
  const page = await openPage(host.page, { user: 'ann', viewport: { width: 1440, height: 900 } })
  await rowsOf(page).first().waitFor()
  const { press, type, sees } = auditor(page)
  const ids = await matching(host.audit, 'filter[username_eq]=bob')
  await press('/')
  await type('user:bob')
  await sees(ids.slice(0, 5))
  await press('Escape')
  await press('j')
  await press('Enter')
  const openId = (): string => decodeURIComponent(new URL(page.url()).hash)
  await expect.poll(openId, WAIT).toBe(`#event=${ids[0]}`)
  const panel = page.getByRole('complementary', { name: 'Event' })
  await expect.poll(() => panel.innerText(), WAIT).toContain(ids[0]!)
  await press('Escape')
  const focused = (): Promise<string | null> =>
    page.evaluate('document.activeElement.dataset.id ?? null')
  await expect.poll(focused, WAIT).toBe(ids[0])
})
