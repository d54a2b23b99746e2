import { AuditLog, AuditLogs, type LedgerOptions } from 'daybook'
import { checkProof, openNote } from 'daybook/ledger'
import { memoryLogs, memoryStore } from 'daybook/memory'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { eventsEndpoint } from '../../src/http/events/endpoint.js'
import { checkWithPython, hasPython } from '../support/check-with-python.js'
import { expectError } from '../support/expect-error.js'
import { frameworks, type Layer, userOf } from '../support/frameworks.js'
import { checkAnswers, type RawRequest, type RawResponse, send } from '../support/http.js'
import { type LedgerKey, ledgerKey, ORIGIN } from '../support/ledger-key.js'
import { listen } from '../support/node-server.js'

const PATH = '/api/events'
const TYPES = { 'own:live': { live: true } } as const

let key: LedgerKey
beforeAll(async () => {
  key = await ledgerKey()
})
afterAll(() => key.remove())

const sealing = (more: Partial<LedgerOptions> = {}): LedgerOptions => ({
  origin: ORIGIN,
  signer: key.forgetful,
  ...more,
})

/** A log in memory. It is closed at the end of the test. */
function openLog(ledger: LedgerOptions | undefined, store = memoryStore()): AuditLog {
  const audit: AuditLog = new AuditLog({ store, types: TYPES, ledger })
  onTestFinished(() => audit.close())
  return audit
}

const users = Object.fromEntries(['ann', 'bob', 'con', 'eve'].map((name) => [name, name]))

/** ann sees everything, bob a part, con no attribute `n`, and eve may not read. */
const rules = {
  authorize: (context: object, action: string) => userOf(context) !== 'eve' || action !== 'read',
  visible: (context: object) => (userOf(context) === 'bob' ? { username_eq: 'bob' } : 'all'),
  conceal: (context: object) => (userOf(context) === 'con' ? ['n'] : []),
}

type Get = (path: string, request?: RawRequest) => Promise<RawResponse>

/** Serves the log on a framework. Every answer has to be one that the OpenAPI document declares. */
async function serve(audit: AuditLog, framework = 'node:http', options: object = {}): Promise<Get> {
  const mounts: Layer[] = [
    ['basicAuth', { users }],
    ['auditRoutes', audit, options],
  ]
  const { url, close } = await listen(frameworks[framework]!({ mounts }))
  const endChecks = checkAnswers(url, audit)
  onTestFinished(() => {
    endChecks()
    return close()
  })
  return (path, request) => send(url, PATH + path, request)
}

const refused: readonly (readonly [user: string | null, status: number, code: string])[] = [
  ['bob', 403, 'FORBIDDEN'],
  ['con', 403, 'FORBIDDEN'],
  ['eve', 403, 'FORBIDDEN'],
  [null, 401, 'UNAUTHENTICATED'],
]

describe('the endpoints of the ledger', () => {
  let audit: AuditLog
  let id: string
  let open: string
  beforeAll(async () => {
    audit = new AuditLog({ store: memoryStore(), types: TYPES, ledger: sealing() })
    id = (await audit.recordCustom('test:event', { n: 1 }, { username: 'bob' }))!.id
    open = (await audit.recordLive('own:live')).event!.id
    await audit.ledger.checkpoint()
  })
  afterAll(() => audit.close())

  it.each(Object.keys(frameworks))('on %s', async (framework) => {
    const get = await serve(audit, framework, rules)
    const head = await get('/checkpoint')
    expect(head.body).toBe(await audit.ledger.checkpoint())
    const proof = await get(`/${id}/proof`)
    expect(proof.body).toBe(await audit.ledger.prove(id))
    expect(proof.headers['content-disposition']).toBe(
      `attachment; filename="event-${id}.tlog-proof"`,
    )
    const ledger = await get('/ledger')
    expect(JSON.parse(ledger.body)).toEqual({
      jsonapi: { version: '1.1' },
      data: {
        type: 'ledger',
        id: ORIGIN,
        attributes: {
          state: 'sealing',
          size: 2,
          sealed_until: expect.any(String) as string,
          waiting: 0,
          waiting_since: null,
          origin: ORIGIN,
          vkey: key.vkey,
          verification: null,
          anchors: [],
        },
      },
      links: { self: `${PATH}/ledger` },
    })
    for (const { status, headers } of [head, proof])
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'text/plain; charset=utf-8',
        'private, no-cache',
      ])

    for (const path of ['/checkpoint', `/${id}/proof`, '/ledger']) {
      for (const [user, status, code] of refused)
        expectError(await get(path, { user }), status, code)
    }
  })

  it('answer as the other endpoints do', async () => {
    const get = await serve(audit, 'node:http', rules)
    for (const path of ['/checkpoint', `/${id}/proof`, '/ledger']) {
      const { headers } = await get(path, { method: 'HEAD' })
      const known = { headers: { 'if-none-match': headers.etag } }
      expect((await get(path, known)).status).toBe(304)
      expectError(await get(`${path}?limit=1`), 400, 'UNKNOWN_PARAMETER')
      expectError(await get(path, { method: 'PUT' }), 405, 'METHOD_NOT_ALLOWED')
      const html = { headers: { accept: 'text/html' } }
      expectError(await get(path, html), 406, 'NOT_ACCEPTABLE')
    }

    for (const hostile of [
      'none',
      id.replace(/.$/, 'x'),
      `${id}%00`,
      'a%22%0D%0Ab',
      'x'.repeat(4000),
    ])
      expectError(await get(`/${hostile}/proof`), 404, 'NOT_FOUND')
    const waiting = await get(`/${open}/proof`)
    expectError(waiting, 503, 'NOT_SEALED')
    expect(waiting.headers['retry-after']).toBe('1')

    for (const [user, shown] of [
      ['ann', true],
      ['bob', false],
      ['con', false],
      ['eve', false],
    ] as const)
      expect(JSON.parse((await get('/me', { user })).body)).toMatchObject({
        data: { attributes: { ledger: shown } },
      })
  })

  it('give what proves an event without the log', async () => {
    const get = await serve(audit)
    const proof = (await get(`/${id}/proof`)).body
    const line = (await get(`/export?filter[id_eq]=${id}`)).body
    const proved = { origin: ORIGIN, index: 1, event: { id } }
    const { vkey } = key
    expect(await checkProof({ proof, event: line, policy: vkey })).toMatchObject(proved)
    expect(await openNote((await get('/checkpoint')).body, [vkey])).toBeDefined()
    if (hasPython)
      expect(checkWithPython(vkey, [[line, proof]])).toEqual([
        `event ${id} is leaf 1 of 2 of ${ORIGIN}`,
      ])
  })
})

