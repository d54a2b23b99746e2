import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { type Actor, AuditLog, bindActor, currentActor, withActor } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { failing } from '../fake-store.js'

const username = (): string | null | undefined => currentActor()?.username

describe('withActor', () => {
  it('returns the result of the function', async () => {
    expect(withActor('ann', () => 7)).toBe(7)
    await expect(withActor('ann', () => delay(1, 'later'))).resolves.toBe('later')
  })

  it('nests, and ends with the function', () => {
    const seen: unknown[] = [username()]
    withActor('ann', () => {
      seen.push(username())
      withActor('bob', () => seen.push(username()))
      withActor(null, () => seen.push(username()))
      seen.push(username())
    })
    expect([...seen, username()]).toEqual([undefined, 'ann', 'bob', null, 'ann', undefined])
  })

  it('ends if the function throws or rejects', async () => {
    const broken = new Error('broken')
    expect(() => withActor('ann', failing(broken))).toThrow(broken)
    expect(username()).toBeUndefined()
    await expect(withActor('ann', () => Promise.reject(broken))).rejects.toBe(broken)
    expect(username()).toBeUndefined()
  })

  it('reads the name of the actor for each event', () => {
    const actor = { username: null as string | null }
    withActor(actor, () => {
      expect(username()).toBeNull()
      actor.username = 'ann'
      expect(username()).toBe('ann')
    })
  })

  it('sets the user of events, unless the call names one', async () => {
    await using audit: AuditLog = new AuditLog({ store: memoryStore(), types: { 'a:b:c': {} } })
    await audit.record('a:b:c')
    await withActor('ann', async () => {
      await delay(1)
      await audit.record('a:b:c')
      await audit.record('a:b:c', {}, { username: 'bob' })
      await audit.record('a:b:c', {}, { username: null })
      await audit.recordCustom('custom')
      await withActor(null, () => audit.record('a:b:c'))
    })
    const { events } = await audit.list()
    expect(events.map((event) => event.username)).toEqual([null, 'ann', 'bob', null, 'ann', null])
  })
})

it('listeners run outside the contexts of the calls', async () => {
  await using audit: AuditLog = new AuditLog({ store: memoryStore(), types: {} })
  const host = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const calls: Promise<unknown>[] = []
  audit.on('recorded', ({ type }) => {
    seen.push([username(), host.getStore()])
    if (type !== 'follow_up') calls.push(audit.recordCustom('follow_up'))
  })
  audit.on('rejected', () => seen.push([username(), host.getStore()]))
  await host.run('span', () =>
    withActor({ username: 'ann', session_id: 's1' }, async () => {
      await Promise.all([
        audit.recordCustom('first'),
        withActor('bob', () => audit.recordCustom('second')),
        expect(audit.recordCustom('')).rejects.toThrow('event type'),
      ])
    }),
  )
  await Promise.all(calls)
  // Two calls, the records of the listener for each, and a rejected call.
  expect(seen).toEqual(Array.from({ length: 5 }, () => [undefined, undefined]))
  const { events } = await audit.list('filter[type_eq]=follow_up')
  expect(events.map((event) => [event.username, event.attributes])).toEqual([
    [null, {}],
    [null, {}],
  ])
})

