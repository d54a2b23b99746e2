import type { AuditEvent } from 'daybook'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { type PageHost, serveStory } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { rowsOf, WAIT } from '../shown.js'

/* Keep a query under a name, and be told about what it will find. */

const delivered: AuditEvent[] = []
let host: PageHost

beforeAll(async () => {
  host = await serveStory({
    subscriptions: {
      channels: { oncall: { deliver: (events) => void delivered.push(...events) } },
    },
    management: { authorize: () => true },
    views: { authorize: () => true },
  })
})
afterAll(() => host.close())

it('saves a view, and subscribes to its filter', async () => {
  const page = await openPage(`${host.page}?range=7d&filter[sorts][]=type+asc`, { user: 'ann' })
  const ann = auditor(page)
  await rowsOf(page).first().waitFor()
  await ann.click(page.getByRole('checkbox', { name: /^error/ }))
  await ann.click(page.getByRole('button', { name: 'Views', exact: true }))
  await ann.type('Errors of the night', page.getByLabel('Name', { exact: true }))
  await page.getByRole('heading', { name: 'Errors of the night' }).waitFor()
  const views = page.getByRole('complementary', { name: 'Views' })
  await ann.click(views.getByRole('button', { name: 'Alert me' }))
  await page.getByText('The order and the time range of the list are dropped').waitFor()
  await ann.click(page.getByRole('button', { name: 'Subscribe', exact: true }))
  await page.getByRole('heading', { name: 'errors-of-the-night' }).waitFor()

  const [subscription] = await host.audit.subscriptions.list()
  expect(subscription).toMatchObject({ owner: 'ann', channel: 'oncall' })
  expect(subscription!.filter).not.toMatch(/sorts|created_at/)
  const error = await host.audit.record('error:api:controller:unhandled', { error: 'boom' })
  await host.audit.record('api:changes:create', { name: 'fine' })
  const last = await host.audit.record('error:api:controller:unhandled', { error: 'again' })
  await expect.poll(() => delivered.map(({ id }) => id), WAIT).toEqual([error!.id, last!.id])
})
