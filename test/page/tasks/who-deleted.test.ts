import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { type PageHost, serveStory } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { rowOf } from '../shown.js'

/* The task: who deleted the bookmark "Runbook of checkout"? */

let host: PageHost
let id: string
beforeAll(async () => {
  host = await serveStory()
  const name = 'Runbook of checkout'
  const by = (username: string) => ({ username })
  await host.audit.record('api:bookmarks:create', { name }, by('ann'))
  await host.audit.record('api:bookmarks:destroy', { name: 'Runbook of returns' }, by('ann'))
  const deleted = await host.audit.record('api:bookmarks:destroy', { name }, by('mira'))
  id = deleted!.id
})
afterAll(() => host.close())

it('who deleted X', async () => {
  const page = await openPage(host.page, { user: 'bob' })
  const { type, sees } = auditor(page)
  await type(
    'type:destroy "runbook of checkout"',
    page.getByRole('combobox', { name: 'Add a filter' }),
  )
  await sees([id])
  const row = rowOf(page, id)
  expect(await row.getByRole('gridcell').nth(2).innerText()).toContain('mira')
})
