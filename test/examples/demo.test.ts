import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type RunningService, startService } from '../../examples/workflow-service/app.js'
import { cleaningOf } from '../../examples/workflow-service/background/cleaning.js'
import { sqliteDocuments } from '../../examples/workflow-service/documents/sqlite.js'
import { openLedger } from '../../examples/workflow-service/ledger.js'
import type { Activity, Step } from '../../examples/workflow-service/model.js'
import {
  readPort,
  readStore,
  readTraffic,
  serviceFile,
} from '../../examples/workflow-service/options.js'
import { type Child, runScript } from '../support/child.js'
import { postgresDatabase } from '../support/database.js'
import { errorOf, listOf, type RawResponse, send } from '../support/http.js'
import { tempDir } from '../support/temp.js'
import {
  type Attributes,
  eventsOf,
  MAIN,
  post,
  PROD,
  type Resource,
  resourceOf,
  startChange,
  startDemo,
  waitForEvents,
} from './demo-client.js'

const run = promisify(execFile)

/** Creates a local repository with one commit; returns false if git is not installed. */
async function makeRepository(directory: string): Promise<boolean> {
  try {
    const author = ['-c', 'user.name=t', '-c', 'user.email=t@example.org']
    await run('git', ['init', '-q', '-b', 'main', directory])
    await run('git', ['-C', directory, ...author, 'commit', '-q', '--allow-empty', '-m', 'first'])
    return true
  } catch {
    return false
  }
}

/** Returns a function that creates a version of a new template from a repository and returns its id. */
async function fetchesFrom(
  url: string,
  repository: string,
): Promise<(revision: string) => Promise<string>> {
  const attributes = { name: 'r', url: repository }
  const remote = resourceOf(await post(url, '/api/git_remotes', attributes, { type: 'git_remote' }))
  const template = resourceOf(
    await post(url, '/api/templates', { name: 't' }, { type: 'template' }),
  )
  return async (revision) => {
    const version = { git_remote_id: remote.id, revision }
    const path = `/api/templates/${template.id}/template_versions`
    return resourceOf(await post(url, path, version, { type: 'template_version' })).id
  }
}

const stepOf = (change: Resource): string => (change.attributes['step_ids'] as string[])[0]!

/** A demo that keeps everything in memory. */
async function startMemory(): Promise<RunningService & AsyncDisposable> {
  const service = await startService({ port: 0, store: { kind: 'memory' }, traffic: false })
  return { ...service, [Symbol.asyncDispose]: service.close }
}

it('addresses of users are encrypted, and shown to users who may change something', async () => {
  await using demo = await startMemory()
  const { url } = demo
  const path = '/api/projects/acme'
  const change = { method: 'PATCH', type: 'project' } as const
  await post(url, path, { description: 'Storefront' }, change)
  const query = 'filter[type_eq]=api:projects:update'
  await waitForEvents(url, query)
  const [sealed] = await eventsOf(url, query)
  expect(sealed!.attributes).not.toHaveProperty('remote_address')
  expect(sealed!.attributes['personal']).toEqual([
    { subject: expect.stringMatching(/^[\w-]{22}$/), sealed: true },
  ])
  const [open] = await eventsOf(url, `${query}&personal=open`)
  expect(open!.attributes['remote_address']).toMatch(/127\.0\.0\.1|::1/)
  const refused = await send(url, `/api/events?${query}&personal=open`, { user: 'eve' })
  expect(refused.status).toBe(403)
})

