import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type RunningService, startService } from '../../examples/workflow-service/app.js'
import { openPage } from '../support/browser.js'
import { resourceOf } from '../support/host.js'
import { JSON_API, listOf, send } from '../support/http.js'
import { tempDir } from '../support/temp.js'
import { rowIds, rowOf, rowsOf, WAIT } from './shown.js'

/* The demo service, as a new user sees it. */

const run = promisify(execFile)

const files = tempDir()
let service: RunningService
beforeAll(async () => {
  const store = { kind: 'sqlite', filename: files.file('daybook.db') } as const
  service = await startService({ port: 0, store, traffic: false })
})
afterAll(async () => {
  await service.close()
  files.remove()
})

async function post(path: string, attributes?: object) {
  const [, , things] = path.split('/')
  const body = attributes && JSON.stringify({ data: { type: things!.slice(0, -1), attributes } })
  const headers = { 'content-type': JSON_API }
  return resourceOf(
    await send(service.url, path, { method: 'POST', ...(body && { headers, body }) }),
  )
}

const sentence = (page: Page, text: RegExp) => rowsOf(page).filter({ hasText: text }).first()

async function statusOfSource(page: Page, text: RegExp): Promise<number> {
  const path = await sentence(page, text).getByRole('link').getAttribute('href')
  return (await send(service.url, path!)).status
}

describe('the demo', () => {
  it('links to the page, which shows actions live', async () => {
    const page = await openPage(`${service.url}/`, {
      // The browser answers the service's challenge, as a person would.
      httpCredentials: { username: 'ann', password: 'ann' },
    })
    expect(new URL(page.url()).pathname).toBe('/audit')
    await page.getByRole('button', { name: 'Live' }).waitFor()

    await post('/api/projects', { code: 'shop', name: 'Shop' })
    await sentence(page, /created project/).waitFor()
    expect(await statusOfSource(page, /created project/)).toBe(200)

    const change = await post('/api/changes', {
      name: 'nightly',
      action: 'deploy',
      node_path: '/projects/acme/environments/prod',
      steps: [{ name: 'wait', action: 'wait', ms: 5 }],
    })
    await post(`/api/changes/${change.id}/start`)
    await sentence(page, /created change nightly/).waitFor()
    await sentence(page, /change nightly, which finished/).waitFor()
    expect(await statusOfSource(page, /created change nightly/)).toBe(200)

    // The service may still record later effects of the finished change.
    const { data } = await vi.waitFor(async () => {
      const recorded = listOf(await send(service.url, '/api/events?limit=100'))
      expect(await rowIds(page)).toEqual(recorded.data.map(({ id }) => id).toReversed())
      return recorded
    }, WAIT)
    const created = data.find(({ attributes }) => attributes['type'] === 'api:projects:create')!
    await rowOf(page, created.id).click()
    const panel = page.getByRole('complementary', { name: 'Event' })
    await panel.getByText(created.id).waitFor()
    expect(await panel.getByRole('link').first().getAttribute('href')).toBe('/api/projects/shop')
    await panel.getByText('The log is sealed until').waitFor()
  })

  it('records how projects change, so that they have a history', async () => {
    const page = await openPage(`${service.url}/`, { user: 'ann' })
    await post('/api/projects', { code: 'store', name: 'Store' })
    const body = JSON.stringify({
      data: { type: 'project', attributes: { description: 'The store' } },
    })
    const headers = { 'content-type': JSON_API }
    await send(service.url, '/api/projects/store', { method: 'PATCH', headers, body })
    await sentence(page, /changed 1 field of project Store/).click()
    await page.getByRole('definition').getByRole('button', { name: 'History' }).click()
    const state = page.getByRole('region', { name: 'As it is now' })
    await expect
      .poll(() => state.locator('dl > div').allTextContents(), WAIT)
      .toEqual(['codestore', 'nameStore', 'descriptionThe store', 'archivedfalse'])
    await expect.poll(() => page.locator('.timeline > li').count(), WAIT).toBe(2)
  })

  it('shows the output of a fetch from a repository', async ({ skip }) => {
    const temp = tempDir()
    try {
      const repository = temp.file('repository')
      try {
        const author = ['-c', 'user.name=t', '-c', 'user.email=t@example.org']
        await run('git', ['init', '-q', '-b', 'main', repository])
        await run('git', [
          '-C',
          repository,
          ...author,
          'commit',
          '-q',
          '--allow-empty',
          '-m',
          'one',
        ])
      } catch {
        skip('git is not installed')
      }
      const page = await openPage(`${service.url}/`, { user: 'ann' })
      await page.getByRole('button', { name: 'Live' }).waitFor()
      const remote = await post('/api/git_remotes', { name: 'r', url: repository })
      const template = await post('/api/templates', { name: 't' })
      const body = JSON.stringify({
        data: {
          type: 'template_version',
          attributes: { git_remote_id: remote.id, revision: 'main' },
        },
      })
      const headers = { 'content-type': JSON_API }
      const path = `/api/templates/${template.id}/template_versions`
      resourceOf(await send(service.url, path, { method: 'POST', headers, body }))
      await sentence(page, /fetched template version/).waitFor()
      const fetches = '/api/events?filter[type_eq]=info:template_version:fetch'
      const [fetch] = listOf(await send(service.url, fetches)).data
      await rowOf(page, fetch!.id).click()
      const log = page.getByRole('log', { name: 'Log' })
      const printed = String(fetch!.attributes['progress'])
        .trim()
        .split(/[\r\n]+/)
      await expect.poll(() => log.textContent(), WAIT).toContain(printed.at(-1)!.trim())
      await page
        .getByRole('complementary', { name: 'Event' })
        .getByRole('link', { name: /fetched template version/ })
        .click()
      await expect.poll(() => log.count(), WAIT).toBe(0)
    } finally {
      temp.remove()
    }
  })
})
