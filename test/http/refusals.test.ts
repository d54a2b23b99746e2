import { type AuditEvent, AuditLog, type EventStore } from 'daybook'
import { recordRequests, type RecordRequestsOptions } from 'daybook/fetch'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { type ManualClock, manualClock } from 'daybook/testing'
import { expect, it, onTestFinished } from 'vitest'
import { useLeapingTime } from '../support/leaping-time.js'
import { allEvents } from '../support/reported-losses.js'
import { tempDir } from '../support/temp.js'

const MINUTE = 60_000
const REFUSED = 'error:api:controller:refused'
const CREATE = 'error:orders:create'
const UNHANDLED = 'error:api:controller:unhandled'

const time = useLeapingTime()

type Open = (clock: ManualClock) => EventStore

/** Opens logs one after another on one store, like a restarted service. */
interface Rig {
  open(): AuditLog
  /** Time passes, by all clocks. */
  wait(minutes: number): void
}

const stores: Readonly<Record<string, () => Open>> = {
  memory() {
    let store: EventStore | undefined
    return (clock) => {
      store ??= memoryStore({ clock })
      return { ...store, close: async () => {} }
    }
  },
  SQLite() {
    const { file, remove } = tempDir()
    onTestFinished(remove)
    return (clock) => sqliteStore({ filename: file('audit.db'), clock })
  },
}

function rig(name: string): Rig {
  const openStore = stores[name]!()
  const clock = manualClock()
  return {
    open: () => new AuditLog({ store: openStore(clock), types: {} }),
    wait(minutes) {
      clock.advance(minutes * MINUTE * 1000)
      time.leap(minutes * MINUTE)
    },
  }
}

interface Sent {
  readonly address?: string
  readonly user?: string
  readonly status?: number
  readonly path?: string
  readonly method?: string
  readonly authorization?: string
  readonly body?: object
}

