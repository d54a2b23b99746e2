import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkAnswersBy, type RawRequest, type RawResponse, send } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { type AnswerCheck, managementCheck, viewsCheck } from '../support/openapi.js'
import {
  comparable,
  type Host,
  hostsOf,
  type Mounted,
  OUTER,
  outerHostsOf,
} from './management-hosts.js'
import {
  action,
  channelChange,
  CHANNELS,
  KEY,
  newChannel,
  newSubscription,
  notebook,
  REMOVAL,
  resourceOf,
  subscriptionChange,
  SUBSCRIPTIONS,
} from './managing.js'
import { newView, viewChange, VIEWS } from './views-served.js'

type Exchange = readonly [status: number, path: string, request?: RawRequest]

/** A kind of resource that users manage. */
interface Managed {
  readonly mounted: Mounted
  readonly outerPath: string
  /** Throws for an answer that the OpenAPI document does not declare. */
  readonly check: AnswerCheck
  /** Names of members whose values differ in each run. */
  readonly changing: RegExp
  /** Requests that create resources, and later requests, by the paths of the resources. */
  readonly made: readonly Exchange[]
  readonly exchanges: (...paths: readonly [string, string]) => readonly Exchange[]
}

const paused = { name: 'errors', channel: 'search', paused: true }
const pad = { name: 'pad', kind: 'notebook', config: { page: 'one' } }

const subscriptions: Managed = {
  mounted: 'subscriptionRoutes',
  outerPath: '/api',
  check: managementCheck('/api'),
  changing: /"(cursor|duration_ms)":(?:"[^"]*"|[\d.]+)/g,
  made: [
    [201, SUBSCRIPTIONS, newSubscription(paused)],
    [201, CHANNELS, newChannel(pad)],
  ],
  exchanges: (one, channel) => [
    [200, SUBSCRIPTIONS],
    [200, `${SUBSCRIPTIONS}?filter[name_eq]=errors&limit=1`],
    [400, `${SUBSCRIPTIONS}?filter[names_eq]=errors`],
    [200, SUBSCRIPTIONS, { method: 'HEAD' }],
    [401, SUBSCRIPTIONS, { user: null }],
    [405, SUBSCRIPTIONS, { method: 'PUT', body: 'x' }],
    [403, SUBSCRIPTIONS, { ...newSubscription(paused), user: 'bob' }],
    [422, SUBSCRIPTIONS, newSubscription({ ...paused, name: 'NO' })],
    [415, SUBSCRIPTIONS, { ...newSubscription(paused), headers: { 'content-type': 'text/plain' } }],
    [200, one],
    [200, one, subscriptionChange({ when_stuck: 'hold' })],
    [403, one, { ...subscriptionChange({}), user: 'bob' }],
    [200, `${one}/resume`, action()],
    [200, `${one}/pause`, action({})],
    [200, `${one}/replay`, action({ from: 'beginning' })],
    [200, `${one}/discard`, action({ which: 'all' })],
    [200, `${one}/parked`],
    [404, `${one}/nothing`],
    [200, `${SUBSCRIPTIONS}/me`],
    [200, `${SUBSCRIPTIONS}/openapi.json`],
    [200, CHANNELS],
    [200, channel],
    [200, channel, channelChange({ config: { page: 'two' } })],
    [200, `${channel}/disable`, action({ reason: 'it moves' })],
    [200, `${channel}/enable`, action()],
    [200, `${channel}/rotate_secret`, action()],
    [204, channel, REMOVAL],
    [404, channel],
    [204, one, REMOVAL],
    [404, `${one}/pause`, action()],
  ],
}

const views: Managed = {
  mounted: 'viewRoutes',
  outerPath: VIEWS,
  check: viewsCheck(VIEWS),
  changing: /"(created_at|updated_at)":"[^"]*"/g,
  made: [[201, VIEWS, newView({ name: 'a', shared: true })]],
  exchanges: (one) => [
    [200, VIEWS],
    [200, `${VIEWS}/`],
    [200, `${VIEWS}?filter[name_eq]=a&limit=1`],
    [400, `${VIEWS}?filter[names_eq]=a`],
    [200, VIEWS, { method: 'HEAD' }],
    [401, VIEWS, { user: null }],
    [405, VIEWS, { method: 'PUT', body: 'x' }],
    [200, VIEWS, { user: 'bob' }],
    [403, VIEWS, { ...newView({ name: 'b' }), user: 'bob' }],
    [422, VIEWS, newView({ name: '' })],
    [415, VIEWS, { ...newView({ name: 'b' }), headers: { 'content-type': 'text/plain' } }],
    [200, one],
    [200, one, viewChange({ query: 'filter[type_eq]=x' })],
    [403, one, { ...viewChange({}), user: 'bob' }],
    [404, `${one}/nothing`],
    [200, `${VIEWS}/me`],
    [200, `${VIEWS}/openapi.json`],
    [204, one, REMOVAL],
    [404, one],
  ],
}

const newLog = (): AuditLog =>
  new AuditLog({
    store: memoryStore({ clock: manualClock('2026-06-01T00:00:00Z') }),
    types: {},
    subscriptions: {
      channels: { search: { deliver: () => {} } },
      kinds: { notebook: notebook(new Map()) },
      secretsKey: KEY,
      deliver: false,
    },
  })

describe.each(Object.entries({ subscriptions, views }))('every host of %s', (_name, managed) => {
  const hosts = hostsOf(managed.mounted)
  let expected: unknown[]

  /** The responses of a host to one request after another. */
  async function responsesOf(host: Host, prefix = ''): Promise<unknown[]> {
    const audit = newLog()
    const { url, close } = await listen(host(audit))
    // The other hosts have the same responses.
    const endChecks = host === hosts['Koa'] ? checkAnswersBy(url, managed.check) : () => {}
    const answers: RawResponse[] = []
    const request = async ([status, path, given]: Exchange): Promise<RawResponse> => {
      const answer = await send(url, prefix + path, given)
      expect([path, answer.status]).toEqual([path, status])
      answers.push(answer)
      return answer
    }
    try {
      const paths: string[] = []
      for (const one of managed.made) paths.push(`${one[1]}/${resourceOf(await request(one)).id}`)
      const [first = '', second = ''] = paths
      for (const one of managed.exchanges(first, second)) await request(one)
    } finally {
      endChecks()
      await close()
      await audit.close()
    }
    return answers.map((answer) => comparable(answer, prefix, managed.changing))
  }

  beforeAll(async () => {
    expected = await responsesOf(hosts['Koa']!)
  })

  it.each(Object.entries(hosts).slice(1))('responds alike: %s', async (_, host) => {
    expect(await responsesOf(host)).toEqual(expected)
  })

  it.each(Object.entries(outerHostsOf(managed.mounted, managed.outerPath)))(
    'responds alike under a path: %s',
    async (_, host) => {
      expect(await responsesOf(host, OUTER)).toEqual(expected)
    },
  )

  it('passes other paths on', async () => {
    for (const [name, host] of Object.entries(hosts)) {
      const audit = newLog()
      const { url, close } = await listen(host(audit))
      for (const path of ['/api/subscription', '/api/view']) {
        const { status, body } = await send(url, path)
        expect([name, status, body.includes('UNKNOWN')]).toEqual([name, 404, false])
      }
      await close()
      await audit.close()
    }
  })
})
