import { type AuditLog, DeliveryError, type SubscriptionsOptions, withActor } from 'daybook'
import { beforeEach, describe, expect, it } from 'vitest'
import { failing } from '../fake-store.js'
import {
  advance,
  type Delivery,
  NUMBERS,
  numbers,
  numbersTo,
  recorded,
  recordingChannel,
  recordNumbers,
  SECRETS_KEY,
  topicKind,
  until,
  useWorld,
} from './world.js'

const world = useWorld()
const { open, closeAll } = world
/** The deliveries, by topic. */
let delivered: Record<string, unknown[]>
let tokens: unknown[]

const kindOf = (options?: Parameters<typeof topicKind>[1]) =>
  topicKind((topic, token, delivery) => {
    delivered[topic] = [...(delivered[topic] ?? []), ...delivery.numbers]
    tokens.push(token)
  }, options)

const openTopics = (options: SubscriptionsOptions = {}): AuditLog =>
  open({ kinds: { topic: kindOf() }, secretsKey: SECRETS_KEY, ...options })

const createOps = (audit: AuditLog, config: Record<string, string> = { topic: 'ops' }) =>
  audit.subscriptions.channels.create({ name: 'ops', kind: 'topic', config })

/** A log with the channel `ops` and a subscription `numbers` to it. */
async function openOps(options?: SubscriptionsOptions) {
  const audit = openTopics(options)
  const { channel } = await createOps(audit)
  const subscription = await audit.subscriptions.create({
    name: 'numbers',
    channel: 'ops',
    filter: NUMBERS,
  })
  await until(async () => (await stateOf(audit)) === 'live')
  return { audit, channel, subscription }
}

const stateOf = async (audit: AuditLog): Promise<string | undefined> =>
  (await audit.subscriptions.status())[0]?.state

beforeEach(() => {
  delivered = {}
  tokens = []
})

