import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { type PageHost, serveStory } from '../../support/page-host.js'
import { dayOfEvents } from '../../support/story.js'
import { auditor } from '../auditor.js'
import { copied, rowIds, rowsOf, WAIT } from '../shown.js'

/* The task: what happened yesterday between 9 and 18 o'clock, as a colleague in Kathmandu counts the hours? */

// Kathmandu is 5 h 45 min ahead of UTC, all year.
const AHEAD_MS = 345 * 60_000
const DAY_MS = 86_400_000
const today = Math.floor((Date.now() + AHEAD_MS) / DAY_MS) * DAY_MS - AHEAD_MS

let host: PageHost
beforeAll(async () => {
  // All of yesterday in Kathmandu, at whatever hour this runs.
  host = await serveStory({ events: dayOfEvents(today * 1000) })
})
afterAll(() => host.close())

it('another zone', async () => {
  const at = (hours: number): string => new Date(today + hours * 3_600_000).toISOString()
  const filter = `filter[created_at_gteq]=${at(9 - 24)}&filter[created_at_lt]=${at(18 - 24)}`
  const { events } = await host.audit.list(`${filter}&limit=1000`)
  const ids = events.map(({ id }) => id).toReversed()
  expect(ids.length).toBeGreaterThan(20)

  const page = await openPage(host.page, { user: 'ann' })
  const { click, type, sees } = auditor(page)
  await click(page.getByRole('button', { name: 'Times in UTC' }))
  await type('kathm', page.getByRole('combobox', { name: 'Find a city or a zone' }))
  await type('yesterday 9:00-18:00', page.getByRole('combobox', { name: 'Add a filter' }))
  await sees(ids.slice(0, 8))
  const header = page.getByRole('columnheader', { name: /^Time/ })
  expect(await header.innerText()).toContain('UTC+5:45')
  const clock = new Date(Date.parse(events.at(-1)!.created_at) + AHEAD_MS)
  expect(await rowsOf(page).first().innerText()).toContain(clock.toISOString().slice(11, 19))

  const link = await copied(page, () =>
    page.getByRole('button', { name: 'Link', exact: true }).click(),
  )
  const colleague = await openPage(link, { user: 'bob' })
  await expect
    .poll(async () => (await rowIds(colleague)).slice(0, 8), WAIT)
    .toEqual(ids.slice(0, 8))
  await colleague.getByRole('button', { name: /^Times in Asia\/Kat/ }).waitFor()
})