describe('the demo service', () => {
  const temp = tempDir()
  let service: RunningService
  let url: string
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})

  beforeAll(async () => {
    const store = { kind: 'sqlite', filename: temp.file('daybook.db') } as const
    service = await startService({ port: 0, store, traffic: false })
    url = service.url
  })
  afterAll(async () => {
    await service.close()
    temp.remove()
    // Strict mode would reject an event with a misspelt key or a wrong link.
    const lost = printed.mock.calls.filter(([text]) => String(text).includes('was not recorded'))
    printed.mockRestore()
    expect(lost).toEqual([])
  })

  const types = async (query: string): Promise<unknown[]> =>
    (await eventsOf(url, query)).map(({ attributes }) => attributes['type'])

  it('starts with a project, two environments and an asset', async () => {
    const projects = listOf(await send(url, '/api/projects')).data
    expect(
      projects.map(({ type, attributes }) => [type, attributes['code'], attributes['archived']]),
    ).toEqual([['project', 'acme', false]])
    expect(Object.keys(projects[0]!.attributes)).toEqual([
      'code',
      'name',
      'description',
      'archived',
    ])
    for (const path of ['environments/dev', 'environments/prod', 'environments/prod/assets/web'])
      expect((await send(url, `/api/projects/acme/${path}`)).status).toBe(200)
    expect(await types('')).toEqual(['info:database_cluster:registered'])
  })

  it('lets all users see subscriptions, and all except readers change them', async () => {
    const rights = async (user: string): Promise<Record<string, boolean>> => {
      const { attributes } = resourceOf(await send(url, '/api/subscriptions/me', { user }))
      return attributes['may'] as Record<string, boolean>
    }
    const ofEve = Object.entries(await rights('eve')).flatMap(([name, may]) => (may ? [name] : []))
    expect(ofEve).toEqual([
      'subscriptions:list',
      'subscriptions:read',
      'subscriptions:parked',
      'subscriptions:describe',
      'notification_channels:list',
      'notification_channels:read',
    ])
    expect(Object.values(await rights('bob'))).not.toContain(false)
    expect((await send(url, '/api/notification_channels', { user: 'eve' })).status).toBe(200)
  })

  it('lets users create webhooks to public addresses', async () => {
    const path = '/api/notification_channels'
    const webhook = (address: string) =>
      post(
        url,
        path,
        { name: 'hook', kind: 'webhook', config: { url: address } },
        { user: 'bob', type: 'notification_channel' },
      )
    const refused = await webhook('https://127.0.0.1/hook')
    expect([refused.status, errorOf(refused)]).toMatchObject([
      422,
      { code: 'INVALID_CHANNEL', source: { pointer: '/data/attributes/config/url' } },
    ])
    const made = await webhook('https://192.0.43.8/hook')
    expect([made.status, resourceOf(made).attributes['kind']]).toEqual([201, 'webhook'])
    const removed = await send(url, `${path}/${resourceOf(made).id}`, {
      method: 'DELETE',
      user: 'bob',
    })
    expect(removed.status).toBe(204)
  })

  it('each filter example of the API finds the right events', async () => {
    const environment = { code: 'qa', name: 'QA' }
    resourceOf(
      await post(url, '/api/projects/acme/environments', environment, { type: 'environment' }),
    )
    await startChange(url, 'nightly', [{ name: 'wait', action: 'wait', ms: 5 }])
    await waitForEvents(url, 'filter[type_eq]=api:changes:success')
    await post(
      url,
      '/api/events',
      { type: 'note', name: 'deploy:one' },
      { user: 'bob', type: 'Event' },
    )
    await post(url, '/api/events', { type: 'note', name: 'other' }, { user: 'bob', type: 'Event' })
    const all = listOf(await send(url, '/api/events?limit=1000')).data
    const half = String(all[3]!.attributes['created_at'])

    const found = async (query: string): Promise<readonly Resource[]> => {
      const { data } = listOf(await send(url, `/api/events?limit=1000&${query}`))
      expect(data.length, query).toBeGreaterThan(0)
      return data
    }
    const where = (test: (attributes: Attributes) => unknown): readonly Resource[] =>
      all.filter(({ attributes }) => test(attributes))

    expect(await found(`filter[created_at_lt]=${half}`)).toEqual(all.slice(0, 3))
    expect(await found('filter[type_eq]=api:changes:create')).toEqual(
      where(({ type }) => type === 'api:changes:create'),
    )
    expect(await found('filter[type_in][]=note&filter[type_in][]=api:changes:start')).toEqual(
      where(({ type }) => type === 'note' || type === 'api:changes:start'),
    )
    expect(
      await found('filter[request_body_action_eq]=deploy&filter[type_eq]=api:changes:create'),
    ).toEqual(where(({ type }) => type === 'api:changes:create'))
    expect(await found('filter[url_params_project_code_eq]=acme')).toEqual(
      where(({ type }) => type === 'api:nodes:create'),
    )
    expect(await found('filter[parent_code_eq]=acme&filter[parent_node_type_eq]=project')).toEqual(
      where(({ parent }) => (parent as { code?: string } | undefined)?.code === 'acme'),
    )
    expect(await found('filter[system_eq]=false&filter[name_start]=deploy:')).toEqual(
      where(({ name }) => name === 'deploy:one'),
    )
    expect(
      await found(`filter[created_at_gt]=${half}&filter[type_eq]=note&filter[system_true]=0`),
    ).toEqual(where(({ type }) => type === 'note'))
  })

  it('ann may approve a step, eve may not', async () => {
    const change = await startChange(url, 'release', [
      { name: 'sign off', action: 'approval', requires_approval_from: ['ann'] },
    ])
    const step = stepOf(change)
    await vi.waitFor(async () => {
      const { attributes } = resourceOf(await send(url, `/api/steps/${step}`))
      expect(attributes['status']).toBe('waiting_for_approval')
    }, 60_000)
    expect((await post(url, `/api/steps/${step}/approve`, undefined, { user: 'eve' })).status).toBe(
      403,
    )
    expect((await post(url, `/api/steps/${step}/approve`)).status).toBe(200)
    await waitForEvents(
      url,
      `filter[type_eq]=api:changes:success&filter[change_id_eq]=${change.id}`,
    )
    const audited = await waitForEvents(url, `filter[type_start]=audit:&filter[step_id_eq]=${step}`)
    expect(audited.map(({ attributes }) => [attributes['type'], attributes['username']])).toEqual([
      ['audit:steps:approve:denied', 'eve'],
      ['audit:steps:approve', 'ann'],
    ])
    expect(await types(`filter[step_id_eq]=${step}&filter[username_eq]=ann`)).toContain(
      'api:steps:approve',
    )
  })

  it('a change fails with the error of its step', async () => {
    const change = await startChange(url, 'broken', [
      { name: 'fail', action: 'fail', message: 'boom' },
    ])
    await waitForEvents(url, `filter[type_eq]=api:changes:error&filter[change_id_eq]=${change.id}`)
    const [failed] = await waitForEvents(
      url,
      `filter[type_eq]=error:step:action&filter[change_id_eq]=${change.id}`,
    )
    expect(failed!.attributes).toMatchObject({
      error: 'boom',
      backtrace: expect.stringContaining('Error: boom'),
    })
    expect(failed!.relationships!.source.links.source).toBe(`/api/steps/${stepOf(change)}`)
  })

  it('moves a step to system_error when its database stays locked', async () => {
    const change = await startChange(url, 'locked', [
      { name: 'lock', action: 'lock_database', ms: 2000 },
    ])
    const [event] = await waitForEvents(
      url,
      `filter[type_eq]=error:steps:transient_error&filter[change_id_eq]=${change.id}`,
    )
    expect(String(event!.attributes['error'])).toContain('locked')
    await waitForEvents(url, `filter[type_eq]=api:changes:error&filter[change_id_eq]=${change.id}`)
    const step = resourceOf(await send(url, `/api/steps/${stepOf(change)}`))
    expect(step.attributes['status']).toBe('system_error')
  })

  it('fetches a Git repository, and records an error if that fails', async ({ skip }) => {
    const repository = temp.file('repository')
    if (!(await makeRepository(repository))) skip('git is not installed')
    const fetch = await fetchesFrom(url, repository)
    const good = `filter[template_version_id_eq]=${await fetch('main')}`
    const [done] = await waitForEvents(
      url,
      `filter[type_eq]=info:template_version:fetch_complete&${good}`,
    )
    expect(done!.attributes['success']).toBe(true)
    expect(await types(good)).toContain('info:template_version:fetch_initialize')
    const bad = `filter[template_version_id_eq]=${await fetch('nowhere')}`
    const [failed] = await waitForEvents(url, `filter[type_eq]=error:template_version:fetch&${bad}`)
    expect(String(failed!.attributes['fetch_output'])).toContain('nowhere')
    const [log] = await waitForEvents(url, `filter[type_eq]=info:template_version:fetch&${bad}`)
    expect(log!.attributes['progress']).toMatch(/Receiving objects[^]*fatal: [^]*nowhere/)
    expect(log!.attributes).not.toHaveProperty('unfinished')
    // Another store on the file sees which live events are open.
    const store = sqliteStore({ filename: temp.file('daybook.db') })
    expect(await store.openEvents()).toEqual([])
    await store.close()
  })

  it('eve may read, but not change anything', async () => {
    expect((await send(url, '/api/projects', { user: 'eve' })).status).toBe(200)
    expect(
      (await post(url, '/api/projects', { code: 'x', name: 'x' }, { user: 'eve' })).status,
    ).toBe(403)
    expect(
      (await post(url, '/api/events', { type: 'from:eve' }, { user: 'eve', type: 'Event' })).status,
    ).toBe(403)
    expect(await types('filter[type_eq]=from:eve')).toEqual([])
    expect(
      await types('filter[username_eq]=eve&filter[type_eq]=error:projects:create'),
    ).toHaveLength(1)
  })

  it.each([
    [{ project_path: '/projects/none' }, 'project_path'],
    [{ change_id: '0196b3c2-1111-4222-8333-444455556666' }, 'change_id'],
    [{ node_path: `${PROD}/assets/none` }, 'node_path'],
  ])('a link without a target is refused: %j', async (link, attribute) => {
    const response = await post(url, '/api/events', { type: 'linked', ...link }, { type: 'Event' })
    expect(response.status).toBe(422)
    expect(errorOf(response).source).toEqual({ pointer: `/data/attributes/${attribute}` })
    expect(await types('filter[type_eq]=linked')).toEqual([])
  })

  it.each([
    ...['projects', 'projects/acme/environments', 'changes', 'workflow_runs', 'workflows'],
    ...['projects/acme/environments/prod/assets', 'bookmarks', 'scheduled_changes', 'git_remotes'],
    ...['templates', 'settings_versions'],
  ])('filters and sorts the list of %s by id and every attribute', async (list) => {
    const get = (query: string): Promise<RawResponse> => send(url, `/api/${list}?${query}`)
    const { data } = listOf(await get(''))
    const names = new Set(data.flatMap(({ attributes }) => Object.keys(attributes)))
    for (const name of ['id', ...names]) {
      const held = data.filter(({ id, attributes }) => ({ ...attributes, id })[name] !== null)
      const found = listOf(await get(`filter[${name}_not_null]=1`)).data
      const empty = held.filter((item) => !found.some(({ id }) => id === item.id))
      expect(empty.every(({ attributes }) => Object.keys(attributes[name]!).length === 0)).toBe(
        true,
      )
      expect(listOf(await get(`filter[sorts]=${name}+desc`)).data).toHaveLength(data.length)
    }
    for (const { id } of data) expect(listOf(await get(`filter[id_eq]=${id}`)).data).toHaveLength(1)
    const unknown = await get('filter[nothing_eq]=1')
    expect(errorOf(unknown)).toMatchObject({ status: '400', code: 'UNKNOWN_ATTRIBUTE' })
  })

  it('filters projects', async () => {
    const get = async (query: string): Promise<unknown[]> =>
      listOf(await send(url, `/api/projects?${query}`)).data.map(
        ({ attributes }) => attributes['code'],
      )
    resourceOf(
      await post(url, '/api/projects', { code: 'old-shop', archived: true }, { type: 'project' }),
    )
    expect(await get('filter[archived_true]=1')).toEqual(['old-shop'])
    expect(await get('filter[code_eq]=acme')).toEqual(['acme'])
    expect(await get('filter[name_or_code_cont]=SHOP')).toContain('old-shop')
    expect((await get('filter[sorts]=code+desc')).at(-1)).toBe('acme')
    const unreadable = await send(url, '/api/projects?filter[archived_eq]=perhaps')
    expect(errorOf(unreadable).source).toEqual({ parameter: 'filter[archived_eq]' })
  })

  it('a filter on properties versions is refused', async () => {
    expect((await send(url, '/api/properties_versions')).status).toBe(200)
    const response = await send(url, '/api/properties_versions?filter[id_eq]=1')
    expect(response.status).toBe(400)
    expect(errorOf(response).source).toEqual({ parameter: 'filter[id_eq]' })
  })
})