describe('a channel that is created at run time', () => {
  it('is delivered to, with its secret, which only its creation returns', async () => {
    const audit = openTopics()
    const { channel, secret } = await createOps(audit)
    expect(secret).toBe('tok_first')
    expect(channel).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'ops',
      kind: 'topic',
      config: { topic: 'ops' },
      enabled: true,
      disabled_reason: null,
      in_code: false,
    })
    expect(await audit.subscriptions.channels.list()).toEqual([channel])
    expect(await audit.subscriptions.channels.get(channel.id)).toEqual(channel)
    await audit.subscriptions.create({ name: 'numbers', channel: 'ops', filter: NUMBERS })
    await recordNumbers(audit, 1, 5)
    await until(() => delivered['ops']?.length === 5)
    expect(delivered).toEqual({ ops: numbers(1, 5) })
    expect(tokens).toContain('tok_first')
  })

  it('is delivered to by another process that has the kind, within 8 seconds of its creation', async () => {
    openTopics()
    const manager = openTopics({ deliver: false })
    await createOps(manager)
    await manager.subscriptions.create({ name: 'numbers', channel: 'ops', filter: NUMBERS })
    await recordNumbers(manager, 1, 3)
    await until(() => delivered['ops']?.length === 3, 8000)
  })

  it('is delivered to after a restart', async () => {
    await openOps()
    await closeAll()
    const audit = openTopics()
    await recordNumbers(audit, 1, 3)
    await until(() => delivered['ops']?.length === 3)
  })

  it.each([
    ['/name', { name: 'Ops' }],
    ['/kind', { kind: 'pager' }],
    ['/kind', { kind: 'toString' }],
    ['/config', { config: null }],
    ['/config', { config: [] }],
    ['/config/topic', { config: {} }],
  ])('with a wrong %s is refused: %j', async (pointer, wrong) => {
    const audit = openTopics()
    const definition = { name: 'ops', kind: 'topic', config: { topic: 'ops' }, ...wrong }
    await expect(audit.subscriptions.channels.create(definition as never)).rejects.toMatchObject({
      code: 'INVALID_CHANNEL',
      pointer,
    })
    expect(await audit.subscriptions.channels.list()).toEqual([])
  })

  it('is refused if it cannot be opened, or if its secrets cannot be encrypted', async () => {
    const audit = openTopics()
    await expect(createOps(audit, { topic: 'missing' })).rejects.toMatchObject({
      code: 'MISSING_DEPENDENCY',
    })
    const keyless = openTopics({ secretsKey: undefined })
    await expect(createOps(keyless)).rejects.toMatchObject({ code: 'NO_SECRETS_KEY' })
    expect(await audit.subscriptions.channels.list()).toEqual([])
  })

  it('needs a unique name, also among channels in the code of other processes', async () => {
    open({ channels: { search: recordingChannel() } })
    const audit = openTopics({ channels: { index: recordingChannel() } })
    await until(async () => (await audit.subscriptions.channels.list()).length === 2)
    await createOps(audit)
    for (const name of ['ops', 'search', 'index'])
      await expect(
        audit.subscriptions.channels.create({ name, kind: 'topic', config: { topic: 'x' } }),
      ).rejects.toMatchObject({ code: 'NAME_TAKEN' })
  })

  it('is one of at most 100, and of at most 20 that the same user has created', async () => {
    const audit = openTopics({ deliver: false })
    const { channels } = audit.subscriptions
    const create = (n: number, username: string | null | undefined) =>
      channels.create({ name: `c${n}`, kind: 'topic', config: { topic: 'x' } }, { username })
    const refused = (message: string) => ({ code: 'INVALID_CHANNEL', message })
    const most = 'channels that were created at run time'
    for (let n = 0; n < 20; n++) await create(n, 'ann')
    await expect(create(20, 'ann')).rejects.toMatchObject(refused(`a user has at most 20 ${most}`))
    // If the call names no user, the actor counts as the user.
    await expect(withActor('ann', () => create(20, undefined))).rejects.toMatchObject(
      refused(`a user has at most 20 ${most}`),
    )
    const [first] = await channels.list()
    await channels.update(first!.id, { config: { topic: 'y' } }, { username: 'bob' })
    await channels.disable(first!.id, { username: 'bob' })
    await expect(create(20, 'ann')).rejects.toMatchObject({ code: 'INVALID_CHANNEL' })
    await channels.remove(first!.id, { username: 'bob' })
    await create(20, 'ann')
    for (let n = 21; n < 101; n++) await create(n, null)
    await expect(create(101, 'bob')).rejects.toMatchObject(refused(`a log has at most 100 ${most}`))
  })

  it('can be changed during deliveries. The next event uses the new setup', async () => {
    const { audit, channel } = await openOps()
    await recordNumbers(audit, 1, 2)
    await until(() => delivered['ops']?.length === 2)
    const changed = await audit.subscriptions.channels.update(channel.id, {
      config: { topic: 'other' },
    })
    expect(changed).toEqual({ channel: { ...channel, config: { topic: 'other' } }, secret: null })
    await recordNumbers(audit, 3, 4)
    await until(() => delivered['other']?.length === 2)
    expect(delivered).toEqual({ ops: [1, 2], other: [3, 4] })
    expect(new Set(tokens)).toEqual(new Set(['tok_first']))
  })

  it('gets a new secret by rotateSecret', async () => {
    const { audit, channel } = await openOps()
    const rotated = await audit.subscriptions.channels.rotateSecret(channel.id)
    expect(rotated).toEqual({ channel, secret: 'tok_first+' })
    await recordNumbers(audit, 1, 1)
    await until(() => delivered['ops']?.length === 1)
    expect(tokens).toEqual(['tok_first+'])
  })

  it('cannot be removed or renamed while a subscription uses it', async () => {
    const { audit, channel, subscription } = await openOps()
    const { channels } = audit.subscriptions
    await expect(channels.remove(channel.id)).rejects.toMatchObject({ code: 'IN_USE' })
    const rename = channels.update(channel.id, { name: 'other' })
    await expect(rename).rejects.toMatchObject({ code: 'IN_USE' })
    await audit.subscriptions.remove(subscription.id)
    const { channel: renamed } = await channels.update(channel.id, { name: 'other' })
    expect(renamed).toMatchObject({ id: channel.id, name: 'other' })
    await channels.remove(channel.id)
    expect(await channels.list()).toEqual([])
    for (const call of [
      channels.remove(channel.id),
      channels.update(channel.id, {}),
      channels.rotateSecret(channel.id),
      channels.enable(channel.id),
      channels.disable(channel.id),
      channels.test(channel.id),
    ])
      await expect(call).rejects.toMatchObject({ code: 'UNKNOWN_CHANNEL' })
  })

  it('leaves no lease behind when it is renamed', async () => {
    const audit = openTopics()
    const { channel } = await createOps(audit)
    const leases = async (): Promise<string[]> =>
      (await world.store.readStates('lease:', { limit: 10 })).map(([key]) => key)
    await until(async () => (await leases()).includes('lease:ops'))
    await audit.subscriptions.channels.update(channel.id, { name: 'other' })
    await until(async () => (await leases()).includes('lease:other'))
    expect(await leases()).toEqual(['lease:other'])
  })

  it('makes a subscription unowned while no process has its kind, and broken while no key decrypts its secrets', async () => {
    await openOps()
    await closeAll()
    const manager = open()
    await advance(10_000)
    expect(await stateOf(manager)).toBe('unowned')
    const other = openTopics({ secretsKey: Buffer.alloc(32, 8).toString('base64') })
    await until(async () => (await stateOf(manager)) === 'broken')
    await recordNumbers(manager, 1, 2)
    const told = (await recorded(other, 'api:notification:')).map(({ attributes }) => attributes)
    expect(told).toMatchObject([
      { channel: 'ops', kind: 'topic', error: expect.stringContaining('key') },
    ])
    openTopics({ secretsKey: [Buffer.alloc(32, 8).toString('base64'), SECRETS_KEY] })
    await until(() => delivered['ops']?.length === 2)
    expect(await stateOf(manager)).toBe('live')
  })

  it('gets the events of a subscription that is moved to it, from the cursor on', async () => {
    const first = recordingChannel()
    const audit = openTopics({ channels: { first } })
    await createOps(audit)
    const { id } = await audit.subscriptions.create({
      name: 'numbers',
      channel: 'first',
      filter: NUMBERS,
    })
    await recordNumbers(audit, 1, 3)
    await until(() => first.accepted().length === 3)
    await advance(1000)
    await audit.subscriptions.update(id, { channel: 'ops' })
    await recordNumbers(audit, 4, 6)
    await until(() => delivered['ops']?.length === 3)
    expect([first.accepted(), delivered['ops']]).toEqual([numbers(1, 3), numbers(4, 6)])
  })
})

