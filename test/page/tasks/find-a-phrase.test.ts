import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { type PageHost, serveStory } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { rowOf, WAIT } from '../shown.js'

/* The task: which events have this phrase, and where? */

const PHRASE = "warm_cache.rb:41:in 'connect'"

let host: PageHost
beforeAll(async () => {
  host = await serveStory()
})
afterAll(() => host.close())

it('find a phrase', async () => {
  const { events } = await host.audit.list('limit=1000&filter[backtrace_cont]=warm_cache.rb:41')
  const ids = events.map(({ id }) => id).toReversed()
  expect(ids.length).toBeGreaterThan(0)

  const page = await openPage(host.page, { user: 'ann' })
  const { click, type, sees } = auditor(page)
  await type(`"${PHRASE}"`, page.getByRole('combobox', { name: 'Add a filter' }))
  await sees(ids.slice(0, 8))
  const row = rowOf(page, ids[0]!)
  const marked = row.locator('mark')
  await expect.poll(() => marked.allTextContents(), WAIT).toEqual([PHRASE])
  expect(await row.innerText()).toContain(`backtrace.0: actions/${PHRASE}`)
  await click(row)
  const tree = page.getByRole('complementary', { name: 'Event' }).getByRole('tree')
  await expect.poll(() => tree.locator('mark').allTextContents(), WAIT).toEqual([PHRASE])
  const line = page.getByRole('textbox', { name: 'Query', exact: true })
  expect(await line.textContent()).toContain('q=')
})
