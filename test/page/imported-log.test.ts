import { expect, it } from 'vitest'
import { openPage } from '../support/browser.js'
import { servePage } from '../support/page-host.js'
import { dayOfEvents } from '../support/story.js'
import { shareHost } from './shared-host.js'
import { rowIds, rowsOf, WAIT } from './shown.js'

/* A log whose events are older than the default range. */

const END = Date.parse('2024-02-29T12:00:00Z') * 1000

const host = shareHost(() => servePage({ events: dayOfEvents(END) }))

it('is shown from its first event to its newest, with a note', async () => {
  const { events } = await host.audit.list('limit=1000')
  const [oldest] = (await host.audit.list('filter[sorts]=created_at&limit=1')).events
  const page = await openPage(host.page, { user: 'ann' })
  const newest = events
    .toReversed()
    .slice(0, 8)
    .map(({ id }) => id)
  await expect.poll(async () => (await rowIds(page)).slice(0, 8), WAIT).toEqual(newest)
  const chart = page.getByRole('region', { name: 'Events over time' })
  await chart.getByText('No event is in the last 24 hours.').waitFor()
  const { searchParams } = new URL(page.url())
  const from = searchParams.get('filter[created_at_gteq]')!
  const distance = Date.parse(oldest!.created_at) - Date.parse(from)
  expect(distance).toBeGreaterThanOrEqual(0)
  expect(distance).toBeLessThan(1000)
  expect(searchParams.get('filter[created_at_lt]')! > events.at(-1)!.created_at).toBe(true)
  const total = (await host.audit.count('')).total
  await chart.getByRole('heading', { name: `${total.toLocaleString('en-US')} events` }).waitFor()

  await chart.getByRole('button', { name: 'Last 24 hours' }).click()
  await page.getByRole('heading', { name: /^No event/ }).waitFor()
  expect(new URL(page.url()).search).toBe('?range=24h')
  expect(await chart.getByText('No event is in').count()).toBe(0)
})

it('is not shown instead of a query of the address', async () => {
  const page = await openPage(`${host.page}?range=24h`, { user: 'ann' })
  await page.getByRole('heading', { name: /^No event/ }).waitFor()
  await page.getByRole('button', { name: 'Widen' }).waitFor()
  expect(await rowsOf(page).count()).toBe(0)
})