describe('a channel in code', () => {
  it('is listed with the others, and cannot be changed at run time', async () => {
    const audit = openTopics({ channels: { search: recordingChannel() } })
    await createOps(audit)
    const manager = open()
    await until(async () => (await manager.subscriptions.channels.list()).length === 2)
    const { channels } = manager.subscriptions
    const [, search] = await channels.list()
    expect(search).toMatchObject({ name: 'search', kind: 'function', config: {}, in_code: true })
    for (const call of [
      channels.update(search!.id, {}),
      channels.remove(search!.id),
      channels.rotateSecret(search!.id),
    ])
      await expect(call).rejects.toMatchObject({ code: 'DEFINED_IN_CODE' })
  })

  it('can be disabled, and is only stored while it is disabled', async () => {
    const search = recordingChannel()
    const audit = open(numbersTo(search))
    const { channels } = audit.subscriptions
    const { id } = (await channels.list())[0]!
    await channels.disable(id, { reason: 'maintenance' })
    expect(await channels.get(id)).toMatchObject({
      enabled: false,
      disabled_reason: 'maintenance',
      kind: 'function',
    })
    expect(await world.store.readStates('channel:', { limit: 10 })).toHaveLength(1)
    await recordNumbers(audit, 1, 3)
    await until(async () => (await audit.subscriptions.status())[0]?.skipped === 3)
    await channels.enable(id)
    expect(await world.store.readStates('channel:', { limit: 10 })).toEqual([])
    await recordNumbers(audit, 4, 5)
    await until(() => search.accepted().length === 2)
    expect(search.accepted()).toEqual([4, 5])
  })

  it('that was disabled and then removed from the code releases its name when it is enabled', async () => {
    const { channels: before } = open({ channels: { ops: recordingChannel() } }).subscriptions
    await before.disable((await before.list())[0]!.id)
    await closeAll()
    const audit = openTopics()
    const { channels } = audit.subscriptions
    await expect(createOps(audit)).rejects.toMatchObject({ code: 'NAME_TAKEN' })
    const [left] = await channels.list()
    expect(left).toMatchObject({ name: 'ops', in_code: true, enabled: false })
    await channels.enable(left!.id)
    const { channel } = await createOps(audit)
    expect(await channels.list()).toEqual([channel])
  })
})

