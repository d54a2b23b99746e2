import type { AuditEvent } from 'daybook'
import { expect, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { servePage } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { rowOf, WAIT } from '../shown.js'

it('follow an incident from one error to its cause', async ({ onTestFinished }) => {
  const host = await servePage()
  onTestFinished(() => host.close())
  const { audit } = host
  const project_id = '0190b6a4-64a1-7000-8000-000000000001'
  const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736'
  const limit = (
    before: number,
    after: number,
    username: string,
  ): Promise<AuditEvent | undefined> =>
    audit.recordChange(
      'api:projects:update',
      { slots: before },
      { slots: after },
      {
        username,
        data: { project_id, name: 'acme', session_id: `session of ${username}` },
      },
    )
  const noise = async (): Promise<void> => {
    for (let n = 0; n < 30; n++) await audit.recordCustom('deploy:note', { n }, { username: 'ci' })
  }
  await limit(4, 8, 'ann')
  await noise()
  const cause = (await limit(8, 0, 'bob'))!
  await noise()
  const full = (await audit.record('warn:resource_slot_pool:full', {
    cluster: 'eu',
    pool: 'runners',
    project_id,
    trace_id,
  }))!
  await noise()
  const error = (await audit.record('error:step:action', {
    name: 'Deploy',
    error: 'no slot became free',
    trace_id,
  }))!

  // The list shows only errors, so the related events are not in it.
  const page = await openPage(`${host.page}?range=15m&filter[type_start]=error:`, { user: 'ann' })
  const task = auditor(page)
  const panel = page.getByRole('complementary', { name: 'Event' })
  const related = panel.getByRole('region', { name: 'Related events' })
  await task.click(rowOf(page, error.id))
  await task.click(related.getByRole('button', { name: /^Same trace 2$/ }))
  await task.click(related.getByRole('button', { name: 'Show in list' }))
  await task.sees([error.id, full.id])
  await task.click(rowOf(page, full.id))
  await task.click(panel.getByRole('definition').getByRole('button', { name: 'History' }))
  const newest = page.locator('.timeline > li').first()
  await expect.poll(() => newest.getAttribute('data-id'), WAIT).toBe(cause.id)
  expect(await newest.textContent()).toMatch(/bob.*slots−before8\+after0/)
  expect(task.actions).toBeLessThanOrEqual(6)
})
