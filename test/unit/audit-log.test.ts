import { inspect } from 'node:util'
import {
  type AuditEvent,
  AuditLog,
  AuditLogError,
  type AuditLogOptions,
  defineEventTypes,
  type EventDraft,
  type EventQuery,
  withActor,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import * as v from 'valibot'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { DEADLINE_MS, driveDeadlines, untilTried } from '../support/deadlines.js'
import { numberedId, plainEvent } from '../support/plain-events.js'
import { takeWarnings } from '../support/warnings.js'
import { and, cond } from './filter/queries.js'
import { failing, fakeStore, gate, stateOf, turns, untilAborted } from './fake-store.js'

let emailsAreLogged = true

const types = defineEventTypes({
  'api:orders:create': { data: ['total'] },
  'api:orders:open': {},
  'api:orders:pay': { data: v.object({ amount: v.number() }) },
  'info:email:sent': { enabled: () => emailsAreLogged },
})

type Types = typeof types

const links = [
  { attribute: 'change_id', kind: 'uuid', path: '/api/changes/{change_id}', rank: 1 },
  { attribute: 'node_path', kind: '/nodes/{code}', path: '/api{node_path}', rank: 2 },
] as const

function openLog(
  store = fakeStore(),
  options: Partial<AuditLogOptions<Types>> = {},
): { audit: AuditLog<Types, typeof links>; store: typeof store } {
  const audit = new AuditLog({ store, types, ...options, links })
  onTestFinished(() => audit.close())
  return { audit, store }
}

/** The counts that are not zero. Also checks that all counts add up. */
function counts(audit: Pick<AuditLog, 'stats'>): Record<string, number> {
  const stats = audit.stats()
  const { calls, stored, suppressed, rejected, dropped, journalled, waiting } = stats
  expect(calls).toBe(stored + suppressed + rejected + dropped + journalled + waiting)
  return Object.fromEntries(Object.entries(stats).filter(([, count]) => count !== 0))
}

const quiet = (call: Promise<unknown>): Promise<unknown> => {
  call.catch(() => {})
  return call
}

afterEach(() => {
  emailsAreLogged = true
  vi.restoreAllMocks()
})

describe('record', () => {
  it('stores a system event of a registered type', async () => {
    const { audit, store } = openLog()
    const event = await audit.record(
      'api:orders:create',
      { total: 5, change_id: '0b7e9c1a-5d2f-4e6b-8a3c-1f2e3d4c5b6a' },
      { username: 'ann' },
    )
    expect(event).toEqual({
      id: '00000000-0000-7000-8000-000000000001',
      created_at: '2026-01-01T00:00:00.000001Z',
      username: 'ann',
      system: true,
      type: 'api:orders:create',
      source: '/api/changes/0b7e9c1a-5d2f-4e6b-8a3c-1f2e3d4c5b6a',
      attributes: { total: 5, change_id: '0b7e9c1a-5d2f-4e6b-8a3c-1f2e3d4c5b6a' },
    })
    expect(store.drafts[0]![0]).toEqual({
      suffix: expect.stringMatching(/^[89ab][0-9a-f]{15}$/),
      username: 'ann',
      system: true,
      type: 'api:orders:create',
      source: '/api/changes/0b7e9c1a-5d2f-4e6b-8a3c-1f2e3d4c5b6a',
      attributes: { total: 5, change_id: '0b7e9c1a-5d2f-4e6b-8a3c-1f2e3d4c5b6a' },
      json: '{"total":5,"change_id":"0b7e9c1a-5d2f-4e6b-8a3c-1f2e3d4c5b6a"}',
    })
  })

  it('works without data and without a user', async () => {
    const { audit, store } = openLog()
    await audit.record('api:orders:open')
    await audit.record('api:orders:open', undefined, { username: undefined })
    await audit.record('api:orders:open', {}, { username: null })
    expect(store.drafts.flat().map(({ username, json }) => [username, json])).toEqual([
      [null, '{}'],
      [null, '{}'],
      [null, '{}'],
    ])
  })

  it('copies the data before it returns', async () => {
    const { audit } = openLog()
    const data = { total: { amount: 5, lines: [1] } }
    const call = audit.record('api:orders:create', data)
    data.total.amount = 6
    data.total.lines.push(2)
    expect((await call)?.attributes).toEqual({ total: { amount: 5, lines: [1] } })
  })

  it('replaces values that cannot be stored, and lists them', async () => {
    const { audit } = openLog()
    const event = await audit.record('api:orders:open', { type: 't', n: NaN }, { username: 'a\0' })
    expect(event?.username).toBe('a\uFFFD')
    expect(event?.attributes).toEqual({
      attributes_type: 't',
      n: 'NaN',
      recording: { replaced: expect.arrayContaining(['/n', '/attributes_type']), cut_bytes: 0 },
    })
  })

  it('stores a key that the type does not declare', async () => {
    const { audit } = openLog()
    const data = { total: 5, discount: 1 }
    expect((await audit.record('api:orders:create', data))?.attributes).toEqual(data)
  })

  it('rejects a type that is not in the registry', async () => {
    const { audit, store } = openLog()
    for (const type of ['api:orders:delete', 'toString', '__proto__', '']) {
      await expect(audit.record(type as 'api:orders:open')).rejects.toMatchObject({
        name: 'AuditLogError',
        code: 'UNKNOWN_EVENT_TYPE',
        message: expect.stringContaining(type),
      })
    }
    expect(store.tried).toEqual([])
    expect(counts(audit)).toEqual({ calls: 4, rejected: 4 })
  })

  it('is not recorded while the type is disabled', async () => {
    const { audit, store } = openLog()
    emailsAreLogged = false
    await expect(audit.record('info:email:sent', { to: 'x' })).resolves.toBeUndefined()
    expect(counts(audit)).toEqual({ calls: 1, suppressed: 1 })
    await expect(audit.recordSystem('info:email:sent')).resolves.toBeUndefined()
    emailsAreLogged = true
    await audit.record('info:email:sent', { to: 'y' })
    expect(store.stored).toEqual(['info:email:sent'])
    expect(counts(audit)).toEqual({ calls: 3, suppressed: 2, stored: 1 })
  })

  it('does not affect custom events of that type', async () => {
    const { audit, store } = openLog()
    emailsAreLogged = false
    await audit.recordCustom('info:email:sent')
    expect(store.stored).toEqual(['info:email:sent'])
  })

  it('rejects if enabled throws', async () => {
    const broken = new Error('no settings')
    const audit = new AuditLog({
      store: fakeStore(),
      types: {
        'a:b:c': {
          enabled() {
            throw broken
          },
        },
      },
    })
    await expect(audit.record('a:b:c')).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      cause: broken,
    })
    expect(counts(audit)).toEqual({ calls: 1, rejected: 1 })
  })

  it('draws ids from the given source of randomness', async () => {
    const { audit, store } = openLog(fakeStore(), { random: (bytes) => bytes.fill(0) })
    await audit.record('api:orders:open')
    expect(store.drafts[0]![0]!.suffix).toBe('8000000000000000')
  })
})