describe('the fields of an actor', () => {
  const open = () => {
    const audit: AuditLog = new AuditLog({ store: memoryStore(), types: {} })
    onTestFinished(() => audit.close())
    return audit
  }
  const bot = {
    username: 'bot',
    kind: 'service',
    on_behalf_of: 'ann',
    session_id: 's1',
    remote_address: '192.0.2.7',
  } as const
  const ofBot = {
    actor_kind: 'service',
    on_behalf_of: 'ann',
    session_id: 's1',
    remote_address: '192.0.2.7',
  }

  it('are attributes of every kind of event', async () => {
    const types = { 'info:live': { live: true }, 'info:intended': {}, 'info:outcome': {} } as const
    await using audit = new AuditLog({ store: memoryStore(), types })
    await withActor(bot, async () => {
      await audit.recordSystem('info:system')
      await audit.recordCustom('custom')
      const live = await audit.recordLive('info:live')
      await live.close()
      await audit.recordChange('info:live', 1, 1)
      const intent = await audit.intents().open('info:intended', {})
      await intent.record('info:outcome', {})
    })
    const { events } = await audit.list()
    expect(events.map(({ type, username }) => [type, username])).toEqual([
      ['info:system', 'bot'],
      ['custom', 'bot'],
      ['info:live', 'bot'],
      ['info:live', 'bot'],
      ['info:outcome', 'bot'],
    ])
    for (const { attributes } of events) expect(attributes).toMatchObject(ofBot)
  })

  it('are replaced as a whole by an actor within', async () => {
    const audit = open()
    await withActor(bot, () =>
      withActor({ username: 'eve', kind: 'user' }, () => audit.recordSystem('a')),
    )
    expect((await audit.list()).events).toMatchObject([
      { username: 'eve', attributes: { actor_kind: 'user' } },
    ])
    expect((await audit.list()).events[0]!.attributes).not.toHaveProperty('on_behalf_of')
  })

  it('give way to attributes of the call, also to null', async () => {
    const audit = open()
    await withActor(bot, () =>
      audit.recordSystem('a', { on_behalf_of: 'zoe', session_id: null, remote_address: undefined }),
    )
    expect((await audit.list()).events[0]!.attributes).toEqual({
      ...ofBot,
      on_behalf_of: 'zoe',
      session_id: null,
    })
  })

  it('are left out if the call names another user', async () => {
    const audit = open()
    await withActor(bot, async () => {
      await audit.recordSystem('a', {}, { username: 'eve' })
      await audit.recordSystem('b', {}, { username: null })
      await audit.recordSystem('c', {}, { username: 'bot' })
    })
    const { events } = await audit.list()
    expect(events.map(({ attributes }) => attributes)).toEqual([{}, {}, ofBot])
  })

  it('do not count as a difference of calls with the same idempotency key', async () => {
    const audit = open()
    const options = { username: 'ann', idempotencyKey: 'k' }
    const record = (data: object) => audit.recordCustom('custom', data, options)
    const first = await withActor({ username: 'ann', session_id: 's1' }, () => record({ n: 1 }))
    const again = await withActor({ username: 'ann', session_id: 's2' }, () => record({ n: 1 }))
    expect(again).toEqual(first)
    await expect(record({ n: 1 })).resolves.toEqual(first)
    await expect(record({ n: 1, session_id: 's1' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    })
  })

  it('do not count for the scope of a throttle', async () => {
    const throttle = { period: { hours: 1 }, scope: ['n'] } as const
    await using audit = new AuditLog({ store: memoryStore(), types: { 'warn:full': { throttle } } })
    await withActor(bot, () => audit.record('warn:full', { n: 1 }))
    await withActor('ann', () => audit.record('warn:full', { n: 1 }))
    expect((await audit.list()).events).toHaveLength(1)
  })

  it('need not be declared by the type, in strict mode either', async () => {
    const types = { 'info:strict': { data: ['n'] } } as const
    await using audit = new AuditLog({ store: memoryStore(), types, strict: true })
    await withActor(bot, () => audit.record('info:strict', { n: 1 }))
    await audit.recordSystem('info:strict', { n: 1, on_behalf_of: 'ann', actor_kind: 'agent' })
    expect((await audit.list()).events).toHaveLength(2)
  })

  it('are kept with the limits of attributes, and without secrets', async () => {
    const audit = new AuditLog({ store: memoryStore(), types: {}, limits: { maxBytes: 1024 } })
    onTestFinished(() => audit.close())
    const session_id = `ghp_${'a1'.repeat(20)}`
    await withActor({ username: 'ann', on_behalf_of: 'b\0b', session_id }, () =>
      audit.recordSystem('a', { text: 'x'.repeat(2000) }),
    )
    const [event] = (await audit.list()).events
    expect(event!.attributes).toMatchObject({
      on_behalf_of: 'b\uFFFDb',
      session_id: '[redacted]',
      recording: { replaced: ['/text'] },
    })
    expect(Buffer.byteLength(JSON.stringify(event!.attributes))).toBeLessThanOrEqual(1024)
  })

  it('may be empty', async () => {
    const audit = open()
    const nobody = { username: null, kind: null, on_behalf_of: '', session_id: undefined }
    await withActor(nobody, () => audit.recordSystem('a'))
    expect((await audit.list()).events[0]!.attributes).toEqual({})
  })

  it.each([
    [{ kind: 'admin' }, 'kind of an actor must be one of user, service, agent'],
    [{ on_behalf_of: 7 }, 'on_behalf_of of an actor must be a text of at most 255 characters'],
    [
      { session_id: 'x'.repeat(256) },
      'session_id of an actor must be a text of at most 255 characters',
    ],
    [{ remote_address: {} }, 'remote_address of an actor must be a text'],
  ])('%o is refused', (fields, message) => {
    const run = vi.fn()
    expect(() => withActor({ username: 'ann', ...fields } as Actor, run)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message }),
    )
    expect(run).not.toHaveBeenCalled()
  })
})

describe('bindActor', () => {
  it('runs a function as the actor that bound it', () => {
    const emitter = new EventEmitter()
    const seen: unknown[] = []
    withActor('ann', () => {
      emitter.on('free', () => seen.push(username()))
      emitter.on(
        'free',
        bindActor(() => seen.push(username())),
      )
    })
    emitter.on(
      'free',
      bindActor(() => seen.push(username())),
    )
    withActor('bob', () => emitter.emit('free'))
    expect(seen).toEqual(['bob', 'ann', undefined])
  })

  it('passes on this, arguments, result and errors', () => {
    const bound = bindActor(function (this: { n: number }, more: number) {
      if (more < 0) throw new RangeError('less')
      return this.n + more
    })
    expect(bound.call({ n: 1 }, 2)).toBe(3)
    expect(() => bound.call({ n: 1 }, -1)).toThrow(RangeError)
  })

  it('does not affect other AsyncLocalStorage instances', () => {
    // The context of another library stays the context of the caller.
    const resource = new AsyncResource('test')
    const bound = withActor('ann', () => bindActor(() => username()))
    expect(resource.runInAsyncScope(() => withActor('bob', bound))).toBe('ann')
    expect(username()).toBeUndefined()
  })
})