describe('a channel that is disabled', () => {
  it('skips and counts events, which replay delivers', async () => {
    const { audit, channel, subscription } = await openOps()
    await recordNumbers(audit, 1, 2)
    await until(() => delivered['ops']?.length === 2)
    const disabled = await audit.subscriptions.channels.disable(channel.id)
    expect(disabled).toEqual({ ...channel, enabled: false })
    await recordNumbers(audit, 3, 7)
    await until(async () => (await audit.subscriptions.status())[0]!.skipped === 5)
    const events = await recorded(audit, 'test:number')
    expect(await audit.subscriptions.status()).toMatchObject([
      { state: 'disabled', delivered: 2, skipped: 5, skipped_since: events[2]!.created_at },
    ])
    expect(await recorded(audit, 'warn:')).toMatchObject([
      {
        type: 'warn:notification_channel:disabled',
        attributes: { channel: 'ops', subscription: 'numbers', subscription_id: subscription.id },
      },
    ])
    await audit.subscriptions.channels.enable(channel.id)
    await recordNumbers(audit, 8, 8)
    await until(() => delivered['ops']?.length === 3)
    expect(delivered['ops']).toEqual([1, 2, 8])
    await audit.subscriptions.replay(subscription.id)
    await until(() => delivered['ops']?.length === 9)
    expect(delivered['ops']).toEqual([1, 2, 8, 3, 4, 5, 6, 7, 8])
    expect(await audit.subscriptions.status()).toMatchObject([{ skipped: 0, skipped_since: null }])
    await expect(audit.subscriptions.replay(subscription.id)).rejects.toMatchObject({
      code: 'INVALID_SUBSCRIPTION',
      pointer: '/from',
    })
  })

  it('is noticed by the delivering process, which also skips events before a retry', async () => {
    const kind = topicKind(failing(new DeliveryError('network', 'connection refused')))
    const { audit, channel } = await openOps({ kinds: { topic: kind } })
    await recordNumbers(audit, 1, 4)
    await until(async () => (await stateOf(audit)) === 'failing')
    const manager = openTopics({ deliver: false })
    await manager.subscriptions.channels.disable(channel.id)
    await until(async () => (await manager.subscriptions.status())[0]!.skipped === 4)
    expect(await manager.subscriptions.status()).toMatchObject([
      { state: 'disabled', attempts: 0, failing_since: null, last_error: { kind: 'network' } },
    ])
  })

  it('is reported at most once an hour, for each channel', async () => {
    const { audit, channel } = await openOps()
    const other = await audit.subscriptions.channels.create({
      name: 'other',
      kind: 'topic',
      config: { topic: 'other' },
    })
    await audit.subscriptions.create({ name: 'two', channel: 'other', filter: NUMBERS })
    for (const { id } of [channel, other.channel]) await audit.subscriptions.channels.disable(id)
    for (let n = 1; n <= 4; n++) {
      await recordNumbers(audit, n, n)
      await until(async () =>
        (await audit.subscriptions.status()).every(({ skipped }) => skipped === n),
      )
    }
    const told = await recorded(audit, 'warn:notification_channel')
    const names = told.map(({ attributes }) => attributes['channel'])
    expect(names).toHaveLength(2)
    expect(new Set(names)).toEqual(new Set(['ops', 'other']))
  })

  it('causes no loop of two subscriptions to all events', async () => {
    const audit = open(
      { kinds: { topic: kindOf() }, secretsKey: SECRETS_KEY },
      { 'warn:notification_channel:disabled': { data: ['channel'] } },
    )
    const { channel } = await createOps(audit)
    for (const name of ['one', 'two']) await audit.subscriptions.create({ name, channel: 'ops' })
    await audit.subscriptions.channels.disable(channel.id)
    await advance(10_000)
    const before = (await recorded(audit, 'warn:')).length
    await recordNumbers(audit, 1, 10)
    await advance(60_000)
    const after = (await recorded(audit, 'warn:')).length
    expect(after - before).toBeGreaterThan(0)
    expect(after - before).toBeLessThanOrEqual(20)
    await advance(600_000)
    expect(await recorded(audit, 'warn:')).toHaveLength(after)
  })

  it('is disabled and recorded when its receiver is gone', async () => {
    const kind = topicKind(
      failing(
        new DeliveryError('status', 'https://hooks.example responded with 410', { status: 410 }),
      ),
    )
    const { audit, channel } = await openOps({ kinds: { topic: kind } })
    await recordNumbers(audit, 1, 3)
    await until(async () => (await stateOf(audit)) === 'disabled')
    expect(await audit.subscriptions.channels.get(channel.id)).toMatchObject({
      enabled: false,
      disabled_reason: 'https://hooks.example responded with 410',
    })
    await until(async () => (await audit.subscriptions.status())[0]!.skipped === 3)
    expect(await recorded(audit, 'api:notification_channels:disable')).toMatchObject([
      {
        username: null,
        attributes: {
          channel: 'ops',
          channel_id: channel.id,
          reason: 'https://hooks.example responded with 410',
        },
      },
    ])
    const [parked] = await audit.subscriptions.list()
    await expect(audit.subscriptions.redrive(parked!.id, 'all')).rejects.toMatchObject({
      code: 'CHANNEL_UNAVAILABLE',
    })
  })

  it('stays enabled if another process has already replaced the receiver that is gone', async () => {
    let answer = (): void => {}
    const waiting = new Promise<void>((resolve) => (answer = resolve))
    const topics: string[] = []
    const kind = topicKind(async (topic) => {
      topics.push(topic)
      if (topic === 'new') return
      await waiting
      throw new DeliveryError('status', 'responded with 410', { status: 410 })
    })
    const { audit, channel } = await openOps({ kinds: { topic: kind } })
    await recordNumbers(audit, 1, 1)
    await until(() => topics.includes('ops'))
    const manager = openTopics({ deliver: false })
    await manager.subscriptions.channels.update(channel.id, { config: { topic: 'new' } })
    answer()
    await until(() => topics.includes('new'))
    expect(await manager.subscriptions.channels.get(channel.id)).toMatchObject({ enabled: true })
  })
})