describe('strict mode', () => {
  it('rejects undeclared keys, and accepts declared keys', async () => {
    const { audit, store } = openLog(fakeStore(), { strict: true })
    const data = { total: 5, discount: 1 }
    await expect(audit.record('api:orders:create', data)).rejects.toMatchObject({
      code: 'INVALID_DATA',
      pointer: '/discount',
    })
    await expect(audit.recordSystem('api:orders:create', data)).rejects.toMatchObject({
      code: 'INVALID_DATA',
    })
    await audit.record('api:orders:create', { total: 5, message: 'm', node_path: null })
    await audit.record('api:orders:open', { anything: 1 })
    await audit.recordCustom('api:orders:create', data)
    const stored = store.stored.filter((type) => type !== 'warn:audit_log:gap')
    expect(stored).toEqual(['api:orders:create', 'api:orders:open', 'api:orders:create'])
    expect(counts(audit)).toEqual({ calls: 5, rejected: 2, stored: 3 })
  })

  it('rejects data that does not match its schema', async () => {
    const { audit } = openLog(fakeStore(), { strict: true })
    const wrong = { amount: '5' } as unknown as { amount: number }
    await expect(audit.record('api:orders:pay', wrong)).rejects.toMatchObject({
      code: 'INVALID_DATA',
      pointer: '/amount',
    })
    await expect(audit.record('api:orders:pay', { amount: 5 })).resolves.toMatchObject({
      attributes: { amount: 5 },
    })
    const { audit: lenient } = openLog()
    await expect(lenient.record('api:orders:pay', wrong)).resolves.toMatchObject({
      attributes: { amount: '5' },
    })
  })
})

describe('recordSystem', () => {
  it('accepts types that are not in the registry', async () => {
    const { audit } = openLog()
    await expect(audit.recordSystem('api:orders:delete', { n: 1 })).resolves.toMatchObject({
      type: 'api:orders:delete',
      system: true,
      attributes: { n: 1 },
    })
    await expect(audit.recordSystem('')).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      pointer: '/type',
    })
  })
})

describe('recordCustom', () => {
  it.each(['linked:to:project:acme', 'api:orders:create', '__proto__'])(
    'accepts %j as a type',
    async (type) => {
      const { audit } = openLog()
      await expect(audit.recordCustom(type)).resolves.toMatchObject({ type, system: false })
    },
  )

  it.each(['', 7])('rejects %j as a type', async (type) => {
    const { audit, store } = openLog()
    await expect(audit.recordCustom(type as string)).rejects.toMatchObject({
      name: 'AuditLogError',
      code: 'INVALID_EVENT',
      pointer: '/type',
    })
    expect(store.tried).toEqual([])
    expect(counts(audit)).toEqual({ calls: 1, rejected: 1 })
  })
})

