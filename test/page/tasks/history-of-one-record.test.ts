import { expect, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { servePage } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { rowsOf, WAIT } from '../shown.js'

it('find out who changed the limit of a project, and what it was before', async ({
  onTestFinished,
}) => {
  const host = await servePage()
  onTestFinished(() => host.close())
  const project = (n: number): string => `0190b6a4-64a1-7000-8000-00000000000${n}`
  const change = async (n: number, before: object, after: object, username: string) =>
    (await host.audit.recordChange('api:projects:update', before, after, {
      username,
      data: { project_id: project(n), name: `project-${n}` },
    }))!
  const ids: string[] = []
  for (let limit = 1; limit <= 4; limit++) {
    await change(2, { limit: limit * 10 }, { limit: limit * 10 + 10 }, 'mira')
    const { id } = await change(1, { limit }, { limit: limit + 1 }, limit === 2 ? 'eve' : 'ann')
    ids.push(id)
  }
  const page = await openPage(`${host.page}?range=all`, { user: 'ann' })
  await rowsOf(page).first().waitFor()
  const task = auditor(page)
  await task.click(rowsOf(page).first())
  await page.getByRole('region', { name: 'Related events' }).waitFor()
  await task.press('h')
  const history = page.getByRole('complementary', { name: 'History' })
  const entries = history.locator('.timeline > li')
  await expect
    .poll(() => entries.evaluateAll((all) => all.map((one) => one.getAttribute('data-id'))), WAIT)
    .toEqual(ids.toReversed())
  const byEve = history.locator(`[data-id="${ids[1]}"]`)
  expect(await byEve.locator('.entry-head').textContent()).toContain('eve')
  expect(await byEve.locator('.diff').textContent()).toMatch(/limit−before2\+after3/)
})