describe('a test', () => {
  it('delivers one event that is not stored, also while the channel is disabled', async () => {
    const deliveries: Delivery[] = []
    const kind = topicKind((_topic, _token, delivery) => deliveries.push(delivery))
    const { audit, channel, subscription } = await openOps({ kinds: { topic: kind } })
    await audit.subscriptions.channels.disable(channel.id)
    const accepted = { accepted: true, status: null, fault: null, duration_ms: expect.any(Number) }
    expect(await audit.subscriptions.channels.test(channel.id)).toEqual(accepted)
    expect(await audit.subscriptions.test(subscription.id)).toEqual(accepted)
    expect(deliveries).toMatchObject([
      { attempt: 1, events: [{ type: 'daybook:test', attributes: { channel: 'ops' } }] },
      {
        subscription: { name: 'numbers' },
        events: [{ type: 'daybook:test', attributes: { channel: 'ops', subscription: 'numbers' } }],
      },
    ])
    const [event] = deliveries[0]!.events
    expect(deliveries[0]!.id).toBe(event!.id)
    expect(await audit.get(event!.id)).toBeUndefined()
    expect((await audit.list('filter[type_start]=daybook&limit=1000')).events).toEqual([])
  })

  it('reports the fault, and ends after 30 seconds', async () => {
    let answer = (): unknown => {
      throw new DeliveryError('status', 'no', { status: 403 })
    }
    const kind = topicKind(() => answer())
    const { audit, channel } = await openOps({ kinds: { topic: kind } })
    expect(await audit.subscriptions.channels.test(channel.id)).toMatchObject({
      accepted: false,
      status: 403,
      fault: 'status',
    })
    answer = () => new Promise(() => {})
    let result: unknown
    void audit.subscriptions.channels.test(channel.id).then((given) => (result = given))
    await until(() => result, 40_000)
    expect(result).toMatchObject({ accepted: false, status: null, fault: 'timeout' })
  })

  it('needs a process that can deliver to the channel', async () => {
    const { channel, subscription } = await openOps()
    const manager = open()
    for (const call of [
      manager.subscriptions.channels.test(channel.id),
      manager.subscriptions.test(subscription.id),
    ])
      await expect(call).rejects.toMatchObject({ code: 'CHANNEL_UNAVAILABLE' })
    const other = openTopics({ deliver: false })
    expect(await other.subscriptions.channels.test(channel.id)).toMatchObject({ accepted: true })
  })
})