describe('in a transaction of the host', () => {
  const transaction = { open: true }

  /** A store whose `enlist` stores its drafts in a list and waits for `hold`. */
  function enlistingStore(hold = async (): Promise<void> => {}): {
    store: ReturnType<typeof fakeStore>
    handed: [type: string, transaction: object][]
  } {
    const store = fakeStore()
    const handed: [string, object][] = []
    store.enlist = (draft, given) => {
      handed.push([draft.type, given])
      return hold()
    }
    return { store, handed }
  }

  it('the store gets the event before the call returns, past the queue', async () => {
    const { store, handed } = enlistingStore()
    const { audit } = openLog(store)
    const queued = audit.recordCustom('queued')
    const calls = [
      audit.record('api:orders:create', { total: 5 }, { transaction, username: 'ann' }),
      audit.recordSystem('api:orders:delete', {}, { transaction }),
      audit.recordCustom('own', {}, { transaction }),
    ]
    expect(handed).toEqual([
      ['api:orders:create', transaction],
      ['api:orders:delete', transaction],
      ['own', transaction],
    ])
    expect(handed[0]![1]).toBe(transaction)
    expect(store.tried).toEqual([])
    expect(await Promise.all(calls)).toEqual([undefined, undefined, undefined])
    await queued
    expect(store.tried).toEqual([['queued']])
  })

  it('the store gets the fields of the actor', async () => {
    const store = fakeStore()
    const drafts: EventDraft[] = []
    store.enlist = async (draft) => void drafts.push(draft)
    const { audit } = openLog(store)
    await withActor({ username: 'ann', kind: 'agent' }, () =>
      audit.recordCustom('own', { n: 1 }, { transaction }),
    )
    expect(drafts).toMatchObject([{ username: 'ann', json: '{"n":1,"actor_kind":"agent"}' }])
  })

  it('the store gets a complete draft, and the signal', async () => {
    const store = fakeStore()
    const given: unknown[] = []
    store.enlist = async (...all) => void given.push(...all)
    const { audit } = openLog(store)
    const { signal } = new AbortController()
    await audit.recordCustom('own', { n: 1 }, { transaction, signal, username: 'ann' })
    expect(given).toEqual([
      {
        suffix: expect.stringMatching(/^[89ab][0-9a-f]{15}$/),
        username: 'ann',
        system: false,
        type: 'own',
        source: null,
        attributes: { n: 1 },
        json: '{"n":1}',
      },
      transaction,
      { signal },
    ])
  })

  it('counts as waiting, then as journalled, and is not emitted', async () => {
    const hold = gate()
    const { store } = enlistingStore(() => hold.answer(undefined, []) as Promise<void>)
    const { audit } = openLog(store)
    const heard: unknown[] = []
    audit.on('recorded', (event) => heard.push(event))
    const call = audit.recordCustom('own', {}, { transaction })
    expect(counts(audit)).toEqual({ calls: 1, waiting: 1 })
    expect(await stateOf(call)).toBe('waiting')
    expect(counts(audit)).toEqual({ calls: 1, waiting: 1 })
    hold.open()
    await expect(call).resolves.toBeUndefined()
    expect(counts(audit)).toEqual({ calls: 1, journalled: 1 })
    expect(heard).toEqual([])
  })

  it('counts as rejected if the store throws or rejects', async () => {
    const broken = new Error('the connection broke')
    const { store } = enlistingStore(() => Promise.reject(broken))
    const { audit } = openLog(store)
    const heard: unknown[] = []
    audit.on('rejected', ({ type, error }) => heard.push([type, error.code, counts(audit)]))
    await expect(audit.recordCustom('a', {}, { transaction })).rejects.toMatchObject({
      name: 'AuditLogError',
      code: 'STORE_FAILED',
      cause: broken,
    })
    store.enlist = failing(broken)
    const call = quiet(audit.recordCustom('b', {}, { transaction }))
    expect(await stateOf(call)).toBe('STORE_FAILED')
    expect(heard).toEqual([
      ['a', 'STORE_FAILED', { calls: 1, rejected: 1 }],
      ['b', 'STORE_FAILED', { calls: 2, rejected: 2 }],
    ])
  })

  it('the counts add up while the store gets the event', async () => {
    const seen: Record<string, number>[] = []
    const { store } = enlistingStore(async () => void seen.push(counts(audit)))
    const { audit } = openLog(store)
    await audit.recordCustom('a', {}, { transaction })
    await audit.recordCustom('b', {}, { transaction })
    expect(seen).toEqual([
      { calls: 1, waiting: 1 },
      { calls: 2, waiting: 1, journalled: 1 },
    ])
  })

  it.each([
    ['a text', 'BEGIN'],
    ['null', null],
    ['a function', () => {}],
  ])('%s is rejected', async (_, wrong) => {
    const { store, handed } = enlistingStore()
    const { audit } = openLog(store)
    const call = audit.recordCustom('a', {}, { transaction: wrong as object })
    await expect(call).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    expect(handed).toEqual([])
    expect(store.tried).toEqual([])
    expect(counts(audit)).toEqual({ calls: 1, rejected: 1 })
  })

  it('is rejected by a store without transactions, and not stored outside of one', async () => {
    const { audit, store } = openLog()
    await expect(audit.recordCustom('a', {}, { transaction })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: 'the fake store cannot take part in a transaction',
    })
    await audit.recordCustom('b', {}, { transaction: undefined })
    expect(store.stored).toEqual(['b'])
    expect(counts(audit)).toEqual({ calls: 2, rejected: 1, stored: 1 })
  })

  it('is not recorded while the type is disabled', async () => {
    const { store, handed } = enlistingStore()
    const { audit } = openLog(store)
    emailsAreLogged = false
    await audit.record('info:email:sent', {}, { transaction })
    expect(handed).toEqual([])
    expect(counts(audit)).toEqual({ calls: 1, suppressed: 1 })
  })

  it('counts towards the queue limits, and is rejected once aborted or closed', async () => {
    const hold = gate()
    const { store, handed } = enlistingStore(() => hold.answer(undefined, []) as Promise<void>)
    const { audit } = openLog(store, { waiting: { maxWaiting: 2 } })
    const record = (type: string, options = {}): Promise<unknown> =>
      quiet(audit.recordCustom(type, {}, { transaction, ...options }))
    void record('a')
    expect(await stateOf(record('aborted', { signal: AbortSignal.abort() }))).toBe('ABORTED')
    void record('b')
    expect(await stateOf(record('c'))).toBe('QUEUE_FULL')
    expect(await stateOf(quiet(audit.recordCustom('d')))).toBe('QUEUE_FULL')
    hold.open()
    await audit.flush()
    void record('e')
    await audit.close()
    expect(await stateOf(record('f'))).toBe('CLOSED')
    expect(handed.map(([type]) => type)).toEqual(['a', 'b', 'e'])
    expect(counts(audit)).toEqual({ calls: 7, journalled: 3, rejected: 4 })
  })

  it('flush and close wait for it', async () => {
    const hold = gate()
    const { store } = enlistingStore(() => hold.answer(undefined, []) as Promise<void>)
    const { audit } = openLog(store)
    const call = quiet(audit.recordCustom('a', {}, { transaction }))
    const ends = [audit.flush(), audit.close()]
    expect(await Promise.all(ends.map(stateOf))).toEqual(['waiting', 'waiting'])
    expect(store.closed).toBe(0)
    hold.fail(new Error('no'))
    await Promise.all(ends)
    expect(await stateOf(call)).toBe('STORE_FAILED')
    expect(store.closed).toBe(1)
  })
})