it('a read of the ledger is a read of the log', async () => {
  const audit = openLog(sealing())
  const { id } = (await audit.recordCustom('test:event'))!
  await audit.ledger.checkpoint()
  const reads: unknown[] = []
  const onRead = (_: unknown, { action, events }: { action: string; events: { id: string }[] }) =>
    void reads.push([action, events.map((event) => event.id)])
  const get = await serve(audit, 'node:http', { onRead })
  for (const path of ['/checkpoint', '/ledger', `/${id}/proof`]) await get(path)
  expect(reads).toEqual([
    ['read', []],
    ['read', []],
    ['read', [id]],
  ])
})

it('a log without a ledger says so', async () => {
  const audit = openLog(undefined)
  const { id } = (await audit.recordCustom('test:event'))!
  const get = await serve(audit)
  for (const path of ['/checkpoint', '/ledger', `/${id}/proof`])
    expectError(await get(path), 404, 'NO_LEDGER')
  const me = JSON.parse((await get('/me')).body) as object
  expect(me).toMatchObject({ data: { attributes: { ledger: false } } })
})

it('a process without a signer gives what another one has stored', async () => {
  const store = { ...memoryStore(), close: () => Promise.resolve() }
  const reader = openLog({ origin: ORIGIN, key: key.vkey }, store)
  const get = await serve(reader)
  const { id } = (await reader.recordCustom('test:event'))!
  expectError(await get('/checkpoint'), 404, 'NO_LEDGER')
  await store.ledger!.begin(0)
  const early = await get('/checkpoint')
  expectError(early, 503, 'NOT_SEALED')
  expect(early.headers['retry-after']).toBe('1')
  expectError(await get(`/${id}/proof`), 503, 'NOT_SEALED')

  const writer = openLog(sealing(), store)
  const head = await writer.ledger.checkpoint()
  expect((await get('/checkpoint')).body).toBe(head)
  expect((await get(`/${id}/proof`)).body).toBe(await writer.ledger.prove(id))
  expect(JSON.parse((await get('/ledger')).body)).toMatchObject({
    data: { attributes: { state: 'no-signer', size: 2, waiting: 0 } },
  })
})

it('what was changed in the tables is no head and no proof', async () => {
  const store = { ...memoryStore(), close: () => Promise.resolve() }
  const writer = openLog(sealing(), store)
  const { id } = (await writer.recordCustom('test:event'))!
  await writer.recordCustom('test:event')
  await writer.ledger.checkpoint()
  const kept = store.ledger!
  const changes: readonly (readonly [change: Partial<typeof kept>, head: number])[] = [
    [{ state: async () => ({ ...(await kept.state())!, head: 'forged' }) }, 500],
    [
      {
        rows: async (...range) =>
          (await kept.rows(...range)).map((row) => ({
            ...row,
            hashes: row.hashes.with(0, row.hashes[0]! ^ 1),
          })),
      },
      200,
    ],
  ]
  for (const [change, status] of changes) {
    const ledger = { ...kept, ...change }
    const get = await serve(openLog({ origin: ORIGIN, key: key.vkey }, { ...store, ledger }))
    expectError(await get(`/${id}/proof`), 500, 'DAMAGED')
    expect((await get('/checkpoint')).status).toBe(status)
  }
})