/* demo-postgres.release.test.ts has two processes on one database. */
it('the demo service keeps its data on Postgres', async () => {
  const { url: connectionString, remove } = await postgresDatabase()
  const start = () =>
    startService({ port: 0, store: { kind: 'postgres', connectionString }, traffic: false })
  const first = await start()
  resourceOf(await post(first.url, '/api/projects', { code: 'kept' }, { type: 'project' }))
  await first.close()
  const second = await start()
  expect((await send(second.url, '/api/projects/kept')).status).toBe(200)
  const created = 'filter[type_eq]=api:projects:create&filter[project_path_eq]=/projects/kept'
  expect(await waitForEvents(second.url, created)).toHaveLength(1)
  await second.close()
  await remove()
})

describe('the cleaning rules of the demo', () => {
  const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000)

  const step = (id: string, activity_id: string): Step => ({
    id,
    activity_id,
    definition: { action: 'wait', name: 'wait', ms: 1 },
    status: 'success',
    result: null,
    error: null,
  })

  const activity = (id: string, finished: number | null, step_ids: string[] = []): Activity => ({
    id,
    name: id,
    action: null,
    status: finished === null ? 'waiting' : 'success',
    project_path: null,
    node_path: null,
    workflow_id: null,
    step_ids,
    started_by: null,
    owner: null,
    created_at: daysAgo(100).toISOString(),
    finished_at: finished === null ? null : daysAgo(finished).toISOString(),
  })

  it('remove expired activities and events, and record it', async () => {
    const temp = tempDir()
    const filename = temp.file('daybook.db')
    const documents = sqliteDocuments(serviceFile(filename))
    await documents.write((tx) => {
      for (let n = 0; n < 250; n++) tx.put('changes', activity(`old-${n}`, 31))
      tx.put('changes', activity('older', 100, ['old-step']))
      tx.put('steps', step('old-step', 'older'))
      tx.put('changes', activity('young', 29, ['young-step']))
      tx.put('steps', step('young-step', 'young'))
      tx.put('changes', activity('unfinished', null))
      tx.put('workflow_runs', activity('old-run', 31))
      tx.put('workflow_runs', activity('young-run', 29))
    })
    const cleaning = cleaningOf(documents)
    const previewing = new AuditLog({ store: memoryStore(), types: {}, cleaning })
    const [preview] = await previewing.cleaning.preview({ rules: ['activities'] })
    expect(preview!.due_count).toBe(252)
    await previewing.close()
    await documents.close()
    const { options: ledger } = await openLedger({ kind: 'sqlite', filename })
    const log = new AuditLog({ store: sqliteStore({ filename }), types: {}, ledger })
    await log.importEvents(
      // The newest event shows that the clock is right.
      [91, 89, 0].map((days) => ({
        id: `00000000-0000-4000-8000-0000000000${String(days).padStart(2, '0')}`,
        created_at: daysAgo(days).toISOString().replace('Z', '000Z'),
        ...{ username: null, system: false, type: `from ${days} days ago`, source: null },
        attributes: {},
      })),
    )
    await log.close()

    const service = await startService({
      port: 0,
      store: { kind: 'sqlite', filename },
      traffic: false,
    })
    try {
      const { url } = service
      const [event] = await waitForEvents(url, 'filter[type_eq]=info:data_cleanup:activities')
      expect(event!.attributes).toMatchObject({
        removed_count: 252,
        filters: {
          kinds: ['changes', 'workflow_runs'],
          finished: true,
          max_age: { days: 30 },
        },
      })
      const idsOf = async (path: string): Promise<string[]> =>
        listOf(await send(url, path)).data.map(({ id }) => id)
      expect(await idsOf('/api/changes')).toEqual(['young', 'unfinished'])
      expect(await idsOf('/api/workflow_runs')).toEqual(['young-run'])
      expect((await send(url, '/api/steps/old-step')).status).toBe(404)
      expect((await send(url, '/api/steps/young-step')).status).toBe(200)

      const [cleaned] = await waitForEvents(url, 'filter[type_eq]=info:data_cleanup:events')
      expect(cleaned!.attributes['removed_count']).toBe(1)
      const left = listOf(await send(url, '/api/events?filter[type_start]=from')).data
      expect(left.map(({ attributes }) => attributes['type'])).toEqual([
        'from 89 days ago',
        'from 0 days ago',
      ])
    } finally {
      await service.close()
      temp.remove()
    }
  })
})

