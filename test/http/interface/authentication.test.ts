import http from 'node:http'
import { describe, expect, it } from 'vitest'
import { sqlitePlace } from '../../support/event-stores.js'
import { errorOf, newEvent } from '../../support/http.js'
import { clientOf, type Resource, resourceOf, useDemo } from '../../support/host.js'

/*
 * The interface, "Authentication" and "Approvals", sentence by sentence, with the demo service. The demo
 * names approvers by approval steps; settings and LDAP groups are up to each service.
 */

/** One request of each kind. Every request needs credentials. */
const requests = [
  ['GET', '/api/events'],
  ['GET', '/api/events/0196b3c2-0000-7000-8000-000000000000'],
  ['POST', '/api/events'],
  ['GET', '/api/projects'],
  ['POST', '/api/projects'],
] as const

/** Decisions about a step, and the events of denied decisions. */
const kinds = [
  { activities: '/api/changes', type: 'change', link: 'change_id', steps: 'steps' },
  {
    activities: '/api/workflow_runs',
    type: 'workflow_run',
    link: 'workflow_run_id',
    steps: 'workflow_steps',
  },
] as const

const typesOf = (events: readonly Resource[]): unknown[] =>
  events.map(({ attributes }) => attributes['type'])

describe('Authentication', () => {
  const demo = useDemo(sqlitePlace)
  const { send, events, waitFor, write, act } = clientOf(() => demo().url)

  it.each(requests)('%s %s needs a user name and a password', async (method, path) => {
    for (const user of [null, 'ann:wrong', 'nobody']) {
      const response = await send(path, { method, user })
      expect([response.status, errorOf(response).code]).toEqual([401, 'UNAUTHENTICATED'])
      expect(response.headers['www-authenticate']).toMatch(/^Basic realm=/)
    }
  })

  it('credentials are HTTP Basic: base64 of name and password', async () => {
    const authorization = `Basic ${Buffer.from('ann:ann').toString('base64')}`
    const request = { user: null, headers: { authorization } }
    expect((await send('/api/events', request)).status).toBe(200)
  })

  it('credentials are required for every request of a connection', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const get = (auth?: string) =>
      new Promise<{ status: number; reused: boolean; cookies: unknown }>((resolve, reject) => {
        const options = { agent, ...(auth !== undefined && { auth }) }
        const request = http.get(`${demo().url}/api/events`, options, (response) => {
          const { statusCode: status = 0, headers } = response
          response
            .resume()
            .on('end', () =>
              resolve({ status, reused: request.reusedSocket, cookies: headers['set-cookie'] }),
            )
        })
        request.on('error', reject)
      })
    try {
      expect(await get('ann:ann')).toEqual({ status: 200, reused: false, cookies: undefined })
      expect(await get()).toEqual({ status: 401, reused: true, cookies: undefined })
    } finally {
      agent.destroy()
    }
  })

  it.each(['ann', 'bob'])('%s is the username of events that the request creates', async (user) => {
    const code = `by-${user}`
    resourceOf(await write('POST', '/api/projects', 'project', { code }, user))
    const [recorded] = await events(`filter[request_body_code_eq]=${code}`)
    expect(recorded!.attributes).toMatchObject({ type: 'api:projects:create', username: user })
    await send('/api/events', { ...newEvent({ type: 'note', code }), user })
    const [custom] = await events(`filter[code_eq]=${code}`)
    expect(custom!.attributes).toMatchObject({ type: 'note', username: user })
  })

  describe.each(kinds)('approvals of $steps', ({ activities, type, link, steps }) => {
    /** The step of a started activity that waits for an approval by `ann`, or by anyone. */
    const waitingStep = async (action: 'approval' | 'manual'): Promise<string> => {
      const definition = [{ name: 'decide', action, requires_approval_from: ['ann'] }]
      const attributes =
        type === 'change'
          ? { name: 'release', action: 'deploy', steps: definition }
          : {
              workflow_id: resourceOf(
                await write('POST', '/api/workflows', 'workflow', {
                  name: 'release',
                  steps: definition,
                }),
              ).id,
            }
      const { id, attributes: created } = resourceOf(
        await write('POST', activities, type, attributes),
      )
      resourceOf(await act(`${activities}/${id}/start`))
      await waitFor(`filter[type_eq]=api:${steps}:start&filter[${link}_eq]=${id}`)
      const [step] = created['step_ids'] as string[]
      await expect
        .poll(async () => resourceOf(await send(`/api/${steps}/${step}`)).attributes['status'], {
          interval: 20,
          timeout: 10_000,
        })
        .toMatch(/^waiting/)
      return step!
    }
    const audited = (step: string) =>
      events(`filter[type_start]=audit:&filter[${steps.slice(0, -1)}_id_eq]=${step}`)

    it.each(['approve', 'reject'])('only an approver may %s', async (decision) => {
      const step = await waitingStep('approval')
      const path = `/api/${steps}/${step}/${decision}`
      for (const user of ['bob', 'eve']) expect((await act(path, user)).status).toBe(403)
      expect((await act(path, 'ann')).status).toBe(200)
      const found = await audited(step)
      expect(found.map(({ attributes }) => [attributes['type'], attributes['username']])).toEqual([
        [`audit:${steps}:${decision}:denied`, 'bob'],
        [`audit:${steps}:${decision}:denied`, 'eve'],
        [`audit:${steps}:${decision}`, 'ann'],
      ])
      for (const { attributes } of found) expect(attributes['system']).toBe(true)
    })

    it('a step that waits for approval is not continued, by anyone', async () => {
      const step = await waitingStep('approval')
      expect((await act(`/api/${steps}/${step}/continue`, 'ann')).status).toBe(403)
      expect(typesOf(await audited(step))).toEqual([`audit:${steps}:continue:denied`])
    })

    it('a step that waits for anyone may be continued', async () => {
      const step = await waitingStep('manual')
      expect((await act(`/api/${steps}/${step}/continue`, 'bob')).status).toBe(200)
      expect(typesOf(await audited(step))).toEqual([`audit:${steps}:continue`])
    })
  })
})
