import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkAnswersBy, type RawRequest, type RawResponse, send } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { managementCheck } from '../support/openapi.js'
import {
  comparable,
  type Host,
  hostsOf,
  OUTER,
  outerHostsOf,
  subscriptionMounts,
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

const hosts = hostsOf(subscriptionMounts)
const outerHosts = outerHostsOf(subscriptionMounts, '/api')

const CHANGING = /"(position|duration_ms)":(?:"[^"]*"|[\d.]+)/g

/** The responses of a host to one request after another. */
async function responsesOf(host: Host, prefix = ''): Promise<unknown[]> {
  const audit = new AuditLog({
    store: memoryStore({ clock: manualClock('2026-06-01T00:00:00Z') }),
    types: {},
    subscriptions: {
      channels: { search: { deliver: () => {} } },
      kinds: { notebook: notebook(new Map()) },
      secretsKey: KEY,
      deliver: false,
    },
  })
  const { url, close } = await listen(host(audit))
  const endChecks = checkAnswersBy(url, managementCheck(`${prefix}/api`))
  const answers: RawResponse[] = []
  const request = async (path: string, given?: RawRequest): Promise<string> => {
    const answer = await send(url, prefix + path, given)
    answers.push(answer)
    return answer.status === 201 ? resourceOf(answer).id : ''
  }
  try {
    const paused = { name: 'errors', channel: 'search', paused: true }
    const one = `${SUBSCRIPTIONS}/${await request(SUBSCRIPTIONS, newSubscription(paused))}`
    const pad = { name: 'pad', kind: 'notebook', config: { page: 'one' } }
    const channel = `${CHANNELS}/${await request(CHANNELS, newChannel(pad))}`
    for (const [path, given] of [
      [SUBSCRIPTIONS],
      [`${SUBSCRIPTIONS}?filter[name_eq]=errors&limit=1`],
      [`${SUBSCRIPTIONS}?filter[names_eq]=errors`],
      [SUBSCRIPTIONS, { method: 'HEAD' }],
      [SUBSCRIPTIONS, { user: null }],
      [SUBSCRIPTIONS, { method: 'PUT', body: 'x' }],
      [SUBSCRIPTIONS, { ...newSubscription(paused), user: 'bob' }],
      [SUBSCRIPTIONS, newSubscription({ ...paused, name: 'NO' })],
      [SUBSCRIPTIONS, { ...newSubscription(paused), headers: { 'content-type': 'text/plain' } }],
      [one],
      [one, subscriptionChange({ when_stuck: 'hold' })],
      [one, { ...subscriptionChange({}), user: 'bob' }],
      [`${one}/resume`, action()],
      [`${one}/pause`, action({})],
      [`${one}/replay`, action({ from: 'beginning' })],
      [`${one}/discard`, action({ which: 'all' })],
      [`${one}/parked`],
      [`${one}/nothing`],
      [`${SUBSCRIPTIONS}/me`],
      [`${SUBSCRIPTIONS}/openapi.json`],
      [CHANNELS],
      [channel],
      [channel, channelChange({ config: { page: 'two' } })],
      [`${channel}/disable`, action({ reason: 'it moves' })],
      [`${channel}/enable`, action()],
      [`${channel}/rotate_secret`, action()],
      [channel, REMOVAL],
      [channel],
      [one, REMOVAL],
      [`${one}/pause`, action()],
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
      ...[201, 201],
      ...[200, 200, 400, 200, 401, 405, 403, 422, 415],
      ...[200, 200, 403, 200, 200, 200, 200, 200, 404, 200, 200],
      ...[200, 200, 200, 200, 200, 200, 204, 404, 204, 404],
    ])
  })

  it.each(Object.entries(hosts).slice(1))('responds alike: %s', async (_, host) => {
    expect(await responsesOf(host)).toEqual(expected)
  })

  it.each(Object.entries(outerHosts))('responds alike under a path: %s', async (_, host) => {
    expect(await responsesOf(host, OUTER)).toEqual(expected)
  })

  it('passes other paths on', async () => {
    for (const [name, listener] of Object.entries(hosts)) {
      const audit = new AuditLog({ store: memoryStore(), types: {} })
      const { url, close } = await listen(listener(audit))
      const { status, body } = await send(url, '/api/subscription')
      expect([name, status, body.includes('UNKNOWN')]).toEqual([name, 404, false])
      await close()
      await audit.close()
    }
  })
})
