import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { parseCsv } from '../../support/csv.js'
import { type PageHost, serveStory } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { readDownload } from '../downloads.js'

/* The task: everything that bob did between two times, as a CSV file. */

let host: PageHost
beforeAll(async () => {
  host = await serveStory()
})
afterAll(() => host.close())

it('all of bob between two times as CSV', async () => {
  const { events: all } = await host.audit.list('filter[username_eq]=bob&limit=1000')
  const [from, to] = [all[Math.floor(all.length / 4)]!, all[Math.floor(all.length / 2)]!].map(
    ({ created_at }) => created_at.slice(0, 16),
  )
  const ids = all
    .filter(({ created_at }) => created_at.slice(0, 16) >= from! && created_at.slice(0, 16) < to!)
    .map(({ id }) => id)
  expect(ids.length).toBeGreaterThan(10)

  const page = await openPage(host.page, { user: 'ann' })
  const { click, press, type, sees } = auditor(page)
  const typed = `user:bob ${from!.replace('T', ' ')} - ${to!.replace('T', ' ')}`
  await type(typed, page.getByRole('combobox', { name: 'Add a filter' }))
  await sees(ids.toReversed().slice(0, 8))
  await press('Escape')
  await click(page.getByRole('button', { name: 'Export', exact: true }))
  const sheet = page.getByRole('dialog', { name: 'Export' })
  await click(sheet.getByRole('button', { name: 'CSV', exact: true }))
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    click(sheet.getByRole('button', { name: 'Export CSV' })),
  ])
  const [head, ...rows] = parseCsv(await readDownload(download))
  const id = head!.indexOf('id')
  expect(rows.map((row) => row[id])).toEqual(ids)
})
