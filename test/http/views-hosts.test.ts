import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkAnswersBy, type RawRequest, type RawResponse, send } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { viewsCheck } from '../support/openapi.js'
import {
  comparable,
  type Host,
  hostsOf,
  OUTER,
  outerHostsOf,
  viewMounts,
} from './management-hosts.js'
import { newView, REMOVAL, viewChange, viewOf, VIEWS } from './views-served.js'

const hosts = hostsOf(viewMounts)

const CHANGING = /"(created_at|updated_at)":"[^"]*"/g

/** The responses of a host to one request after another. */
async function responsesOf(host: Host, prefix = ''): Promise<unknown[]> {
  const audit = new AuditLog({ store: memoryStore(), types: {} })
  const { url, close } = await listen(host(audit))
  const endChecks = checkAnswersBy(url, viewsCheck(`${prefix}${VIEWS}`))
  const answers: RawResponse[] = []
  const request = async (path: string, given?: RawRequest): Promise<RawResponse> => {
    const answer = await send(url, prefix + path, given)
    answers.push(answer)
    return answer
  }
  try {
    const { id } = viewOf(await request(VIEWS, newView({ name: 'a', shared: true })))
    const one = `${VIEWS}/${id}`
    for (const [path, given] of [
      [VIEWS],
      [`${VIEWS}/`],
      [`${VIEWS}?filter[name_eq]=a&limit=1`],
      [`${VIEWS}?filter[names_eq]=a`],
      [VIEWS, { method: 'HEAD' }],
      [VIEWS, { user: null }],
      [VIEWS, { method: 'PUT', body: 'x' }],
      [VIEWS, { user: 'bob' }],
      [VIEWS, { ...newView({ name: 'b' }), user: 'bob' }],
      [VIEWS, newView({ name: '' })],
      [VIEWS, { ...newView({ name: 'b' }), headers: { 'content-type': 'text/plain' } }],
      [one],
      [one, viewChange({ query: 'filter[type_eq]=x' })],
      [one, { ...viewChange({}), user: 'bob' }],
      [`${one}/nothing`],
      [`${VIEWS}/me`],
      [`${VIEWS}/openapi.json`],
      [one, REMOVAL],
      [one],
    ] satisfies [path: string, given?: RawRequest][])
      await request(path, given)
  } finally {
    endChecks()
    await close()
    await audit.close()
  }
  return answers.map((answer) => comparable(answer, prefix, CHANGING))
}

describe('every host', () => {
  let expected: unknown[]

  beforeAll(async () => {
    expected = await responsesOf(hosts['Koa']!)
  })

  it('responds as expected', () => {
    expect(expected.map((answer) => (answer as { status: number }).status)).toEqual([
      ...[201, 200, 200, 200, 400, 200, 401, 405, 200, 403, 422, 415],
      ...[200, 200, 403, 404, 200, 200, 204, 404],
    ])
  })

  it.each(Object.entries(hosts).slice(1))('responds alike: %s', async (_, host) => {
    expect(await responsesOf(host)).toEqual(expected)
  })

  it.each(Object.entries(outerHostsOf(viewMounts, VIEWS)))(
    'responds alike under a path: %s',
    async (_, host) => {
      expect(await responsesOf(host, OUTER)).toEqual(expected)
    },
  )
})
