import { expect, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { servePage } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { rowOf, rowsOf, WAIT } from '../shown.js'

it('compare the failed deployment with the one that worked', async ({ onTestFinished }) => {
  const host = await servePage()
  onTestFinished(() => host.close())
  const deploy = async (version: string, error?: string) =>
    (await host.audit.recordCustom('deploy:done', {
      name: `frontend ${version}`,
      region: 'eu',
      settings: { replicas: error === undefined ? 4 : 0, image: `frontend:${version}` },
      ...(error !== undefined && { error }),
    }))!
  const worked = await deploy('4.17.0')
  const failed = await deploy('4.18.0', 'no replica became ready')
  const page = await openPage(`${host.page}?range=all`, { user: 'ann' })
  await rowsOf(page).first().waitFor()
  const task = auditor(page)
  await task.click(rowOf(page, worked.id))
  await task.click(page.getByRole('button', { name: 'Compare with…' }))
  await task.click(rowOf(page, failed.id))
  const comparison = page.getByRole('complementary', { name: 'Comparison' })
  await expect
    .poll(() => comparison.locator('tbody th bdi').allTextContents(), WAIT)
    .toEqual(['name', 'settings.replicas', 'settings.image', 'error'])
  expect(new URL(page.url()).hash).toBe(`#compare=${worked.id},${failed.id}`)
})
