import type { AuditLog, SubscriptionsOptions, Visible } from 'daybook'
import { beforeEach, describe, expect, it } from 'vitest'
import { failing } from '../fake-store.js'
import {
  advance,
  NUMBERS,
  recorded,
  recordingChannel,
  type RecordingChannel,
  until,
  useWorld,
} from './world.js'

const world = useWorld()
let channel: RecordingChannel
/** The visible events of each user. A function that throws stands for an error. */
let rights: Record<string, () => unknown>
let asked: string[]

const open = (options: SubscriptionsOptions = {}): AuditLog =>
  world.open({
    channels: { search: channel },
    visible: (owner) => {
      asked.push(owner)
      return rights[owner]?.() as Visible
    },
    ...options,
  })

const create = (audit: AuditLog, owner: string | null) =>
  audit.subscriptions.create({ name: 'numbers', channel: 'search', filter: NUMBERS, owner })

/** Records events of the users ann and bob in turns. */
async function recordTurns(audit: AuditLog, first: number, last: number): Promise<void> {
  for (let n = first; n <= last; n++)
    await audit.recordCustom('test:number', { n }, { username: n % 2 === 0 ? 'ann' : 'bob' })
}

const stateOf = async (audit: AuditLog): Promise<string | undefined> =>
  (await audit.subscriptions.status())[0]?.state

beforeEach(() => {
  channel = recordingChannel()
  rights = { ann: () => ({ username_eq: 'ann' }) }
  asked = []
})

describe('a subscription with an owner', () => {
  it('gets the events that match its filter and that the owner may see', async () => {
    const audit = open()
    expect(await create(audit, 'ann')).toMatchObject({ owner: 'ann' })
    await recordTurns(audit, 1, 6)
    await until(() => channel.accepted().length === 3)
    await advance(5000)
    expect(channel.accepted()).toEqual([2, 4, 6])
    expect(await audit.subscriptions.status()).toMatchObject([{ lag_ms: 0, state: 'live' }])
  })

  it('gets all events if the owner may see all, and if there is no owner or no option', async () => {
    rights = { ann: () => 'all' }
    const audit = open()
    await create(audit, 'ann')
    const { id } = await audit.subscriptions.create({ name: 'two', channel: 'search' })
    expect(await audit.subscriptions.get(id)).toMatchObject({ owner: null })
    await recordTurns(audit, 1, 2)
    await until(() => channel.deliveries.length >= 2)
    await advance(3000)
    const ofFirst = channel.deliveries.filter(({ subscription }) => subscription.owner === 'ann')
    expect(ofFirst.flatMap((delivery) => delivery.numbers)).toEqual([1, 2])
    expect(new Set(asked)).toEqual(new Set(['ann']))
  })

  it('gets no event that the owner may no longer see, from within about a minute on', async () => {
    const audit = open()
    await create(audit, 'ann')
    await recordTurns(audit, 1, 2)
    await until(() => channel.accepted().length === 1)
    const askedBefore = asked.length
    rights = { ann: () => ({ username_eq: 'bob' }) }
    await advance(65_000)
    expect(asked.length - askedBefore).toBe(1)
    await recordTurns(audit, 3, 6)
    await until(() => channel.accepted().length === 3)
    expect(channel.accepted()).toEqual([2, 3, 5])
  })

  it.each<[string, () => unknown]>([
    ['throws', failing(new Error('the directory is down'))],
    ['rejects', () => Promise.reject(new Error('the directory is down'))],
    ['returns undefined', () => undefined],
    ['returns a filter without conditions', () => ({ username_eq: '' })],
    ['does not answer', () => new Promise(() => {})],
  ])(
    'gets nothing while `visible` %s, which is recorded once, and later gets all events',
    async (_, wrong) => {
      const audit = open()
      await create(audit, 'ann')
      await until(() => asked.length === 1)
      rights = { ann: wrong }
      await until(async () => (await stateOf(audit)) === 'broken', 90_000)
      await recordTurns(audit, 1, 4)
      await advance(200_000)
      expect(channel.deliveries).toEqual([])
      expect(await recorded(audit, 'api:event_filter:error')).toMatchObject([
        { attributes: { subscription: 'numbers', channel: 'search' } },
      ])
      rights = { ann: () => ({ username_eq: 'ann' }) }
      await until(() => channel.accepted().length === 2, 90_000)
      expect(channel.accepted()).toEqual([2, 4])
      expect(await stateOf(audit)).toBe('live')
    },
  )

  it('stays broken in another process, which does not record it again', async () => {
    rights = {}
    const audit = open()
    await create(audit, 'ann')
    await until(async () => (await stateOf(audit)) === 'broken')
    await world.closeAll()
    const next = open()
    await advance(70_000)
    expect(await stateOf(next)).toBe('broken')
    expect(await recorded(next, 'api:event_filter:error')).toHaveLength(1)
  })

  it('gets nothing while the owner has an empty list, which is not an error', async () => {
    rights = { ann: () => ({ m: 'or', username_in: [], tenant_not_in: [] }) }
    const audit = open()
    await create(audit, 'ann')
    await recordTurns(audit, 1, 4)
    await advance(5000)
    expect(channel.deliveries).toEqual([])
    expect(await stateOf(audit)).toBe('live')
  })

  it('whose stored filter has a blank value delivers nothing and is broken', async () => {
    const audit = open()
    const { id } = await create(audit, null)
    await until(async () => (await stateOf(audit)) === 'live')
    await world.store.updateState(`subscription:${id}`, (stored) => ({
      ...(stored as object),
      filter: `${NUMBERS}&filter[tenant_eq]=`,
    }))
    await world.closeAll()
    const next = open()
    await recordTurns(next, 1, 4)
    await until(async () => (await stateOf(next)) === 'broken')
    await advance(5000)
    expect(channel.deliveries).toEqual([])
    expect(await recorded(next, 'api:event_filter:error')).toMatchObject([
      { attributes: { subscription: 'numbers', error: expect.stringContaining('tenant_eq') } },
    ])
  })

  it('does not get a parked event that the owner may no longer see', async () => {
    channel = recordingChannel(failing(new Error('no')), { batch: { maxEvents: 1 } })
    const audit = open()
    const { id } = await create(audit, 'ann')
    await recordTurns(audit, 2, 2)
    const [event] = await recorded(audit, 'test:number')
    const parked = {
      event_id: event!.id,
      created_at: event!.created_at,
      parked_at: event!.created_at,
      attempts: 3,
      error: 'no',
      last_error: { at: event!.created_at, kind: 'status' },
    } as const
    await world.store.updateState(`parked:${id}:${event!.created_at}`, () => parked)
    rights = { ann: () => ({ username_eq: 'bob' }) }
    expect(await audit.subscriptions.redrive(id, 'all')).toEqual({
      delivered: 0,
      failed: 0,
      missed: 1,
    })
    rights = {}
    await expect(audit.subscriptions.redrive(id, 'all')).rejects.toMatchObject({
      code: 'CHANNEL_UNAVAILABLE',
    })
  })

  it.each([[''], [7], [{}], [undefined]])('must have a user name: %j is refused', async (owner) => {
    const audit = open()
    await expect(create(audit, owner as never)).rejects.toMatchObject({
      code: 'INVALID_SUBSCRIPTION',
      pointer: '/owner',
    })
  })
})
