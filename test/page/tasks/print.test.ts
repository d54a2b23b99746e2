import { extractText, getDocumentProxy } from 'unpdf'
import { expect, it, onTestFinished } from 'vitest'
import { openPage } from '../../support/browser.js'
import { serveStory } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { matching, rowsOf } from '../shown.js'

it('prints everything that bob was not allowed to do', async () => {
  const host = await serveStory()
  onTestFinished(() => host.close())
  const page = await openPage(host.page, { user: 'ann' })
  await rowsOf(page).first().waitFor()
  await page.evaluate('globalThis.print = () => { globalThis.isPrinted = true }')
  const { click, press, sees, type } = auditor(page)
  await type('type ends with :denied', page.getByRole('combobox', { name: 'Add a filter' }))
  const denied = await matching(host.audit, 'filter[type_end]=:denied')
  await sees(denied.slice(0, 3))
  await press('Escape')
  await press('p')
  await page.getByRole('heading', { name: 'Audit report: acme workflows' }).waitFor()
  await type('Denied approvals', page.getByRole('textbox', { name: 'Title of the report' }))
  await click(page.getByRole('button', { name: 'Print' }))
  expect(await page.evaluate('globalThis.isPrinted')).toBe(true)

  const pdf = await page.pdf({ format: 'A4', preferCSSPageSize: true })
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(pdf)))
  const ids = text.join(' ').match(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g)
  expect(denied.length).toBeGreaterThan(0)
  expect(ids).toEqual(denied.toReversed())
})