describe('the demo process', () => {
  it('keeps all acknowledged events after SIGKILL and a restart', async () => {
    const temp = tempDir()
    const children: Child[] = []
    const start = async () => {
      const started = await startDemo(`sqlite:${temp.file('daybook.db')}`)
      children.push(started.child)
      return started
    }
    try {
      const first = await start()
      const answers: RawResponse[] = []
      const load = Array.from({ length: 8 }, async (_, lane) => {
        for (let n = 0; ; n++)
          answers.push(
            await post(
              first.url,
              '/api/events',
              { type: 'kept', lane, n },
              { user: 'bob', type: 'Event' },
            ),
          )
      })
      await post(first.url, '/api/projects', { code: 'kept', name: 'Kept' }, { type: 'project' })
      while (answers.length < 60) await delay(10)
      const stopped = Promise.allSettled(load)
      await first.child.kill('SIGKILL')
      await stopped
      const second = await start()
      expect((await send(second.url, '/api/projects/kept')).status).toBe(200)
      const acknowledged = answers
        .filter(({ status }) => status === 201)
        .map(({ headers }) => headers.location!.split('/').at(-1))
      expect(acknowledged.length).toBeGreaterThan(50)
      const query = '/api/events?limit=1000&filter[type_eq]=kept'
      const kept = listOf(await send(second.url, query)).data.map(({ id }) => id)
      expect(kept).toEqual(expect.arrayContaining(acknowledged))
      const created = listOf(
        await send(second.url, '/api/events?filter[type_eq]=api:projects:create'),
      )
      expect(created.data).toHaveLength(1)
      await second.child.kill('SIGTERM')
      expect(await second.child.ended).toBe(0)
    } finally {
      // Sends SIGTERM, so that they remove their directories.
      for (const child of children) await child.kill('SIGTERM')
      temp.remove()
    }
  })

  it('shows the log of a fetch while it runs', async ({ skip }) => {
    const temp = tempDir()
    const children: Child[] = []
    // The remote prints a line, then waits until this file is removed.
    const hold = temp.file('hold')
    const hook = temp.file('pack-objects')
    const env = { GIT_CONFIG_GLOBAL: temp.file('gitconfig') }
    const lines = ['#!/bin/sh', 'echo held >&2', `while [ -e '${hold}' ]; do sleep 0.05; done`]
    writeFileSync(hook, [...lines, 'echo released >&2', 'exec "$@"', ''].join('\n'), {
      mode: 0o755,
    })
    writeFileSync(env.GIT_CONFIG_GLOBAL, `[uploadpack]\npackObjectsHook = '${hook}'\n`)
    const start = async () => {
      const started = await startDemo(`sqlite:${temp.file('daybook.db')}`, env)
      children.push(started.child)
      return started
    }
    const logOf = (version: string): string =>
      `filter[type_eq]=info:template_version:fetch&filter[template_version_id_eq]=${version}`
    try {
      const repository = temp.file('repository')
      if (!(await makeRepository(repository))) skip('git is not installed')
      const { child, url } = await start()
      const fetch = await fetchesFrom(url, repository)
      const complete = 'filter[type_eq]=info:template_version:fetch_complete'

      writeFileSync(hold, '')
      const done = await fetch('main')
      const [growing] = await waitForEvents(url, `${logOf(done)}&filter[progress_cont]=held`)
      expect(growing!.attributes['progress']).not.toContain('released')
      expect(listOf(await send(url, `/api/events?${complete}`)).data).toEqual([])
      rmSync(hold)
      const [event] = await waitForEvents(url, complete)
      expect(event!.attributes['success']).toBe(true)
      const [whole, ...others] = listOf(await send(url, `/api/events?${logOf(done)}`)).data
      expect(others).toEqual([])
      expect(whole!.id).toBe(growing!.id)
      expect(whole!.attributes).not.toHaveProperty('unfinished')
      const before = String(growing!.attributes['progress'])
      expect(String(whole!.attributes['progress']).startsWith(before)).toBe(true)
      expect(whole!.attributes['progress']).toMatch(/released[^]*Receiving objects: 100%/)
      expect(String(whole!.attributes['progress']).trim()).toBe(event!.attributes['message'])

      writeFileSync(hold, '')
      const stopped = await fetch('main')
      await waitForEvents(url, `${logOf(stopped)}&filter[progress_cont]=held`)
      await child.kill('SIGTERM')
      expect(await child.ended).toBe(0)
      const second = await start()
      const [unfinished] = await waitForEvents(second.url, logOf(stopped))
      expect(unfinished!.attributes).toMatchObject({
        unfinished: true,
        progress: expect.stringContaining('held'),
      })
      expect(listOf(await send(second.url, `/api/events?${logOf(done)}`)).data).toEqual([whole])
      await waitForEvents(
        second.url,
        `filter[type_eq]=error:template_version:fetch&filter[template_version_id_eq]=${stopped}`,
      )
    } finally {
      // Sends SIGTERM, so that they remove their directories.
      for (const child of children) await child.kill('SIGTERM')
      temp.remove()
    }
  })

  it('exits with a message for an invalid setting', async () => {
    const child = runScript(MAIN, [], { PORT: 'many', DAYBOOK_STORE: 'memory:' })
    expect(await child.ended).toBe(1)
    expect(child.stdout()).toBe('')
    expect(child.stderr()).toBe('PORT must be a number from 0 to 65535; it is "many"\n')
  })

  it.each([
    [readPort, '65536', /^PORT must be a number from 0 to 65535/],
    [readStore, 'mysql:x', /^DAYBOOK_STORE must be sqlite:<file>, memory: or postgres:/],
    [readStore, 'postgres://localhost', /^DAYBOOK_STORE .*; it names no database$/],
    [readStore, 'postgresql://ann:%@localhost/x', /^DAYBOOK_STORE .*; it is not a valid URL$/],
    [readTraffic, 'maybe', /^DAYBOOK_TRAFFIC must be on or off; it is "maybe"$/],
  ])('refuses the invalid setting of %o: %s', (read, text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  it('refuses a used port, and explains the remedy', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    try {
      const { port } = other.address() as AddressInfo
      await expect(
        startService({ port, store: { kind: 'memory' }, traffic: false }),
      ).rejects.toThrow(`port ${port} is in use: set PORT to another one, or to 0 for a free one`)
    } finally {
      other.close()
    }
  })

  it('records events of simulated users', async () => {
    const service = await startService({ port: 0, store: { kind: 'memory' }, traffic: true })
    try {
      const [event] = await waitForEvents(
        service.url,
        'filter[system_true]=1&filter[username_not_null]=1',
      )
      expect(String(event!.attributes['type'])).toMatch(/^(api|error):/)
    } finally {
      await service.close()
    }
  })
})
