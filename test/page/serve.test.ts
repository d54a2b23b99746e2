import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FileLog, openFileLog } from '../cli/logs.js'
import { type Serving, startServing } from '../cli/serving.js'
import { openPage } from '../support/browser.js'
import { rowIds, WAIT } from './shown.js'

/* The page that `daybook serve` opens. */

let log: FileLog
let serving: Serving
let ids: readonly string[]
beforeAll(async () => {
  log = openFileLog()
  await log.audit.record('api:projects:create', { name: 'shop' }, { username: 'ann' })
  await log.audit.recordCustom('deploy:note', { n: 1 })
  ids = (await log.audit.list()).events.map(({ id }) => id).toReversed()
  await log.audit.close()
  serving = await startServing([log.file])
})
afterAll(async () => {
  await serving.end()
  await log.close()
})

it('shows the events, and offers nothing that changes the log', async () => {
  const page = await openPage(serving.address)
  await expect.poll(() => rowIds(page), WAIT).toEqual(ids)
  expect(new URL(page.url()).pathname).toBe('/audit')
  await page.getByText('audit.db').first().waitFor()
  await page.getByRole('button', { name: 'Export' }).waitFor()
  for (const name of ['Alert me', 'Subscriptions', 'Views'])
    expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0)
  await page.reload()
  await expect.poll(() => rowIds(page), WAIT).toEqual(ids)
})

it('is not shown to another browser', async () => {
  const page = await openPage(serving.address, { locale: 'de-DE', tolerates: /40[13]/ })
  await page.getByText('this address was used already').waitFor()
  await page.goto(`${serving.origin}/audit`)
  await page.getByText('open the address that daybook serve has printed').waitFor()
})
