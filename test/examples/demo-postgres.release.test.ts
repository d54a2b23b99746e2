import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Child, runScript } from '../support/child.js'
import { postgresDatabase, type TestDatabase } from '../support/database.js'
import { listOf, send } from '../support/http.js'
import {
  eventsOf,
  MAIN,
  post,
  PROD,
  type Resource,
  resourceOf,
  startChange,
  startDemo,
  waitFor,
  waitForEvents,
} from './demo-client.js'

const stepsOf = (change: Resource): string[] => change.attributes['step_ids'] as string[]

const event = (url: string, query: string): Promise<Resource> =>
  waitForEvents(url, query).then(([first]) => first!)

const status = (url: string, path: string, wanted: string): Promise<Resource> =>
  waitFor(async () => {
    const found = resourceOf(await send(url, path))
    return found.attributes['status'] === wanted ? found : undefined
  })

describe('two demo processes on one Postgres database', () => {
  const children: Child[] = []
  let database: TestDatabase
  let [one, other]: [string, string] = ['', '']

  const start = async (): Promise<{ child: Child; url: string }> => {
    const started = await startDemo(database.url)
    children.push(started.child)
    return started
  }

  beforeAll(async () => {
    database = await postgresDatabase()
    const started = await Promise.all([startDemo(database.url), startDemo(database.url)])
    children.push(...started.map(({ child }) => child))
    ;[one, other] = [started[0].url, started[1].url]
  })

  afterAll(async () => {
    // Sends SIGTERM, so that they remove their directories.
    for (const child of children) await child.kill('SIGTERM')
    await database.remove()
  })

  /** The types of the events about a change or step, without the events of requests. */
  const history = async (query: string): Promise<unknown[]> =>
    (await eventsOf(other, `filter[request_path_null]=1&${query}`)).map(
      ({ attributes }) => attributes['type'],
    )

  const startOf = (step: string): string =>
    `filter[type_eq]=api:steps:start&filter[step_id_eq]=${step}`

  const startsOf = async (step: string): Promise<number> =>
    (await eventsOf(one, startOf(step))).length

  it('seeds the database once', async () => {
    const lists = await Promise.all([one, other].map((url) => send(url, '/api/projects')))
    expect(lists[0]!.body).toBe(lists[1]!.body)
    expect(listOf(lists[0]!).data.map(({ attributes }) => attributes['code'])).toEqual(['acme'])
    expect(listOf(await send(one, '/api/settings_versions')).data).toHaveLength(1)
  })

  it('each process sees at once the events of the other', async () => {
    for (const [n, [here, there]] of [
      [one, other],
      [other, one],
      [one, other],
    ].entries()) {
      const code = `shop-${n}`
      const path = `/api/projects/${code}`
      resourceOf(await post(here!, '/api/projects', { code, name: 'Shop' }, { type: 'project' }))
      expect(resourceOf(await send(there!, path)).attributes['name']).toBe('Shop')
      resourceOf(
        await post(there!, path, { description: 'new' }, { method: 'PATCH', type: 'project' }),
      )
      expect(resourceOf(await send(here!, path)).attributes['description']).toBe('new')
      expect((await send(here!, '/api/projects')).body).toBe(
        (await send(there!, '/api/projects')).body,
      )
      const again = await post(there!, '/api/projects', { code }, { type: 'project' })
      expect(again.status).toBe(409)
      expect((await post(there!, path, undefined, { method: 'DELETE' })).status).toBe(204)
      expect((await send(here!, path)).status).toBe(404)
    }
  })

  it('creates only one of two projects with the same code from concurrent requests', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 10 }, (_, n) => n).flatMap((n) =>
        [one, other].map(async (url) => {
          const attributes = { code: `both-${n}` }
          return (await post(url, '/api/projects', attributes, { type: 'project' })).status
        }),
      ),
    )
    expect(statuses.filter((status) => status === 201)).toHaveLength(10)
    expect(statuses.filter((status) => status === 409)).toHaveLength(10)
  })

  it('interrupts a step that is cancelled through the other process', async () => {
    const change = await startChange(one, 'cancelled', [
      { action: 'wait', ms: 60_000 },
      { action: 'wait', ms: 1 },
    ])
    const [running, waiting] = stepsOf(change)
    await event(other, startOf(running!))
    resourceOf(await post(other, `/api/changes/${change.id}/cancel`))
    await status(one, `/api/steps/${running}`, 'cancelled')
    await status(one, `/api/steps/${waiting}`, 'cancelled')
    await event(one, `filter[type_eq]=api:steps:cancel&filter[step_id_eq]=${waiting}`)
    expect(await history(`filter[change_id_eq]=${change.id}`)).toEqual([
      'api:steps:start',
      'api:steps:cancel',
      'api:steps:cancel',
    ])
  })

  it('continues after a step that is approved through the other process', async () => {
    const change = await startChange(one, 'approved', [
      { action: 'write_file', path: 'notes.txt', content: 'hello' },
      { action: 'approval' },
      { action: 'checksum', path: 'notes.txt' },
    ])
    const approval = `/api/steps/${stepsOf(change)[1]}`
    await status(other, approval, 'waiting_for_approval')
    resourceOf(await post(other, `${approval}/approve`))
    await event(other, `filter[type_eq]=api:changes:success&filter[change_id_eq]=${change.id}`)
    for (const step of stepsOf(change)) expect(await startsOf(step)).toBe(1)
  })

  it('pauses and resumes a change through the other process', async () => {
    const change = await startChange(one, 'paused', [
      { action: 'approval' },
      { action: 'wait', ms: 1 },
    ])
    const [first, second] = stepsOf(change)
    await status(other, `/api/steps/${first}`, 'waiting_for_approval')
    resourceOf(await post(other, `/api/changes/${change.id}/pause`))
    resourceOf(await post(other, `/api/steps/${first}/approve`))
    await status(other, `/api/steps/${first}`, 'success')
    await delay(600)
    expect(await startsOf(second!)).toBe(0)
    resourceOf(await post(other, `/api/changes/${change.id}/resume`))
    await status(one, `/api/changes/${change.id}`, 'success')
    expect(await startsOf(second!)).toBe(1)
  })

  it('moves a step to system_error when the database stays locked', async () => {
    const change = await startChange(one, 'locked', [{ action: 'lock_database', ms: 2500 }])
    const [failed] = await Promise.all([
      event(other, 'filter[type_eq]=error:steps:transient_error'),
      status(other, `/api/steps/${stepsOf(change)[0]}`, 'system_error'),
    ])
    expect(failed.attributes['error']).toBe('the database is locked')
  })

  it('runs each schedule once', async () => {
    const names = Array.from({ length: 5 }, (_, n) => `planned-${n}`)
    const run_at = new Date(Date.now() + 1500).toISOString()
    for (const name of names) {
      const change = { name, node_path: PROD, steps: [{ action: 'wait', ms: 1 }] }
      const attributes = { name, run_at, change }
      resourceOf(
        await post(one, '/api/scheduled_changes', attributes, { type: 'scheduled_change' }),
      )
    }
    const ended = 'filter[type_eq]=api:changes:success&filter[name_start]=planned-'
    await waitFor(async () =>
      (await eventsOf(one, ended)).length >= names.length ? true : undefined,
    )
    await delay(1000)
    const changes = listOf(await send(other, '/api/changes?filter[name_start]=planned-')).data
    expect(changes).toHaveLength(names.length)
    expect(new Set(changes.map(({ attributes }) => attributes['name']))).toEqual(new Set(names))
    for (const type of ['api:changes:create', 'api:changes:start', 'api:changes:success'])
      expect(
        await eventsOf(other, `filter[type_eq]=${type}&filter[name_start]=planned-`),
      ).toHaveLength(names.length)
  })

  it('followers of both processes get the same events in the same order', async () => {
    const count = 60
    const follow = async (url: string): Promise<string[]> => {
      const seen: Resource[] = []
      let after = '2000-01-01T00:00:00Z'
      await waitFor(async () => {
        const query = `filter[type_eq]=followed&filter[created_at_gt]=${after}`
        seen.push(...(await eventsOf(url, query)))
        after = (seen.at(-1)?.attributes['created_at'] as string | undefined) ?? after
        return seen.length >= count ? true : undefined
      })
      return seen.map(({ id }) => id)
    }
    const followers = [follow(one), follow(other), follow(other)]
    const writers = [one, other, one, other].map(async (url, lane) => {
      for (let n = 0; n < count / 4; n++)
        await post(url, '/api/events', { type: 'followed', lane, n }, { type: 'Event' })
    })
    await Promise.all(writers)
    const [first, ...rest] = await Promise.all(followers)
    expect(new Set(first).size).toBe(count)
    for (const ids of rest) expect(ids).toEqual(first)
  })

  it('takes over the activities of a killed process', async () => {
    const killed = await start()
    const held = await startChange(killed.url, 'held', [
      { action: 'write_file', path: 'notes.txt', content: 'hello' },
      { action: 'approval' },
      { action: 'checksum', path: 'notes.txt' },
    ])
    const lost = await startChange(killed.url, 'lost', [
      { action: 'wait', ms: 1 },
      { action: 'wait', ms: 60_000 },
      { action: 'wait', ms: 1 },
    ])
    const approval = `/api/steps/${stepsOf(held)[1]}`
    await status(one, approval, 'waiting_for_approval')
    await event(one, startOf(stepsOf(lost)[1]!))
    await killed.child.kill('SIGKILL')

    await event(other, `filter[type_eq]=api:changes:error&filter[change_id_eq]=${lost.id}`)
    resourceOf(await post(other, `${approval}/approve`))
    await event(one, `filter[type_eq]=api:changes:success&filter[change_id_eq]=${held.id}`)

    const results = await Promise.all(
      stepsOf(lost).map(async (id) => resourceOf(await send(one, `/api/steps/${id}`)).attributes),
    )
    expect(results.map((step) => step['status'])).toEqual(['success', 'error', 'waiting'])
    const starts = await Promise.all([...stepsOf(held), ...stepsOf(lost)].map(startsOf))
    expect(starts).toEqual([1, 1, 1, 1, 1, 0])
    const failures = 'filter[type_in][]=error:step:processing&filter[type_in][]=api:changes:error'
    expect(await eventsOf(one, `${failures}&filter[change_id_eq]=${lost.id}`)).toHaveLength(2)
  })

  it('ends on SIGTERM, and the other process takes over its activities', async () => {
    const [first, second] = children
    const change = await startChange(one, 'left', [{ action: 'wait', ms: 60_000 }])
    await status(other, `/api/steps/${stepsOf(change)[0]}`, 'running')
    await first!.kill('SIGTERM')
    await event(other, `filter[type_eq]=api:changes:error&filter[change_id_eq]=${change.id}`)
    await second!.kill('SIGTERM')
    for (const child of [first!, second!]) {
      expect(child.stderr()).toBe('')
      expect(await child.ended).toBe(0)
    }
    const { rows } = await database.pool.query(
      `SELECT id FROM workflow_service.documents WHERE kind = 'workspaces' AND body IS NOT NULL`,
    )
    expect(rows).toEqual([])
  })

  it('keeps its data after a restart, and recovers from broken connections', async () => {
    const { child, url } = await start()
    expect((await send(url, '/api/projects/both-0')).status).toBe(200)
    await database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
    resourceOf(await post(url, '/api/projects', { code: 'after' }, { type: 'project' }))
    await event(url, 'filter[type_eq]=api:projects:create&filter[project_path_eq]=/projects/after')
    await child.kill('SIGTERM')
    expect(await child.ended).toBe(0)
  })
})

describe('the demo process without its Postgres server', () => {
  it.each([
    'postgres://ann:secret@127.0.0.1:1/x',
    'postgresql://ann@127.0.0.1:1/x?password=secret',
  ])('exits with an error that hides the password: %s', async (url) => {
    const child = runScript(MAIN, [], { PORT: '0', DAYBOOK_STORE: url })
    expect(await child.ended).toBe(1)
    expect(child.stdout()).toBe('')
    const scheme = url.slice(0, url.indexOf(':'))
    expect(child.stderr().trim()).toBe(
      `cannot reach ${scheme}://ann@127.0.0.1:1/x: connection refused`,
    )
  })
})
