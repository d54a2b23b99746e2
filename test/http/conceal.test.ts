import { AuditLog, type AuditEvent } from 'daybook'
import { memoryLogs, memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { DeliveryError } from '../../src/subscriptions/channel.js'
import { clock, EVENTS, PROBES, SECRET } from '../support/concealed.js'
import {
  answersOf,
  HOSTS,
  leaksOf,
  RULES,
  type Served,
  serveLog,
  serveLogs,
} from '../support/concealed-servers.js'
import { frameworks } from '../support/frameworks.js'
import { send } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { openStream } from '../support/server-sent.js'
import { tempDir } from '../support/temp.js'
import { PATH, startFeed } from './access.js'

const closing = <Server extends Served>(server: Server): Server => {
  onTestFinished(() => server.close())
  return server
}

/** Each host gets other requests; `test/campaigns/conceal.ts` sends all of them to all hosts and stores. */
const SHARE = Number(process.env['SHARE'] ?? 64)
const shareOf = (n: number) => PROBES.filter((_, i) => i % SHARE === n % SHARE)

it.each(HOSTS.map((host, i) => [host, i] as const))(
  'requests to %s tell nothing of concealed attributes and hidden events',
  async (host, i) => {
    const temp = tempDir()
    onTestFinished(() => temp.remove())
    const model = await serveLog('node:http', { store: memoryStore({ clock }) }, EVENTS.shown)
    const answers = answersOf(closing(model))
    const store =
      i % 2 === 0 ? memoryStore({ clock }) : sqliteStore({ filename: temp.file('audit.db'), clock })
    const given = closing(await serveLog(host, { store }, EVENTS.stored, RULES))
    expect(await leaksOf(given, answers, shareOf(i))).toEqual([])
  },
)

it('nor do requests for several logs', async () => {
  const model = await serveLogs('node:http', memoryLogs({ clock }), EVENTS.shown)
  const answers = answersOf(closing(model))
  const given = closing(await serveLogs('Fetch', memoryLogs({ clock }), EVENTS.stored, RULES))
  expect(await leaksOf(given, answers, shareOf(HOSTS.length))).toEqual([])
})

const TYPES = { 'own:live': { live: true } } as const

it('streams, changes, waiting lists and `onRead` have what the user sees', async () => {
  const audit = new AuditLog({ store: memoryStore(), types: TYPES })
  const read: unknown[] = []
  let names: readonly string[] = ['secret', 'deep_secret']
  const app = frameworks['node:http']!({
    mounts: [
      ['basicAuth', { users: { ann: 'ann' } }],
      [
        'auditRoutes',
        audit,
        {
          recheckMs: 50,
          conceal: () => names,
          onRead: (_: unknown, { events }: { events: readonly AuditEvent[] }) =>
            void read.push(...events.map(({ attributes }) => attributes)),
        },
      ],
    ],
  })
  const { url, close } = await listen(app)
  onTestFinished(async () => {
    await close()
    await audit.close()
  })
  const stream = `${url}/api/events/stream`
  const [plain, changes] = await Promise.all([
    openStream(stream),
    openStream(`${stream}?changes=true`),
  ])
  const waiting = send(url, '/api/events', { headers: { prefer: 'wait=10' } })
  const event = await audit.recordLive('own:live', {
    secret: SECRET,
    deep: { secret: SECRET },
    n: 1,
  })
  await Promise.all([plain, changes].map((one) => one.take(1)))
  await event.update({ secret: `${SECRET} 2`, deep: { secret: 'x' }, n: 2 })
  await event.close()
  await changes.until(({ events }) => events.some(({ data }) => data.includes('"closed":true')))
  const answers = [
    ...[plain, changes].map(({ sent }) => JSON.stringify(sent.events)),
    (await waiting).body,
    JSON.stringify(read),
  ]
  for (const answer of answers) expect(answer).not.toContain(SECRET)
  for (const answer of answers) expect(answer).toContain('deep')
  const refused = await send(url, '/api/events/stream?filter[secret_eq]=1', { method: 'HEAD' })
  expect(refused.status).toBe(400)
  names = ['secret']
  expect(await plain.ended).toBe('ended')
  expect(await changes.ended).toBe('ended')
})

it.each([
  [undefined, 'must return a list'],
  ['secret', 'must return a list'],
  [['*'], 'no name of an attribute'],
  [[''], 'no name of an attribute'],
  [[7], 'no name of an attribute'],
  [['username'], 'a field that each event has'],
])('conceal that returns %j is an error of the host', async (given, message) => {
  const conceal = (() => given) as never
  const { send, errors } = await startFeed({ conceal })
  expect((await send(PATH)).status).toBe(500)
  expect(String(errors[0])).toContain(message)
})

it('the owner of a subscription gets what the owner sees, also from parked events', async () => {
  const delivered: AuditEvent[] = []
  let fails = true
  const audit = new AuditLog({
    store: memoryStore(),
    types: {},
    subscriptions: {
      channels: {
        out: {
          async deliver(events) {
            if (fails) throw new DeliveryError('status', 'no', { permanent: true })
            delivered.push(...events)
          },
        },
      },
      conceal: () => ['secret'],
    },
  })
  onTestFinished(() => audit.close())
  const { subscriptions } = audit
  const { id } = await subscriptions.create({
    name: 'one',
    channel: 'out',
    owner: 'ann',
    filter: { filter: { type_eq: 'note' } },
  })
  await subscriptions.create({
    name: 'two',
    channel: 'out',
    owner: 'ann',
    filter: { filter: { secret_eq: SECRET } },
  })
  await audit.recordCustom('note', { secret: SECRET, shown: 1 }, { username: 'ann' })
  await expect.poll(async () => (await subscriptions.parked(id)).length).toBe(1)
  fails = false
  expect(await subscriptions.redrive(id, 'all')).toMatchObject({ delivered: 1 })
  await audit.recordCustom('note', { secret: SECRET, shown: 2 }, { username: 'ann' })
  await expect.poll(() => delivered.length).toBe(2)
  expect(delivered.map(({ attributes }) => attributes)).toEqual([{ shown: 1 }, { shown: 2 }])
  const states = await subscriptions.status()
  expect(states.find(({ name }) => name === 'two')).toMatchObject({ state: 'broken', delivered: 0 })
})
