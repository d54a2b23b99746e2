import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import type { RunningService } from '../../../examples/workflow-service/app.js'
import { JSON_API, type ListDocument, listOf, type RawResponse, send } from '../../support/http.js'
import type { tempDir } from '../../support/temp.js'

export type Attributes = Readonly<Record<string, unknown>>
export type Resource = ListDocument['data'][number]

const MAX_POLLS = 1000

/** The environment of a story: requests to the running demo, and a directory. */
export interface World {
  readonly temp: ReturnType<typeof tempDir>
  /** Sends a request, which must succeed. Returns the resource in the response, if it has one. */
  post(path: string, type?: string, attributes?: Attributes, user?: string): Promise<Resource>
  patch(path: string, type: string, attributes: Attributes): Promise<Resource>
  del(path: string): Promise<void>
  get(path: string): Promise<Resource>
  /** Sends a request that must be refused with this status. */
  refused(status: number, line: string, attributes?: Attributes, user?: string): Promise<void>
  /** Sends a request without a body; returns the status of the response. */
  attempt(line: string): Promise<number>
  /** Changes settings. */
  set(settings: Attributes): Promise<void>
  /** Waits for an event of this type, with these conditions. */
  saw(type: string, conditions?: Readonly<Record<string, string>>): Promise<Resource>
  /** Resolves to true if an event of this type was recorded, with these conditions. */
  has(type: string, conditions?: Readonly<Record<string, string>>): Promise<boolean>
  /** Calls the function until it returns true. */
  until(what: string, isReached: () => Promise<boolean>): Promise<void>
  /** Starts a change and returns it. */
  startChange(name: string, steps: readonly Attributes[], more?: Attributes): Promise<Resource>
  /** Stops the service and starts it again on the same files. */
  restart(): Promise<void>
  /** The types of all events that the service has recorded, or of the matching events. */
  types(conditions?: string): Promise<ReadonlySet<string>>
}

export type Story = (world: World) => Promise<void>

export async function createWorld(
  temp: World['temp'],
  start: () => Promise<RunningService>,
): Promise<World & { close(): Promise<void> }> {
  let service = await start()

  const request = (line: string, type?: string, attributes?: Attributes, user = 'ann') => {
    const [method = '', path = ''] = line.split(' ')
    return send(service.url, path, {
      method,
      user,
      ...(type !== undefined && {
        headers: { 'content-type': JSON_API },
        body: JSON.stringify({ data: { type, attributes } }),
      }),
    })
  }
  const resourceIn = ({ status, body }: RawResponse, line: string): Resource => {
    expect(status, `${line}: ${body}`).toBeLessThan(300)
    return (body === '' ? undefined : (JSON.parse(body) as { data: Resource }).data) as Resource
  }
  const find = async (query: string): Promise<readonly Resource[]> =>
    listOf(await send(service.url, `/api/events?filter[system_true]=1&${query}`)).data
  const findOne = async (
    type: string,
    conditions: Readonly<Record<string, string>> = {},
  ): Promise<Resource | undefined> => {
    const query = Object.entries({ type, ...conditions }).map(
      ([name, value]) => `filter[${name}_eq]=${encodeURIComponent(value)}`,
    )
    return (await find(`limit=1&${query.join('&')}`))[0]
  }

  const world: World = {
    temp,
    post: async (path, type, attributes, user) =>
      resourceIn(await request(`POST ${path}`, type, attributes, user), path),
    patch: async (path, type, attributes) =>
      resourceIn(await request(`PATCH ${path}`, type, attributes), path),
    del: async (path) => void resourceIn(await request(`DELETE ${path}`), path),
    get: async (path) => resourceIn(await request(`GET ${path}`), path),
    async refused(status, line, attributes, user) {
      const words = line.split(' ')
      const response = await request(words.slice(0, 2).join(' '), words[2], attributes, user)
      expect(response.status, `${line}: ${response.body}`).toBe(status)
    },
    attempt: async (line) => (await request(line)).status,
    set: async (settings) => void (await world.patch('/api/settings', 'settings', settings)),
    async saw(type, conditions = {}) {
      let found: Resource | undefined
      await world.until(`${type} ${JSON.stringify(conditions)}`, async () => {
        found = await findOne(type, conditions)
        return found !== undefined
      })
      return found!
    },
    has: async (type, conditions) => (await findOne(type, conditions)) !== undefined,
    async until(what, isReached) {
      for (let polls = 0; polls < MAX_POLLS; polls++) {
        if (await isReached()) return
        await delay(40)
      }
      throw new Error(`never came: ${what}; the newest events are ${(await newest()).join(', ')}`)
    },
    async startChange(name, steps, more = {}) {
      const attributes = { name, action: name, node_path: PROD, steps, ...more }
      const change = await world.post('/api/changes', 'change', attributes)
      await world.post(`/api/changes/${change.id}/start`)
      return change
    },
    async restart() {
      await service.close()
      service = await start()
    },
    async types(conditions = '') {
      const seen = new Set<string>()
      let path = `/api/events?limit=1000&filter[system_true]=1&fields[event]=type${conditions}`
      while (path !== '') {
        const { data, links } = listOf(await send(service.url, path)) as ListDocument & {
          links?: { prev?: string }
        }
        for (const { attributes } of data) seen.add(String(attributes['type']))
        path = links?.prev ?? ''
      }
      return seen
    },
  }
  const newest = async (): Promise<unknown[]> =>
    (await find('limit=20')).map(({ attributes }) => attributes['type'])

  return Object.assign(world, { close: () => service.close() })
}

export const PROD = '/projects/acme/environments/prod'
export const stepsOf = (activity: Resource): string[] => activity.attributes['step_ids'] as string[]