describe('stats', () => {
  it('add up after every step and inside every listener', async () => {
    const hold = gate()
    const store = fakeStore({
      tuning: { maxBatch: 2 },
      answers: [hold.answer, failing(new Error('disk full'))],
    })
    const { audit } = openLog(store, { waiting: { maxWaiting: 6 } })
    const heard: [string, Record<string, number>][] = []
    audit.on('recorded', ({ type }) => heard.push([type, counts(audit)]))
    audit.on('rejected', ({ type, error }) => heard.push([`${type} ${error.code}`, counts(audit)]))
    expect(counts(audit)).toEqual({})

    const custom = (type: string, signal?: AbortSignal): Promise<unknown> =>
      quiet(audit.recordCustom(type, {}, { signal }))
    const controller = new AbortController()
    void custom('a')
    void custom('b')
    expect(counts(audit)).toEqual({ calls: 2, waiting: 2 })
    await turns()
    expect(counts(audit)).toEqual({ calls: 2, waiting: 2 })
    void custom('c')
    void custom('d')
    void custom('e', controller.signal)
    void custom('f')
    void custom('g')
    expect(counts(audit)).toEqual({ calls: 7, waiting: 6, rejected: 1 })
    controller.abort()
    expect(counts(audit)).toEqual({ calls: 7, waiting: 5, rejected: 2 })
    emailsAreLogged = false
    void audit.record('info:email:sent')
    expect(counts(audit)).toEqual({ calls: 8, waiting: 5, rejected: 2, suppressed: 1 })
    void custom('')
    expect(counts(audit)).toEqual({ calls: 9, waiting: 5, rejected: 3, suppressed: 1 })
    hold.open()
    await audit.flush()
    expect(counts(audit)).toEqual({ calls: 9, stored: 3, rejected: 5, suppressed: 1 })
    await audit.close()
    void custom('h')
    expect(counts(audit)).toEqual({ calls: 10, stored: 3, rejected: 6, suppressed: 1 })
    expect(heard).toEqual([
      ['g QUEUE_FULL', { calls: 7, waiting: 6, rejected: 1 }],
      ['e ABORTED', { calls: 7, waiting: 5, rejected: 2 }],
      [' INVALID_EVENT', { calls: 9, waiting: 5, rejected: 3, suppressed: 1 }],
      ['a', { calls: 9, stored: 2, waiting: 3, rejected: 3, suppressed: 1 }],
      ['b', { calls: 9, stored: 2, waiting: 3, rejected: 3, suppressed: 1 }],
      ['c STORE_FAILED', { calls: 9, stored: 2, waiting: 2, rejected: 4, suppressed: 1 }],
      ['d STORE_FAILED', { calls: 9, stored: 2, waiting: 1, rejected: 5, suppressed: 1 }],
      ['f', { calls: 9, stored: 3, rejected: 5, suppressed: 1 }],
      ['warn:audit_log:gap', { calls: 9, stored: 3, rejected: 5, suppressed: 1 }],
      ['warn:audit_log:gap', { calls: 9, stored: 3, rejected: 5, suppressed: 1 }],
      ['h CLOSED', { calls: 10, stored: 3, rejected: 6, suppressed: 1 }],
    ])
  })

  it('add up while a call is prepared', async () => {
    const seen: Record<string, number>[] = []
    const audit: AuditLog = new AuditLog({
      store: fakeStore(),
      types: {
        'a:b:c': {
          enabled() {
            seen.push(counts(audit))
            return true
          },
        },
      },
      links,
      resolveSource(link) {
        seen.push(counts(audit))
        return link.path
      },
    })
    await audit.record('a:b:c', {
      node_path: '/nodes/acme',
      get late() {
        seen.push(counts(audit))
        return 1
      },
    })
    expect(seen.length).toBeGreaterThanOrEqual(3)
  })

  it('count a deadline', async () => {
    const endDeadlines = driveDeadlines()
    const store = fakeStore({ answers: [untilAborted] })
    const { audit } = openLog(store, { waiting: { deadlineMs: DEADLINE_MS } })
    const heard: Record<string, number>[] = []
    audit.on('rejected', () => heard.push(counts(audit)))
    const call = quiet(audit.recordCustom('a'))
    await untilTried()
    endDeadlines()
    await expect(call).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect(heard).toEqual([{ calls: 1, rejected: 1 }])
    await audit.recordCustom('b')
    expect(counts(audit)).toEqual({ calls: 2, rejected: 1, stored: 1 })
  })

  it('do not count imports and reads', async () => {
    const { audit } = openLog()
    await audit.importEvents([])
    await audit.list()
    await audit.get('x')
    expect(counts(audit)).toEqual({})
  })
})