/** A service that responds as the request asks, and parses JSON bodies. */
function service(audit: AuditLog, options: RecordRequestsOptions = {}) {
  const record = recordRequests(audit, {
    ...options,
    address: ({ headers }) => headers.get('x-address') ?? '',
    username: ({ headers }) => headers.get('x-user'),
  })
  const handle = async (request: Request): Promise<Response> => {
    const status = Number(request.headers.get('x-status') ?? 400)
    if (status === 0) throw new SyntaxError('Unexpected token in JSON')
    if (request.headers.has('content-type')) await request.json()
    if (status === 304) return new Response(null, { status })
    return new Response('wrong', { status })
  }
  return async ({
    address = '192.0.2.1',
    user,
    status = 400,
    path = '/orders',
    method,
    authorization,
    body,
  }: Sent = {}) => {
    const request = new Request(`http://service.test${path}`, {
      method: method ?? 'POST',
      headers: {
        'x-address': address,
        'x-status': String(status),
        ...(user !== undefined && { 'x-user': user }),
        ...(authorization !== undefined && { authorization }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    await record(handle, path)(request).catch(() => {})
  }
}

/** Events of single requests, and these with the counted requests of all types together. */
async function totalOf(audit: AuditLog): Promise<{ events: number; total: number }> {
  const all = await allEvents(audit)
  const counted = all.filter(({ attributes }) => attributes['collapsed'] === true)
  const events = all.length - counted.length
  const counts = counted.map(({ attributes }) => attributes['count'] as number)
  return { events, total: counts.reduce((sum, count) => sum + count, events) }
}

/** Requests, and the number of their events. */
const CASES: readonly [string, number, number, (i: number) => Sent][] = [
  ['malformed requests', 100, 1, () => ({})],
  ['requests of one client from many ports', 150, 1, (i) => ({ address: `192.0.2.1:${i}` })],
  [
    'requests of a client whose address has several spellings',
    4,
    1,
    (i) => ({
      address: ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:c000:201', '[::ffff:c000:0201]:9'][i]!,
    }),
  ],
  ['requests of one network', 150, 1, (i) => ({ address: `2001:db8::${i.toString(16)}` })],
  ['requests without an address', 150, 1, (i) => ({ address: `unknown${i}` })],
  ['many addresses', 400, 101, (i) => ({ address: `192.0.${i >> 8}.${i & 255}` })],
  ['failures of one route', 100, 1, () => ({ status: 0 })],
  ['failures of reads', 100, 1, () => ({ status: 503, method: 'GET' })],
  ['any statuses', 100, 11, (i) => ({ status: 400 + (i % 50) })],
  ['any methods', 100, 11, (i) => ({ method: `M${i}` })],
  ['any routes', 100, 11, (i) => ({ path: `/things${i}s` })],
  ['failures of any routes', 100, 11, (i) => ({ status: 0, path: `/things${i}s` })],
]

/** Sends refused requests to a service, restarts it after a while, and expects their events and their number. */
async function expectCounted(
  store: string,
  count: number,
  events: number,
  sent: (i: number) => Sent,
) {
  const { open } = rig(store)
  const first = open()
  const send = service(first)
  for (let i = 0; i < count; i++) await send(sent(i))
  expect(first.stats()).toMatchObject({ calls: count, stored: events, suppressed: count - events })
  await first.close()
  const second = open()
  onTestFinished(() => second.close())
  expect(await totalOf(second)).toEqual({ events, total: count })
}

it.each(CASES)(
  'refused requests without a user leave few events, which contain their exact number: %s',
  async (_case, count, events, sent) => expectCounted('memory', count, events, sent),
)

it('refused requests are counted on SQLite as in memory', async () => {
  await expectCounted('SQLite', 300, 101, (i) => ({ address: `192.0.${i % 150}.1` }))
})

function start(options: RecordRequestsOptions = {}) {
  const { open, wait } = rig('memory')
  const audit = open()
  onTestFinished(() => audit.close())
  return { audit, open, wait, send: service(audit, options) }
}

it('the event of the others has their number, their times and the reason', async () => {
  const { send, audit, wait } = start()
  for (let i = 0; i < 8; i++) await send()
  wait(1)
  await send()
  await audit.flush()
  const { events } = await audit.list()
  expect(events.map(({ attributes }) => attributes['count'])).toEqual([undefined, 7, undefined])
  const { first_at, last_at, ...rest } = events[1]!.attributes as Record<string, string>
  expect(rest).toEqual({
    remote_address: '192.0.2.1',
    response_status: 400,
    outcome: 'failure',
    error: 'wrong',
    collapsed: true,
    count: 7,
  })
  expect([events[1]!.type, events[1]!.username]).toEqual([CREATE, null])
  const [first, last] = events.map(({ created_at }) => created_at)
  expect(first! <= first_at!).toBe(true)
  expect(first_at).toBe(last_at)
  expect(last_at! < last!).toBe(true)
})

/** A request with a password for this name. */
const named = (name: string): Sent => ({
  status: 401,
  authorization: `Basic ${Buffer.from(`${name}:wrong`).toString('base64')}`,
})

/** The names that an event lists, and how many requests there were with others. */
const namesOf = (events: readonly AuditEvent[]): unknown[] =>
  events.map(({ attributes: { count = 1, usernames, usernames_more } }) => [
    count,
    usernames,
    usernames_more,
  ])

it.each([
  ['POST', 50],
  ['GET', 50],
  ['GET', 150],
])('wrong passwords for many names are counted with the names: %s, %i', async (method, count) => {
  const { send, audit, open } = start()
  const names = Array.from({ length: count }, (_, i) => `user${i}`)
  await Promise.all(names.map((name) => send({ ...named(name), method })))
  await audit.close()
  const { events } = await open().list()
  const more = Math.max(0, count - 101)
  expect(namesOf(events)).toEqual([
    [1, ['user0'], undefined],
    [count - 1, names.slice(1, 101), more || undefined],
  ])
  const type = `error:orders:${method === 'GET' ? 'index' : 'create'}`
  for (const event of events)
    expect([event.type, event.attributes['outcome']]).toEqual([type, 'denied'])
})

const TOKEN = `ghp_${'a'.repeat(36)}`

it.each<[string, Sent, unknown]>([
  ['a long name', named('n'.repeat(5000)), ['n'.repeat(128)]],
  ['a token in its place', named(TOKEN), ['[redacted]']],
  ['a name of the service', { status: 401, user: 'ann' }, ['ann']],
  ['a form', { status: 401, body: { email: 'a@b.example', password: 'x' } }, ['a@b.example']],
  ['a member that is no text', { status: 429, body: { username: { a: 1 } } }, undefined],
  ['no credentials', { status: 401 }, undefined],
  ['another scheme', { status: 401, authorization: 'Bearer abc' }, undefined],
  ['a status that refuses nobody', { ...named('ann'), status: 400 }, undefined],
])('the tried name of a refused request: %s', async (_case, sent, expected) => {
  const { send, audit } = start()
  await send(sent)
  const [event] = (await audit.list()).events
  expect(event!.attributes['usernames']).toEqual(expected)
})

it('refused reads of a user are counted for the user', async () => {
  const { send, audit, open } = start()
  for (const user of ['ann', 'bob', 'ann', 'ann']) await send({ method: 'GET', status: 403, user })
  for (const status of [200, 302, 400, 404]) await send({ method: 'GET', status })
  await audit.close()
  const { events } = await open().list()
  expect(events.map(({ username, attributes: { count } }) => [username, count])).toEqual([
    ['ann', undefined],
    ['bob', undefined],
    ['ann', 2],
  ])
})

it("with refusals: 'all' each refusal is an event", async () => {
  const { send, audit } = start({ refusals: 'all' })
  for (let i = 0; i < 20; i++) await send({ ...named(`user${i}`), method: i % 2 ? 'GET' : 'POST' })
  expect(audit.stats()).toMatchObject({ calls: 20, stored: 20 })
  expect(() => service(audit, { refusals: 'some' as 'all' })).toThrow(
    "refusals must be 'limited' or 'all'",
  )
})

it('only clients without a user are limited, except for 401 and 429', async () => {
  const { send, audit } = start()
  for (const status of [400, 401, 404, 429, 500])
    for (let i = 0; i < 3; i++) await send({ status, user: 'ann' })
  for (let i = 0; i < 3; i++) await send({ status: 201 })
  const statuses = (await audit.list('limit=100')).events.map(
    ({ attributes }) => attributes['response_status'],
  )
  expect(statuses).toEqual([400, 400, 400, 401, 404, 404, 404, 429, 500, 500, 500, 201, 201, 201])
})

it('clients, statuses and failed routes are limited on their own, and all together', async () => {
  const { send, audit, wait } = start()
  const sent: readonly Sent[] = [
    {},
    { address: '192.0.2.2' },
    { status: 409 },
    { status: 500 },
    { status: 500, path: '/lists' },
    { status: 409, path: '/lists' },
  ]
  for (const one of [...sent, ...sent]) await send(one)
  for (let i = 0; i < 20; i++) await send({ status: 410 + i })
  for (let i = 0; i < 120; i++) await send({ address: `198.51.100.${i}` })
  const typesOf = async () => (await audit.list('limit=1000')).events.map(({ type }) => type)
  const types = await typesOf()
  expect(types.slice(0, 6)).toEqual([
    CREATE,
    CREATE,
    CREATE,
    UNHANDLED,
    UNHANDLED,
    'error:lists:create',
  ])
  // 100 kinds, the rest of the first client, and the rest of all other clients.
  expect(types).toHaveLength(102)
  expect(types.filter((type) => type === REFUSED)).toHaveLength(2)
  wait(1)
  await send({ address: '203.0.113.9' })
  expect((await typesOf()).at(-1)).toBe(CREATE)
})

it('recorders of one log share the limits', async () => {
  const { audit } = start()
  for (let i = 0; i < 120; i++) await service(audit)({ address: `198.51.100.${i}` })
  expect(audit.stats().stored).toBe(101)
})

it('a required request that is counted leaves no intent of its own', async () => {
  const { send, audit } = start({ required: true })
  for (let i = 0; i < 5; i++) await send()
  expect((await audit.list()).events.map(({ type }) => type)).toEqual([CREATE])
  expect(audit.stats()).toMatchObject({ stored: 1, suppressed: 4 })
  await audit.flush()
  const { updateState } = audit.store
  const read = (key: string) => updateState(key, (value) => value)
  const owners = Object.keys((await read('intents')) ?? {})
  const intents = await Promise.all(owners.map((owner) => read(`intents:${owner}`)))
  expect(intents.flatMap((value) => Object.values(value as object))).toMatchObject([
    { type: CREATE, attributes: { count: 4, interrupted: true } },
  ])
})

it('the throttle of a type comes first, and a period is checked', async () => {
  const audit = new AuditLog({
    store: memoryStore(),
    types: { 'error:orders:create': { throttle: { period: { hours: 1 } } } },
  })
  onTestFinished(() => audit.close())
  const send = service(audit)
  await send()
  await send({ address: '192.0.2.2', status: 404 })
  expect(audit.stats()).toMatchObject({ stored: 1, suppressed: 1 })
  audit.on('rejected', () => {})
  const throttle = { period: { minutes: 0 }, scope: {} }
  await expect(audit.recordSystem('a', {}, { throttle })).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: 'throttle.period must be a date-fns Duration such as { minutes: 1 }',
  })
})