describe('every action on channels', () => {
  it('is recorded with its user and its changes, without secrets', async () => {
    const audit = openTopics()
    const { channels } = audit.subscriptions
    const by = { username: 'ann' }
    const config = { topic: 'https://ann:pass@hooks.example/a?key=tok_query', token: 'tok_given' }
    const { channel } = await channels.create({ name: 'ops', kind: 'topic', config }, by)
    await channels.update(channel.id, { config: { topic: 'other', token: 'tok_next' } }, by)
    await channels.rotateSecret(channel.id, by)
    const reason = 'noise from https://hooks.example/b/secret'
    await channels.disable(channel.id, { ...by, reason })
    await channels.enable(channel.id, by)
    await channels.test(channel.id, by)
    await channels.remove(channel.id, by)
    const events = await recorded(audit, 'api:notification_channels:')
    expect(events.map(({ type, username }) => [type.split(':').at(-1), username])).toEqual(
      ['create', 'update', 'rotate_secret', 'disable', 'enable', 'test', 'delete'].map((action) => [
        action,
        'ann',
      ]),
    )
    expect(events[1]!.attributes['changes']).toEqual([
      {
        op: 'replace',
        path: '/config/topic',
        value: 'other',
        old_value: 'https://hooks.example',
      },
    ])
    expect(events[3]!.attributes).toMatchObject({
      channel: 'ops',
      kind: 'topic',
      reason: 'noise from https://hooks.example',
    })
    expect(JSON.stringify(events)).not.toMatch(/tok_|pass/)
  })

  it('is recorded once, because disabling or enabling a channel again changes nothing', async () => {
    const { audit, channel } = await openOps()
    const { channels } = audit.subscriptions
    await channels.enable(channel.id)
    await channels.disable(channel.id, { reason: 'first' })
    expect(await channels.disable(channel.id, { reason: 'second' })).toMatchObject({
      disabled_reason: 'first',
    })
    expect(await recorded(audit, 'api:notification_channels:disable')).toHaveLength(1)
    expect(await recorded(audit, 'api:notification_channels:enable')).toHaveLength(0)
  })
})