it('a closed log gives nothing', async () => {
  const audit = openLog(sealing())
  const { id } = (await audit.recordCustom('test:event'))!
  const get = await serve(audit)
  await audit.close()
  for (const path of ['/checkpoint', '/ledger', `/${id}/proof`])
    expectError(await get(path), 503, 'CLOSED')
})

it('the condition has the last verification, and errors of anchors without secrets', async () => {
  const publish = () =>
    Promise.reject(new Error('PUT https://ann:pw@s3.example.com/a?X-Amz-Signature=abc: 403'))
  const anchor = { name: 'bucket', publish }
  const audit = openLog(sealing({ anchors: [{ anchor, every: { seconds: 0.02 } }] }))
  const get = await serve(audit)
  await audit.recordCustom('test:event')
  await audit.recordCustom('error:audit_log:verification', { result: 'forged' })
  await audit.ledger.checkpoint()
  const { size } = await audit.ledger.verify()
  await expect
    .poll(async () => (await audit.ledger.status()).anchors[0]!.error, { timeout: 60_000 })
    .toBeDefined()
  expect(JSON.parse((await get('/ledger')).body)).toMatchObject({
    data: {
      attributes: {
        verification: {
          at: expect.any(String) as string,
          result: 'self-consistent',
          size,
          proved_size: 0,
          event_count: 2,
          finding_count: 0,
        },
        anchors: [{ name: 'bucket', size: 0, at: null, error: 'PUT https://s3.example.com 403' }],
      },
    },
  })
})

it('each of many logs has its own ledger', async () => {
  const stores = memoryLogs()
  const ledger = (log: string) => (log === 'a' ? sealing() : undefined)
  const logs = new AuditLogs({ stores, types: TYPES, ledger })
  onTestFinished(() => logs.close())
  const mounts: Layer[] = [
    ['basicAuth', { users }],
    ['logRoutes', logs],
  ]
  const { url, close } = await listen(frameworks['node:http']!({ mounts }))
  onTestFinished(close)
  const get = (path: string) => send(url, `/api/logs${path}`)
  const ids = await Promise.all(
    ['a', 'b'].map(async (log) => (await logs.log(log).recordCustom('test:event'))!.id),
  )
  const head = await get('/a/events/checkpoint')
  expect([head.status, head.body]).toEqual([200, await logs.log('a').ledger.checkpoint()])
  expect((await get(`/a/events/${ids[0]}/proof`)).status).toBe(200)
  expect((await get('/a/events/ledger')).status).toBe(200)
  expectError(await get(`/a/events/${ids[1]}/proof`), 404, 'NOT_FOUND')
  expectError(await get('/b/events/checkpoint'), 404, 'NO_LEDGER')
  expectError(await get('/c/events/checkpoint'), 404, 'UNKNOWN_LOG')
  expectError(await get(`/others/${ids[0]}/proof`), 404, 'NOT_FOUND')
  for (const path of ['checkpoint', 'ledger', `${ids[0]}/proof`])
    for (const several of [`/a,b/events/${path}`, `/events/${path}?logs[]=a&logs[]=b`]) {
      const { detail } = expectError(await get(several), 400, 'INVALID_VALUE')
      expect(detail).toContain(`/api/logs/<key>/events/${path}`)
    }
  for (const [path, shown] of [
    ['/a/events/me', true],
    ['/b/events/me', false],
    ['/events/me?logs[]=a', false],
  ] as const)
    expect(JSON.parse((await get(path)).body)).toMatchObject({
      data: { attributes: { ledger: shown } },
    })
})

it('clients that ask for a head within a second get the same one', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const audit = openLog(sealing())
  const answers: (() => Promise<string>)[] = []
  const checkpoint = vi.fn(() => answers.shift()!())
  const ledger = { ...audit.ledger, checkpoint }
  const served = new Proxy(audit, {
    get: (log, name) => {
      if (name === 'ledger') return ledger
      const value: unknown = Reflect.get(log, name, log)
      return typeof value === 'function' ? (value as () => unknown).bind(log) : value
    },
  })
  const endpoint = eventsEndpoint(served)
  const ask = async () => {
    const request = {
      method: 'GET',
      path: `${PATH}/checkpoint`,
      query: '',
      username: 'ann',
      context: {},
      signal: new AbortController().signal,
      header: () => '',
      body: () => Promise.resolve(new Uint8Array()),
    }
    const { status, body } = (await endpoint(request))!
    return status === 200 ? body : status
  }
  const text = (body: string) => () => Promise.resolve(body)
  answers.push(text('first'), text('second'), () => Promise.reject(new Error('no')), text('third'))
  expect(await Promise.all([ask(), ask()])).toEqual(['first', 'first'])
  vi.advanceTimersByTime(999)
  expect(await ask()).toBe('first')
  vi.advanceTimersByTime(1)
  expect(await ask()).toBe('second')
  vi.advanceTimersByTime(1000)
  await expect(ask()).rejects.toThrow('no')
  expect(await ask()).toBe('third')
  expect(checkpoint).toHaveBeenCalledTimes(4)
})
