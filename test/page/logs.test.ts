import type { AddressInfo } from 'node:net'
import { AuditLogs } from 'daybook'
import { auditPage, basicAuth, logRoutes } from 'daybook/koa'
import { memoryLogs } from 'daybook/memory'
import { workflowEventTypes, workflowLinks } from 'daybook/workflow'
import Koa from 'koa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPage } from '../support/browser.js'
import { send } from '../support/http.js'
import { violationsOf } from './axe.js'
import { readDownload } from './downloads.js'
import { rowsOf } from './shown.js'

let logs: AuditLogs<typeof workflowEventTypes, typeof workflowLinks>
let url = ''
let close: () => Promise<void>

const KEYS = [
  'acme',
  'acme/EU',
  'globex <b>',
  ...Array.from({ length: 60 }, (_, i) => `tenant-${i}`),
]

beforeAll(async () => {
  logs = new AuditLogs({
    stores: memoryLogs(),
    types: workflowEventTypes,
    links: workflowLinks,
  })
  for (const key of KEYS)
    await logs
      .log(key)
      .record('api:projects:create', { name: `Project of ${key}` }, { username: 'ann' })
  const app = new Koa()
  app.use(basicAuth({ users: { ann: 'ann' } }))
  app.use(logRoutes(logs))
  app.use(auditPage(logs))
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await logs.close()
  }
})
afterAll(() => close())

it('lets the user search and choose logs, and shows the log of each event', async () => {
  const page = await openPage(`${url}/audit`, { user: 'ann' })
  const boxes = page.getByRole('checkbox')
  await expect.poll(() => boxes.count()).toBe(50)
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Show more' }).click()
  await expect.poll(() => boxes.count()).toBe(KEYS.length)
  await page.getByLabel('Search by key').fill('ACME')
  await expect.poll(() => boxes.count()).toBe(2)
  await page.getByRole('checkbox', { name: 'acme/EU' }).check()
  await page.getByLabel('Search by key').fill('globex')
  await page.getByRole('checkbox', { name: 'globex' }).check()
  await expect
    .poll(() => new URL(page.url()).searchParams.get('selected'))
    .toBe('acme%2FEU,globex%20%3Cb%3E')
  await page.reload()
  await page.getByRole('link', { name: 'Show 2 logs' }).click()
  await expect.poll(() => rowsOf(page).count()).toBe(2)
  for (const key of ['acme/EU', 'globex <b>'])
    await rowsOf(page).filter({ hasText: key }).first().waitFor()
  expect(await page.locator('.logs-nav b').textContent()).toBe('acme/EU, globex <b>')
  expect(await violationsOf(page)).toEqual([])
  // Live, in either log.
  await logs.log('acme/EU').record('api:projects:destroy', { name: 'gone' }, { username: 'ann' })
  await expect.poll(() => rowsOf(page).count()).toBe(3)
  await page.getByRole('link', { name: 'Choose logs' }).click()
  expect(await page.getByRole('checkbox', { name: 'acme/EU' }).isChecked()).toBe(true)
})

it('groups, exports, reports and reads histories of several logs', async () => {
  const data = { project_path: '/projects/both', log: 'the attribute' }
  const [first, second] = [logs.log('tenant-1'), logs.log('tenant-2')]
  await first.recordChange('api:projects:create', null, { n: 1 }, { data })
  await second.recordChange('api:projects:update', { n: 1 }, { n: 2 }, { data })
  const columns = 'columns=log_key,who,what,.log'
  const address = `${url}/audit/logs/tenant-1,tenant-2?${columns}`
  const page = await openPage(address, { user: 'ann' })
  await expect.poll(() => rowsOf(page).count()).toBe(4)
  const newest = rowsOf(page).first()
  // The list shows its own columns until the code of the chosen columns is loaded.
  await expect
    .poll(() => newest.getByRole('gridcell').allTextContents())
    .toEqual(expect.arrayContaining(['Log: tenant-2', 'log: the attribute']))
  const headers = await page.getByRole('columnheader').allTextContents()
  expect(headers).toEqual(expect.arrayContaining(['Log', 'log']))
  await newest.click()
  const panel = page.getByRole('complementary', { name: 'Event' })
  await panel.getByRole('definition').filter({ hasText: 'tenant-2' }).waitFor()
  await panel.getByRole('definition').getByRole('button', { name: 'History' }).click()
  const history = page.getByRole('complementary', { name: 'History' })
  await expect.poll(() => history.locator('.timeline > li').count()).toBe(2)
  await page.keyboard.press('Escape')
  await page.keyboard.press('e')
  const sheet = page.getByRole('dialog', { name: 'Export' })
  await sheet.getByRole('button', { name: 'NDJSON', exact: true }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    sheet.getByRole('button', { name: 'Export NDJSON' }).click(),
  ])
  const lines = (await readDownload(download)).trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { log: string }).log).toSorted()).toEqual([
    ...['tenant-1', 'tenant-1', 'tenant-2', 'tenant-2'],
  ])
  await sheet.getByRole('button', { name: 'Report' }).click()
  const report = page.getByRole('dialog', { name: 'Report' })
  await report.getByRole('table').getByText('tenant-1').first().waitFor()
  await page.goto(`${address}&groups=username`)
  await page.getByRole('table', { name: 'Groups' }).getByText('ann').waitFor()
})

it('shows one log with all its features', async () => {
  const page = await openPage(`${url}/audit`, { user: 'ann' })
  await page.getByRole('link', { name: 'Open acme alone' }).click()
  await rowsOf(page).first().waitFor()
  expect(new URL(page.url()).pathname).toBe('/audit/logs/acme')
  expect(await rowsOf(page).count()).toBe(1)
  await rowsOf(page).first().click()
  await page.getByRole('complementary', { name: 'Event' }).waitFor()
  await page.getByRole('button', { name: 'Export' }).first().waitFor()
})

it('speaks German', async () => {
  const page = await openPage(`${url}/audit`, { user: 'ann', locale: 'de-DE' })
  await page.getByRole('heading', { name: 'Protokolle auswählen' }).waitFor()
})

it('has no page for texts that cannot be logs', async () => {
  const many = Array.from({ length: 101 }, (_, i) => i).join()
  for (const path of ['logs/', 'logs/%00', `logs/${many}`, 'logs/%E0%A4%A'])
    expect((await send(url, `/audit/${path}`)).status).toBe(404)
  const { body } = await send(url, '/audit/logs/%22%3E%3Cscript%3E')
  expect(body).not.toContain('<script>')
  expect((await send(url, '/audit/logs/a,b')).headers['location']).toBe(
    '/audit/logs/a,b?columns=log_key,who,what,type,source',
  )
})