describe('listeners', () => {
  const unshown = {
    [inspect.custom](): never {
      throw new Error('it cannot be read')
    },
  }

  it('get each event once it is durable, in order, before its call resolves', async () => {
    const { audit } = openLog()
    const heard: string[] = []
    audit.on('recorded', (event) => heard.push(event.type))
    const calls = ['a', 'b', 'c'].map((type) =>
      audit.recordCustom(type).then(() => heard.push(`${type} resolved`)),
    )
    expect(heard).toEqual([])
    await Promise.all(calls)
    expect(heard).toEqual(['a', 'b', 'c', 'a resolved', 'b resolved', 'c resolved'])
  })

  it('are called in the order they were added, until they are removed', async () => {
    const { audit } = openLog()
    const heard: string[] = []
    const first = (event: AuditEvent): void => void heard.push(`1 ${event.type}`)
    const second = (event: AuditEvent): void => void heard.push(`2 ${event.type}`)
    audit.on('recorded', first)
    audit.on('recorded', second)
    await audit.recordCustom('a')
    audit.off('recorded', first)
    await audit.recordCustom('b')
    audit.off('recorded')
    await audit.recordCustom('c')
    expect(heard).toEqual(['1 a', '2 a', '2 b'])
  })

  it('get the error of a rejected call', async () => {
    const broken = new Error('disk full')
    const { audit } = openLog(fakeStore({ answers: [failing(broken)] }))
    const heard: unknown[] = []
    audit.on('rejected', ({ type, error }) => heard.push([type, error.code, error.cause]))
    await quiet(audit.recordCustom('a')).catch(() => {})
    await quiet(audit.recordCustom('\n')).catch(() => {})
    expect(heard).toEqual([
      ['a', 'STORE_FAILED', broken],
      ['\n', 'INVALID_EVENT', undefined],
    ])
  })

  it('that throw affect neither other listeners nor the write', async () => {
    const { audit, store } = openLog()
    const broken = new Error('in a listener')
    const heard: unknown[] = []
    audit.on('error', (error) => heard.push(error))
    audit.on('recorded', failing(broken))
    audit.on('recorded', (event) => heard.push(event.type))
    audit.on('rejected', failing(broken))
    await expect(audit.recordCustom('a')).resolves.toMatchObject({ type: 'a' })
    await expect(audit.recordCustom('')).rejects.toMatchObject({ code: 'INVALID_EVENT' })
    await audit.recordCustom('b')
    expect(heard).toEqual([broken, 'a', broken, broken, 'b'])
    expect(store.stored).toEqual(['a', 'b'])
  })

  it.each([
    ['an Error', new Error('in a listener'), 'in a listener'],
    ['a text', 'thrown text', 'thrown text'],
    ['undefined', undefined, 'undefined'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object without a text', Object.create(null), ''],
    ['an object that cannot be shown', unshown, 'cannot be shown'],
  ])(
    'that throw %s cause a process warning without a listener for error',
    async (_, thrown, message) => {
      const warnings = takeWarnings()
      const { audit } = openLog()
      audit.on('recorded', failing(thrown))
      const call = audit.recordCustom('a')
      expect(await stateOf(call)).toBe('stored')
      expect(warnings).toEqual([expect.any(Error)])
      expect((warnings[0] as Error).message).toContain(message)
      expect(counts(audit)).toEqual({ calls: 1, stored: 1 })
    },
  )

  it('for error that throw cause a process warning', async () => {
    const warnings = takeWarnings()
    const { audit } = openLog()
    const [first, second] = [new Error('first'), new Error('second')]
    audit.on('recorded', failing(first))
    audit.on('error', failing(second))
    await expect(audit.recordCustom('a')).resolves.toMatchObject({ type: 'a' })
    expect(warnings).toEqual([second])
  })

  it('may record events', async () => {
    const { audit, store } = openLog()
    audit.on('recorded', ({ type }) => {
      if (type === 'a') void audit.recordCustom('b')
    })
    await audit.recordCustom('a')
    await audit.flush()
    expect(store.stored).toEqual(['a', 'b'])
  })
})

describe('flush and close', () => {
  it('flush waits for earlier calls, even if they fail', async () => {
    const { audit } = openLog(fakeStore({ answers: [failing(new Error('no'))] }))
    const call = quiet(audit.recordCustom('a'))
    await audit.flush()
    expect(await stateOf(call)).toBe('STORE_FAILED')
    await expect(audit.flush()).resolves.toBeUndefined()
  })

  it('close stops all timers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { audit } = openLog()
    await audit.recordCustom('a')
    expect(vi.getTimerCount()).toBeGreaterThan(0)
    await audit.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('close waits for earlier calls, then closes the store once', async () => {
    const hold = gate()
    const { audit, store } = openLog(fakeStore({ tuning: { maxBatch: 1 }, answers: [hold.answer] }))
    const calls = [audit.recordCustom('a'), audit.recordCustom('b')]
    const closed = audit.close()
    expect(audit.close()).toBe(closed)
    await turns()
    expect(store.closed).toBe(0)
    hold.open()
    await closed
    expect(store.closed).toBe(1)
    expect(await Promise.all(calls.map(stateOf))).toEqual(['stored', 'stored'])
    await audit.close()
    expect(store.closed).toBe(1)
  })

  it('close rejects later calls', async () => {
    const { audit, store } = openLog()
    const before = audit.recordCustom('before')
    const closed = audit.close()
    await expect(audit.recordCustom('after')).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(audit.record('api:orders:open')).rejects.toMatchObject({ code: 'CLOSED' })
    await closed
    await expect(audit.recordSystem('after')).rejects.toMatchObject({ code: 'CLOSED' })
    expect(await stateOf(before)).toBe('stored')
    expect(store.stored).toEqual(['before', 'warn:audit_log:gap'])
    expect(counts(audit)).toEqual({ calls: 4, stored: 1, rejected: 3 })
  })

  it('await using closes the log', async () => {
    const store = fakeStore()
    {
      await using audit = new AuditLog({ store, types: {} })
      void audit.recordCustom('a')
    }
    expect(store.stored).toEqual(['a'])
    expect(store.closed).toBe(1)
  })

  it('reject when their signal aborts, and still complete', async () => {
    const memory = memoryStore()
    const held = gate()
    const audit: AuditLog = new AuditLog({
      store: {
        ...memory,
        append: async (drafts) => {
          await held.answer(undefined, [])
          return memory.append(drafts)
        },
      },
      types: {},
    })
    const call = audit.recordCustom('a')
    const controller = new AbortController()
    const waits = [audit.flush(controller), audit.close(controller)]
    const aborted = Promise.all(
      waits.map((wait) => expect(wait).rejects.toMatchObject({ code: 'ABORTED' })),
    )
    await expect(audit.flush({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ABORTED',
    })
    controller.abort()
    await aborted
    held.open()
    expect((await call)!.type).toBe('a')
    await audit.close()
    await expect(audit.list()).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('list, pages and get', () => {
  const typeIsX = and([cond('type', 'eq', 'x')])

  it('pass a parsed query to the store, from any form', async () => {
    const { audit, store } = openLog()
    const parsed: EventQuery = { where: undefined, sorts: [], limit: 3 }
    await audit.list()
    await audit.list('?filter[type_eq]=x&limit=5000')
    await audit.list(new URLSearchParams('filter[type_eq]=x&limit=5'))
    await audit.list({ filter: { type_eq: 'x', sorts: 'n desc' }, limit: 5 })
    await audit.list(parsed)
    expect(store.queries).toEqual([
      { where: undefined, sorts: [], limit: 10 },
      { where: typeIsX, sorts: [], limit: 1000 },
      { where: typeIsX, sorts: [], limit: 5 },
      { where: typeIsX, sorts: [{ attribute: 'n', direction: 'desc' }], limit: 5 },
      { where: undefined, sorts: [], limit: 3 },
    ])
    expect(store.queries[4]).toBe(parsed)
  })

  it('reject for an invalid query, and do not throw', async () => {
    const { audit, store } = openLog()
    await expect(audit.list('filter[type_equals]=x')).rejects.toMatchObject({
      name: 'AuditLogError',
      code: 'UNKNOWN_PREDICATE',
      suggestion: 'type_eq',
    })
    await expect(audit.pages('limit=0').next()).rejects.toMatchObject({ code: 'INVALID_VALUE' })
    await expect(audit.pages('filter[sorts]=type').next()).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      parameter: 'filter[sorts]',
    })
    expect(store.queries).toEqual([])
  })

  const event = (n: number): AuditEvent =>
    plainEvent({ id: numberedId(n), created_at: `2026-01-01T00:00:00.00000${n}Z`, type: 'x' })

  function pagingStore(pages: readonly (readonly number[])[]): ReturnType<typeof fakeStore> {
    const store = fakeStore()
    const rest = [...pages]
    store.list = async (query) => {
      store.queries.push(query)
      const events = rest.shift()!.map(event)
      return { events, truncated: rest.length > 0 }
    }
    return store
  }

  it('pages queries events older than the oldest so far', async () => {
    const { audit, store } = openLog(pagingStore([[5, 6], [3, 4], [1]]))
    const seen: string[][] = []
    for await (const events of audit.pages('filter[type_eq]=x&limit=2'))
      seen.push(events.map(({ created_at }) => created_at.slice(-2)))
    expect(seen).toEqual([['5Z', '6Z'], ['3Z', '4Z'], ['1Z']])
    const olderThan = (time: string) => and([], [typeIsX, and([cond('created_at', 'lt', time)])])
    expect(store.queries).toEqual([
      { where: typeIsX, sorts: [], limit: 1000 },
      { where: olderThan('2026-01-01T00:00:00.000005Z'), sorts: [], limit: 1000 },
      { where: olderThan('2026-01-01T00:00:00.000003Z'), sorts: [], limit: 1000 },
    ])
  })

  it('pages queries newer events with created_at ascending', async () => {
    const { audit, store } = openLog(pagingStore([[1, 2], [3]]))
    const seen: number[] = []
    for await (const events of audit.pages({ filter: { s: 'created_at' } }))
      seen.push(events.length)
    expect(seen).toEqual([2, 1])
    const sorts = [{ attribute: 'created_at', direction: 'asc' }]
    expect(store.queries).toEqual([
      { where: undefined, sorts, limit: 1000 },
      {
        where: and([cond('created_at', 'gt', '2026-01-01T00:00:00.000002Z')]),
        sorts,
        limit: 1000,
      },
    ])
  })

  it('pages yields nothing if nothing matches', async () => {
    const { audit, store } = openLog(pagingStore([[]]))
    for await (const events of audit.pages()) expect.fail(`it gave ${events.length} events`)
    expect(store.queries).toHaveLength(1)
  })

  it('pages makes no further query once the reader leaves the loop', async () => {
    const { audit, store } = openLog(pagingStore([[3], [2], [1]]))
    for await (const events of audit.pages()) {
      expect(events).toHaveLength(1)
      break
    }
    expect(store.queries).toHaveLength(1)
  })

  it('pass their signal on', async () => {
    const store = fakeStore()
    const { signal } = new AbortController()
    const seen: unknown[] = []
    store.list = async (_, options) => {
      seen.push(options?.signal)
      return { events: [], truncated: false }
    }
    store.get = async (id, options) => {
      seen.push(id, options?.signal)
      return undefined
    }
    const { audit } = openLog(store)
    await audit.list('', { signal })
    await audit.pages('', { signal }).next()
    await audit.get('ABC', { signal })
    expect(seen).toEqual([signal, signal, 'abc', signal])
  })
})

describe('importEvents', () => {
  const whole: AuditEvent = {
    id: 'F81D4FAE-7DEC-41D0-A765-00A0C91E6BF6',
    created_at: '2025-05-01T12:00:00+02:00',
    username: 'ann',
    system: true,
    type: 'legacy:thing:done',
    source: '/api/projects/acme',
    attributes: { name: 'old', n: 1 },
  }

  it('passes clean events to the store, with their time and JSON', async () => {
    const { audit, store } = openLog()
    await expect(audit.importEvents([whole])).resolves.toEqual({ imported: 1, skipped: 0 })
    expect(store.imports).toEqual([
      [
        {
          event: {
            ...whole,
            id: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6',
            created_at: '2025-05-01T10:00:00.000000Z',
          },
          time: 1_746_093_600_000_000,
          json: '{"name":"old","n":1}',
        },
      ],
    ])
  })

  it('makes their attributes storable, as for any event', async () => {
    const { audit, store } = openLog()
    const attributes = { type: 't', text: 'a\0' }
    await audit.importEvents([{ ...whole, username: 'u\0', source: null, attributes }])
    expect(store.imports[0]![0]!.event).toMatchObject({
      username: 'u\uFFFD',
      source: null,
      attributes: { attributes_type: 't', text: 'a\uFFFD' },
    })
  })

  it.each([
    ['id', undefined],
    ['id', 'nonsense'],
    ['id', 7],
    ['created_at', undefined],
    ['created_at', 'yesterday'],
    ['created_at', '2025-02-30'],
    ['created_at', '1969-12-31T23:59:59.999999Z'],
    ['created_at', 1_746_093_600_000],
    ['created_at', new Date(0)],
    ['type', undefined],
    ['type', 'a\n'],
    ['system', undefined],
    ['system', 'true'],
    ['system', 1],
    ['username', undefined],
    ['username', 7],
    ['source', undefined],
    ['source', {}],
    ['attributes', undefined],
    ['attributes', null],
    ['attributes', []],
    ['attributes', 'x'],
  ])('rejects %s %j with a pointer to it', async (member, value) => {
    const { audit, store } = openLog()
    const wrong = { ...whole, [member]: value } as AuditEvent
    await expect(audit.importEvents([whole, wrong])).rejects.toMatchObject({
      name: 'AuditLogError',
      code: 'INVALID_EVENT',
      pointer: `/1/${member}`,
      message: expect.stringContaining(`event 1: ${member} `),
    })
    expect(store.imports).toEqual([])
  })

  it.each([[null], [undefined], ['x'], [7]])('rejects %j as an event', async (event) => {
    const { audit } = openLog()
    await expect(audit.importEvents([event as unknown as AuditEvent])).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      pointer: '/0/id',
    })
  })

  it('accepts 1970 and a leap day', async () => {
    const { audit, store } = openLog()
    await audit.importEvents([
      { ...whole, created_at: '1970-01-01T00:00:00Z' },
      { ...whole, created_at: '2024-02-29' },
    ])
    expect(store.imports[0]!.map(({ time }) => time)).toEqual([0, 1_709_164_800_000_000])
  })

  it('is not emitted', async () => {
    const clock = manualClock('2026-01-01T00:00:00Z')
    await using audit = new AuditLog({ store: memoryStore({ clock }), types: {} })
    const heard: unknown[] = []
    audit.on('recorded', (event) => heard.push(event))
    await audit.importEvents([whole])
    expect(heard).toEqual([])
    expect((await audit.list()).events).toHaveLength(1)
  })
})

describe('options', () => {
  it.each([
    [{ maxbatch: 10 }, 'tuning of the fake store has no option maxbatch; did you mean maxBatch?'],
    [{ maxBatch: 0 }, 'maxBatch in tuning of the fake store must be a whole number of at least 1'],
    [
      null,
      'tuning of the fake store takes an object with maxBatch, appendsInBackground, appendsText, not null',
    ],
  ])('the store cannot have the tuning %j', (tuning, message) => {
    const store = { ...fakeStore(), tuning: tuning as never }
    expect(() => new AuditLog({ store, types: {} })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message }),
    )
  })

  it('are read once, and not modified', () => {
    const limits = Object.freeze({ maxDepth: 8 })
    const { audit } = openLog(fakeStore(), { limits })
    expect(audit.limits).toEqual({ maxDepth: 8, maxBytes: 1_048_576 })
    expect(openLog().audit.limits).toEqual({ maxDepth: 64, maxBytes: 1_048_576 })
  })

  it('limit recorded events', async () => {
    const { audit } = openLog(fakeStore(), { limits: { maxDepth: 2, maxBytes: 1024 } })
    const event = await audit.recordCustom('a', { o: { o: {} }, text: 'x'.repeat(5000) })
    expect(event?.attributes).toMatchObject({ o: { o: null } })
    expect(JSON.stringify(event?.attributes).length).toBeLessThanOrEqual(1024)
  })

  it.each([
    [{ limits: { maxDepth: 0 } }],
    [{ limits: { maxDepth: 65 } }],
    [{ limits: { maxDepth: 1.5 } }],
    [{ limits: { maxBytes: 1023 } }],
    [{ limits: { maxBytes: NaN } }],
    [{ waiting: { deadlineMs: 0 } }],
    [{ waiting: { deadlineMs: Infinity } }],
    [{ waiting: { maxWaiting: -1 } }],
    [{ waiting: { maxWaitingBytes: 0.5 } }],
  ])('%j are rejected', (options) => {
    expect(() => openLog(fakeStore(), options)).toThrow(AuditLogError)
    expect(() => openLog(fakeStore(), options)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
})
