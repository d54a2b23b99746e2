import { AuditLog, type EventStore, parseQuery, type SubscriptionDefinition } from 'daybook'
import { beforeEach, describe, expect, it } from 'vitest'
import { readOnlyStore } from '../../../src/store/read-only.js'
import { errorWith } from '../errors.js'
import { recordingChannel, settled, shared, until, useWorld } from './world.js'

const world = useWorld()
const { open } = world
let audit: AuditLog

const isRegistered = async (): Promise<boolean> =>
  (await world.store.readStates('subscription:', { limit: 1 })).length > 0

beforeEach(async () => {
  audit = open({
    channels: { search: recordingChannel(), other: recordingChannel() },
    subscriptions: { 'in-code': { channel: 'search' } },
  })
  await until(isRegistered)
})

describe('a definition', () => {
  it('gets the defaults, and keeps the filter as a query string', async () => {
    const filter = { filter: { type_start: 'error:' } }
    const made = await audit.subscriptions.create({ name: 'errors', channel: 'search', filter })
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'errors',
      channel: 'search',
      filter: 'filter[type_start]=error%3A',
      from: 'now',
      whenStuck: 'park',
      retain: { days: 7 },
      paused: false,
      owner: null,
      in_code: false,
    })
    expect(await audit.subscriptions.get(made.id)).toEqual(made)
    expect((await audit.subscriptions.list()).map(({ name }) => name)).toEqual([
      'errors',
      'in-code',
    ])
  })

  it.each<[pointer: string, Partial<Record<keyof SubscriptionDefinition, unknown>>]>([
    ['/name', { name: 'Errors' }],
    ['/name', { name: '' }],
    ['/name', { name: 'x'.repeat(64) }],
    ['/name', { name: 7 }],
    ['/channel', { channel: 'unknown' }],
    ['/filter', { filter: 'filter[type_equals]=x' }],
    ['/filter', { filter: 'filter[sorts]=type' }],
    ['/filter', { filter: 'limit=5' }],
    ['/filter', { filter: undefined }],
    ['/filter', { filter: {} }],
    ['/filter', { filter: parseQuery('') }],
    ['/filter', { filter: { filter: { type_start: 'app:', tenant_eq: undefined } } }],
    ['/owner', { owner: undefined }],
    ['/from', { from: 'yesterday' }],
    ['/whenStuck', { whenStuck: 'drop' }],
    ['/retain', { retain: { days: -1 } }],
  ])('with a wrong %s is refused: %j', async (pointer, wrong) => {
    const definition = { name: 'errors', channel: 'search', ...wrong } as SubscriptionDefinition
    await expect(audit.subscriptions.create(definition)).rejects.toMatchObject({
      code: 'INVALID_SUBSCRIPTION',
      pointer,
    })
    expect(await audit.subscriptions.list()).toHaveLength(1)
  })

  it('in the code is refused when the log is opened', () => {
    const wrong = {
      channels: { search: recordingChannel() },
      subscriptions: { a: { channel: 'b' } },
    }
    expect(() => open(wrong)).toThrow(expect.objectContaining({ code: 'INVALID_SUBSCRIPTION' }))
    const blank = {
      channels: { search: recordingChannel() },
      subscriptions: { a: { channel: 'search', filter: 'filter[type_eq]=x&filter[tenant_eq]=' } },
    }
    expect(() => open(blank)).toThrow(
      errorWith('INVALID_OPTION', 'the subscription a: filter: filter[tenant_eq]'),
    )
    const noFunction = { channels: { search: {} as never } }
    expect(() => open(noFunction)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })

  it('needs a unique name', async () => {
    await audit.subscriptions.create({ name: 'errors', channel: 'search' })
    const again = audit.subscriptions.create({ name: 'errors', channel: 'other' })
    await expect(again).rejects.toMatchObject({ code: 'NAME_TAKEN' })
  })

  it('can be changed and removed', async () => {
    const { id } = await audit.subscriptions.create({ name: 'errors', channel: 'search' })
    const change = { channel: 'other', filter: 'filter[type_eq]=x', retain: null } as const
    const changed = await audit.subscriptions.update(id, change)
    expect(changed).toMatchObject({ id, name: 'errors', ...change })
    expect(await audit.subscriptions.get(id)).toEqual(changed)
    await audit.subscriptions.remove(id)
    expect(await audit.subscriptions.get(id)).toBeUndefined()
    expect(await world.store.readStates(`cursor:${id}`, { limit: 1 })).toEqual([])
    await expect(audit.subscriptions.remove(id)).rejects.toMatchObject({
      code: 'UNKNOWN_SUBSCRIPTION',
    })
  })

  it('in the code cannot be changed or removed at run time, but paused', async () => {
    const [found] = await audit.subscriptions.list()
    expect(found).toMatchObject({ name: 'in-code', in_code: true })
    const { id } = found!
    for (const call of [audit.subscriptions.update(id, {}), audit.subscriptions.remove(id)])
      await expect(call).rejects.toMatchObject({ code: 'DEFINED_IN_CODE' })
    expect(await audit.subscriptions.pause(id)).toMatchObject({ paused: true })
  })

  it('in the code that has changed replaces the stored one, which stays paused', async () => {
    const { id } = (await audit.subscriptions.list())[0]!
    await audit.subscriptions.pause(id)
    open({
      channels: { search: recordingChannel() },
      subscriptions: { 'in-code': { channel: 'search', filter: 'filter[type_eq]=x' } },
    })
    await until(async () => (await audit.subscriptions.get(id))!.filter !== '')
    expect(await audit.subscriptions.get(id)).toMatchObject({
      filter: 'filter[type_eq]=x',
      paused: true,
    })
  })

  it('in the code are stored in one transaction, and not again at the next start', async () => {
    const writes: (readonly string[])[] = []
    const counting: EventStore = {
      ...shared(world.store),
      updateStates(keys, ...rest) {
        writes.push(keys.filter((key) => key.startsWith('subscription:')))
        return world.store.updateStates(keys, ...rest)
      },
    }
    const isBusy = async (): Promise<boolean> =>
      (await world.store.readStates('deliverer:', { limit: 3 })).length > 1
    const names = Array.from({ length: 100 }, (_, n) => `s${n}`)
    const options = {
      channels: { search: recordingChannel() },
      subscriptions: Object.fromEntries(
        names.map((name) => [name, { channel: 'search', filter: { filter: { n_eq: name } } }]),
      ),
    }
    for (const stored of [100, 0]) {
      const next = open(options, {}, counting)
      await until(isBusy)
      expect(await next.subscriptions.list()).toHaveLength(101)
      expect(writes.map(({ length }) => length).filter(Boolean)).toEqual(stored ? [stored] : [])
      await settled(next.close())
      writes.length = 0
    }
  })

  it('in the code is not stored if its name is taken, but others are stored', async () => {
    await audit.subscriptions.create({ name: 'taken', channel: 'search' })
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    open({
      channels: { search: recordingChannel() },
      subscriptions: {
        taken: { channel: 'search', filter: 'filter[n_eq]=1' },
        free: { channel: 'search' },
      },
    })
    await until(async () => (await audit.subscriptions.list()).length === 3)
    expect((await audit.subscriptions.list()).map(({ name, filter }) => [name, filter])).toEqual([
      ['free', ''],
      ['in-code', ''],
      ['taken', ''],
    ])
    expect((await warned).message).toContain('there is a subscription taken already')
  })

  it('may name a channel that only another running process has', async () => {
    const manager = open()
    const made = await manager.subscriptions.create({ name: 'errors', channel: 'other' })
    expect(made.channel).toBe('other')
    await expect(manager.subscriptions.redrive(made.id, 'all')).rejects.toMatchObject({
      code: 'CHANNEL_UNAVAILABLE',
    })
  })
})

describe('a log that only reads', () => {
  it('accepts no subscriptions, and shows the subscriptions of other processes', async () => {
    const reading = readOnlyStore(shared(world.store))
    expect(() => open({ channels: {} }, {}, reading)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
    await using reader = new AuditLog({ store: reading, types: {} })
    expect(await reader.subscriptions.list()).toMatchObject([{ name: 'in-code' }])
    await expect(
      reader.subscriptions.create({ name: 'errors', channel: 'search' }),
    ).rejects.toMatchObject({ code: 'READ_ONLY' })
  })
})
