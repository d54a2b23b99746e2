import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Child, runScript } from '../support/child.js'
import { JSON_API, type ListDocument, listOf, type RawResponse, send } from '../support/http.js'

/* Requests to the demo, and processes of it. */

export const MAIN = 'examples/workflow-service/main.ts'
export const PROD = '/projects/acme/environments/prod'

export type Attributes = Readonly<Record<string, unknown>>
export type Resource = ListDocument['data'][number]

/** Sends a resource of the type as this user. */
export const post = (
  url: string,
  path: string,
  attributes?: Attributes,
  { method = 'POST', user = 'ann', type = 'thing' } = {},
): Promise<RawResponse> =>
  send(url, path, {
    method,
    user,
    ...(attributes && {
      headers: { 'content-type': JSON_API },
      body: JSON.stringify({ data: { type, attributes } }),
    }),
  })

export const resourceOf = (response: RawResponse): Resource => {
  expect(response.status, response.body).toBeLessThan(300)
  return (JSON.parse(response.body) as { data: Resource }).data
}

/** Polls until `poll` returns something. */
export async function waitFor<T>(poll: () => Promise<T | undefined>): Promise<T> {
  for (let polls = 0; polls < 1200; polls++) {
    const found = await poll()
    if (found !== undefined) return found
    await delay(50)
  }
  throw new Error('timed out')
}

export const eventsOf = async (url: string, query: string): Promise<readonly Resource[]> =>
  listOf(await send(url, `/api/events?limit=1000&${query}`)).data

/** Polls until the query finds events. */
export const waitForEvents = (url: string, query: string): Promise<readonly Resource[]> =>
  waitFor(async () => {
    const found = await eventsOf(url, query)
    return found.length > 0 ? found : undefined
  })

export async function startChange(
  url: string,
  name: string,
  steps: readonly Attributes[],
): Promise<Resource> {
  const attributes = { name, action: 'deploy', node_path: PROD, steps }
  const change = resourceOf(await post(url, '/api/changes', attributes, { type: 'change' }))
  resourceOf(await post(url, `/api/changes/${change.id}/start`))
  return change
}

/** Starts the demo in a separate process, without simulated users. */
export async function startDemo(
  store: string,
  env: NodeJS.ProcessEnv = {},
): Promise<{ child: Child; url: string }> {
  const own = { PORT: '0', DAYBOOK_STORE: store, DAYBOOK_TRAFFIC: 'off' }
  const child = runScript(MAIN, [], { ...own, ...env })
  await child.saw('\n')
  return { child, url: /http:\/\/\S+/.exec(child.stdout())![0] }
}
