import { type AuditLog, currentActor, DeliveryError, withActor } from 'daybook'
import { faultyStore } from 'daybook/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { failing, turns } from '../fake-store.js'
import {
  advance,
  NUMBERS,
  numbers,
  numbersTo,
  recorded,
  recordingChannel,
  recordNumbers,
  settled,
  shared,
  until,
  useWorld,
} from './world.js'

const world = useWorld()
const { open } = world

/** Length of a step in waits of hours, so that there are fewer steps. */
const LONG_STEP_MS = 1000

const busy = failing(new DeliveryError('network', 'connection refused'))

describe('a subscription', () => {
  it('delivers the matching events that are recorded from its creation on, each once and in order', async () => {
    const before = open()
    await recordNumbers(before, 1, 3)
    const channel = recordingChannel()
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 4, 5)
    await audit.recordCustom('test:other', { n: 'other' })
    await recordNumbers(audit, 6, 250)
    await until(() => channel.accepted().length >= 247)
    await advance(1000)
    expect(channel.accepted()).toEqual(numbers(4, 250))
    expect(channel.deliveries.every(({ events }) => events.length <= 100)).toBe(true)
  })

  it.each([
    ['beginning', () => 'beginning', 1],
    ['a time', (times: readonly string[]) => times[4]!, 5],
  ])('begins at its option `from`: %s', async (_, fromOf, first) => {
    const channel = recordingChannel()
    const audit = open({ channels: { search: channel } })
    await recordNumbers(audit, 1, 10)
    const times = (await recorded(audit, 'test:')).map(({ created_at }) => created_at)
    const from = fromOf(times)
    await until(async () => (await world.store.readStates('lease:', { limit: 1 })).length === 1)
    const made = await audit.subscriptions.create({
      name: 'numbers',
      channel: 'search',
      filter: NUMBERS,
      from,
    })
    expect(made.from).toBe(from)
    await until(() => channel.accepted().length >= 11 - first)
    expect(channel.accepted()).toEqual(numbers(first, 10))
  })

  it('gives each delivery an id: the id of its event, or the ids of the first and the last event', async () => {
    const one = recordingChannel(undefined, { batch: { maxEvents: 1 } })
    const many = recordingChannel(undefined, { batch: { maxWait: { seconds: 1 } } })
    const audit = open({
      channels: { one, many },
      subscriptions: {
        one: { channel: 'one', filter: NUMBERS },
        many: { channel: 'many', filter: NUMBERS },
      },
    })
    await recordNumbers(audit, 1, 3)
    await until(() => one.accepted().length === 3 && many.accepted().length === 3)
    const ids = (await recorded(audit, 'test:')).map(({ id }) => id)
    expect(one.deliveries.map(({ id }) => id)).toEqual(ids)
    expect(many.deliveries.map(({ id }) => id)).toEqual([`${ids[0]}_${ids[2]}`])
    expect(many.deliveries[0]).toMatchObject({ attempt: 1, subscription: { name: 'many' } })
  })

  it('fills batches up to their events and bytes, and delivers a larger event alone', async () => {
    const channel = recordingChannel(undefined, {
      batch: { maxEvents: 3, maxBytes: 2000, maxWait: { seconds: 1 } },
    })
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 1, 4)
    await audit.recordCustom('test:number', { n: 5, text: 'x'.repeat(3000) })
    await recordNumbers(audit, 6, 6)
    await until(() => channel.accepted().length === 6)
    expect(channel.deliveries.map((delivery) => delivery.numbers)).toEqual([
      [1, 2, 3],
      [4],
      [5],
      [6],
    ])
  })

  it('waits for further events as long as the channel says', async () => {
    const channel = recordingChannel(undefined, { batch: { maxWait: { minutes: 1 } } })
    const audit = open({
      channels: { mail: channel },
      subscriptions: { numbers: { channel: 'mail', filter: NUMBERS } },
    })
    await recordNumbers(audit, 1, 1)
    await advance(30_000)
    await recordNumbers(audit, 2, 2)
    await advance(25_000)
    expect(channel.deliveries).toEqual([])
    await until(() => channel.deliveries.length > 0, 10_000)
    expect(channel.accepted()).toEqual([1, 2])
  })

  it('keeps the rate of its channel, and drops nothing', async () => {
    const times: number[] = []
    const channel = recordingChannel(() => times.push(performance.now()), {
      batch: { maxEvents: 1 },
      rate: { count: 2, per: { seconds: 10 } },
    })
    const audit = open({
      channels: { slow: channel },
      subscriptions: {
        one: { channel: 'slow', filter: NUMBERS },
        two: { channel: 'slow', filter: NUMBERS },
      },
    })
    await recordNumbers(audit, 1, 4)
    await until(() => channel.accepted().length === 8)
    for (let n = 2; n < times.length; n++)
      expect(times[n]! - times[n - 2]!).toBeGreaterThanOrEqual(10_000)
  })

  it('keeps its cursor if a delivery from before a change ends after later deliveries', async () => {
    let answer = (): void => {}
    // Goes on though its signal aborts.
    const first = new Promise<void>((resolve) => (answer = resolve))
    const channel = recordingChannel(() => channel.deliveries.length === 1 && first)
    const audit = open({ channels: { search: channel } })
    const definition = { name: 'numbers', channel: 'search', filter: NUMBERS }
    const { id } = await audit.subscriptions.create(definition)
    await recordNumbers(audit, 1, 1)
    await until(() => channel.deliveries.length === 1)
    await recordNumbers(audit, 2, 10)
    await settled(audit.subscriptions.update(id, { retain: null }))
    await until(() => channel.accepted().includes(10))
    const stored = async () => (await world.store.readStates('cursor:', { limit: 1 }))[0]![1]
    await advance(10_000)
    const before = await stored()
    answer()
    await advance(10_000)
    expect(await stored()).toEqual(before)
    await recordNumbers(audit, 11, 11)
    await until(() => channel.accepted().includes(11))
    expect(channel.accepted()).toEqual([...numbers(1, 10), 1, 11])
  })

  it('runs without the actor of the call that created it', async () => {
    const actors: unknown[] = []
    const channel = recordingChannel(() => actors.push(currentActor()))
    const audit = open({ channels: { search: channel } })
    await until(async () => (await world.store.readStates('lease:', { limit: 1 })).length === 1)
    await withActor('ann', () =>
      audit.subscriptions.create({ name: 'numbers', channel: 'search', filter: NUMBERS }),
    )
    await recordNumbers(audit, 1, 1)
    await until(() => channel.accepted().length === 1)
    expect(actors).toEqual([undefined])
    expect(await recorded(audit, 'api:subscriptions:')).toMatchObject([
      {
        type: 'api:subscriptions:create',
        username: 'ann',
        attributes: { subscription: 'numbers' },
      },
    ])
  })
})

describe('a delivery that fails', () => {
  it('is repeated with the same events and the same id, and is recorded once', async () => {
    let failures = 3
    const channel = recordingChannel(() => {
      if (failures-- > 0) throw new Error('index is down')
    })
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 1, 2)
    await until(() => channel.deliveries.length === 2)
    await recordNumbers(audit, 3, 3)
    await until(() => channel.accepted().length === 3)
    const [first, second, third, fourth, last] = channel.deliveries
    for (const retry of [second, third, fourth])
      expect([retry!.id, retry!.numbers]).toEqual([first!.id, first!.numbers])
    expect(channel.deliveries.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 1])
    expect(last!.numbers).toEqual([3])
    expect(await recorded(audit, 'api:event_')).toMatchObject([
      {
        type: 'api:event_subscriber:error',
        attributes: {
          subscription: 'numbers',
          channel: 'search',
          error: 'index is down',
          attempt: 1,
        },
      },
    ])
  })

  it('does not stop other subscriptions', async () => {
    const [good, bad] = [recordingChannel(), recordingChannel(busy)]
    const audit = open({
      channels: { good, bad },
      subscriptions: {
        one: { channel: 'bad', filter: NUMBERS },
        two: { channel: 'good', filter: NUMBERS },
      },
    })
    await recordNumbers(audit, 1, 300)
    await until(() => good.accepted().length === 300)
    expect(bad.accepted()).toEqual([])
    expect(await audit.subscriptions.status()).toMatchObject([
      { name: 'one', state: 'failing', delivered: 0, last_error: { kind: 'network' } },
      { name: 'two', state: 'live', delivered: 300, lag_ms: 0, last_error: null },
    ])
  })

  it('parks exactly the events that the receiver permanently refuses, and delivers all others in order', async () => {
    const poison = [7, 8, 60, 113]
    const channel = recordingChannel(({ numbers: given }) => {
      if (given.some((n) => poison.includes(n as number)))
        throw new DeliveryError('status', 'unprocessable', { status: 422 })
    })
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 1, 150)
    await until(() => channel.accepted().length === 146)
    expect(channel.accepted()).toEqual(numbers(1, 150).filter((n) => !poison.includes(n)))
    const { id } = (await audit.subscriptions.list())[0]!
    const parked = await audit.subscriptions.parked(id)
    const events = await Promise.all(parked.map(({ event_id }) => audit.get(event_id)))
    expect(events.map((event) => event!.attributes['n'])).toEqual(poison)
    expect(parked[0]).toMatchObject({
      attempts: 3,
      error: 'unprocessable',
      last_error: { kind: 'status', status: 422 },
    })
    expect(await audit.subscriptions.status()).toMatchObject([{ parked: 4, delivered: 146 }])
    expect(await recorded(audit, 'api:event_processor:error')).toHaveLength(1)
  })

  it('holds a refused event and all later ones if it must not be parked', async () => {
    const channel = recordingChannel(({ numbers: given }) => {
      if (given.includes(3)) throw new DeliveryError('status', 'no', { status: 400 })
    })
    const audit = open(numbersTo(channel, { whenStuck: 'hold' }))
    await recordNumbers(audit, 1, 5)
    await until(
      () => channel.deliveries.filter((one) => one.numbers[0] === 3).length >= 12,
      8_000_000,
      LONG_STEP_MS,
    )
    expect(channel.accepted()).toEqual([1, 2])
    expect(await audit.subscriptions.status()).toMatchObject([{ parked: 0, state: 'failing' }])
  })

  it('parks an event that makes the receiver fail while it accepts others', async () => {
    const channel = recordingChannel(({ numbers: given }) => {
      if (given.includes(3)) throw new DeliveryError('status', 'crashed', { status: 500 })
    })
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 1, 150)
    await until(() => channel.accepted().includes(150), 4_000_000, LONG_STEP_MS)
    expect([...new Set(channel.accepted())]).toHaveLength(149)
    const { id } = (await audit.subscriptions.list())[0]!
    const parked = await audit.subscriptions.parked(id)
    expect(await audit.get(parked[0]!.event_id)).toMatchObject({ attributes: { n: 3 } })
    expect(parked).toHaveLength(1)
  })

  it('delivers the probe, which shows that the receiver accepts other events, only once', async () => {
    const answer = ({ numbers: given }: { readonly numbers: readonly unknown[] }): void => {
      if (given.includes(3)) throw new DeliveryError('status', 'crashed', { status: 500 })
    }
    const channel = recordingChannel(answer, { batch: { maxEvents: 1 } })
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 1, 6)
    await until(() => channel.accepted().includes(6), 4_000_000, LONG_STEP_MS)
    expect(channel.accepted()).toEqual([1, 2, 4, 5, 6])
  })

  it('parks nothing in an outage of any length', async () => {
    let isDown = true
    const channel = recordingChannel(() => {
      if (isDown) busy()
    })
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 1, 150)
    await until(
      () => channel.deliveries.some(({ attempt }) => attempt === 13),
      8_000_000,
      LONG_STEP_MS,
    )
    expect(await audit.subscriptions.status()).toMatchObject([{ parked: 0, delivered: 0 }])
    isDown = false
    await until(() => channel.accepted().length >= 150, 2_000_000, LONG_STEP_MS)
    expect(channel.accepted()).toEqual(numbers(1, 150))
  })
})

describe('events about failed deliveries', () => {
  it('are not delivered to their own subscription, and two subscriptions do not report each other endlessly', async () => {
    const channels = { one: recordingChannel(busy), two: recordingChannel(busy) }
    const types = {
      'api:event_subscriber:error': { description: 'a function failed' },
    }
    // The throttle of the type is removed, because it would hide a loop.
    const audit = open(
      { channels, subscriptions: { one: { channel: 'one' }, two: { channel: 'two' } } },
      types,
    )
    await recordNumbers(audit, 1, 20)
    await advance(120_000)
    const before = (await recorded(audit, 'api:event_')).length
    expect(before).toBe(2)
    await advance(600_000)
    expect(await recorded(audit, 'api:event_')).toHaveLength(before)
    const own = await Promise.all(
      Object.values(channels).map(async ({ deliveries }, index) => {
        const { id } = (await audit.subscriptions.list())[index]!
        return deliveries.flatMap(({ events }) =>
          events.filter(({ attributes }) => attributes['subscription_id'] === id),
        )
      }),
    )
    expect(own).toEqual([[], []])
  })

  it('are throttled to one an hour', async () => {
    const fails = recordingChannel(busy, { batch: { maxEvents: 1 } })
    const audit = open({
      channels: { fails },
      subscriptions: Object.fromEntries(
        Array.from({ length: 5 }, (_, n) => [`s${n}`, { channel: 'fails', filter: NUMBERS }]),
      ),
    })
    await recordNumbers(audit, 1, 1)
    await until(
      () => new Set(fails.deliveries.map(({ subscription }) => subscription.name)).size === 5,
    )
    await advance(1000)
    expect(await recorded(audit, 'api:event_')).toHaveLength(1)
  })
})

describe('while the store does not store cursors', () => {
  it('deliveries wait after 250 ms of work, and go on once it does', async () => {
    const faulty = faultyStore(shared(world.store))
    const channel = recordingChannel(() => new Promise((resolve) => setTimeout(resolve, 20)), {
      batch: { maxEvents: 1 },
    })
    const audit = open(numbersTo(channel), {}, faulty)
    await recordNumbers(audit, 1, 100)
    await until(() => channel.accepted().length > 0)
    faulty.hang('updateStates')
    await advance(1500)
    const delivered = channel.accepted().length
    expect(delivered).toBeLessThan(40)
    await advance(1000)
    expect(channel.accepted()).toHaveLength(delivered)
    faulty.heal()
    await until(() => channel.accepted().length === 100)
    expect(channel.accepted()).toEqual(numbers(1, 100))
  })
})

describe('a paused subscription', () => {
  it('delivers nothing, and later all events after its cursor', async () => {
    const channel = recordingChannel()
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 1, 5)
    await until(() => channel.accepted().length === 5)
    const { id } = (await audit.subscriptions.list())[0]!
    expect(await audit.subscriptions.pause(id)).toMatchObject({ id, paused: true })
    await recordNumbers(audit, 6, 10)
    await advance(10_000)
    expect(channel.accepted()).toEqual(numbers(1, 5))
    expect(await audit.subscriptions.status()).toMatchObject([{ state: 'paused' }])
    await audit.subscriptions.resume(id)
    await until(() => channel.accepted().length === 10)
    expect(channel.accepted()).toEqual(numbers(1, 10))
  })

  it('is paused by another process too', async () => {
    const channel = recordingChannel()
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 1, 1)
    await until(() => channel.accepted().length === 1)
    const manager = open()
    const { id } = (await manager.subscriptions.list())[0]!
    await manager.subscriptions.pause(id)
    await advance(3000)
    await recordNumbers(audit, 2, 2)
    await advance(10_000)
    expect(channel.accepted()).toEqual([1])
  })
})

describe('replay', () => {
  it('delivers the events again with the same ids', async () => {
    const channel = recordingChannel(undefined, { batch: { maxEvents: 1 } })
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 1, 6)
    await until(() => channel.accepted().length === 6)
    const ids = channel.deliveries.map((delivery) => delivery.id)
    const { id } = (await audit.subscriptions.list())[0]!
    const from = channel.deliveries[3]!.events[0]!.created_at
    await audit.subscriptions.replay(id, { from })
    await until(() => channel.accepted().length === 9)
    await advance(2000)
    expect(channel.deliveries.map((delivery) => delivery.id)).toEqual([...ids, ...ids.slice(3)])
  })

  it('works from another process, also while the deliverer is idle', async () => {
    const channel = recordingChannel()
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 1, 3)
    await until(() => channel.accepted().length === 3)
    const manager = open()
    const { id } = (await manager.subscriptions.list())[0]!
    await manager.subscriptions.replay(id, { from: 'beginning' })
    await until(() => channel.accepted().length === 6)
    expect(channel.accepted()).toEqual([1, 2, 3, 1, 2, 3])
  })
})

describe('parked events', () => {
  it('are delivered again by redrive, or discarded', async () => {
    let isBroken = true
    const channel = recordingChannel(
      ({ numbers: given }) => {
        if (isBroken && (given[0] as number) % 2 === 0)
          throw new DeliveryError('rendering', 'no template', { permanent: true })
      },
      { batch: { maxEvents: 1 } },
    )
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 1, 8)
    await until(() => channel.accepted().length === 4)
    const { id } = (await audit.subscriptions.list())[0]!
    await until(async () => (await audit.subscriptions.parked(id)).length === 4)
    const parked = await audit.subscriptions.parked(id)
    expect(await audit.subscriptions.parked(id, { limit: 2 })).toEqual(parked.slice(0, 2))
    expect(await audit.subscriptions.parked(id, { after: parked[1]!.created_at })).toEqual(
      parked.slice(2),
    )

    const first = parked[0]!.event_id
    expect(await audit.subscriptions.redrive(id, [first])).toEqual({
      delivered: 0,
      failed: 1,
      missed: 0,
    })
    expect((await audit.subscriptions.parked(id))[0]).toMatchObject({
      event_id: first,
      attempts: 4,
    })

    isBroken = false
    await world.store.remove([parked[1]!.event_id])
    const chosen = parked.slice(0, 3).map(({ event_id }) => event_id)
    expect(await audit.subscriptions.redrive(id, chosen)).toEqual({
      delivered: 2,
      failed: 0,
      missed: 1,
    })
    expect(channel.accepted()).toEqual([1, 3, 5, 7, 2, 6])
    expect(await audit.subscriptions.status()).toMatchObject([{ parked: 1 }])
    expect(await audit.subscriptions.discard(id, 'all')).toBe(1)
    expect(await audit.subscriptions.parked(id)).toEqual([])
    expect(await audit.subscriptions.status()).toMatchObject([{ parked: 0 }])
    expect(await world.store.readStates('parked', { limit: 10 })).toEqual([])
  })
})

describe('a redrive under way', () => {
  /** Redrives two events. Calls `happen` while the first one is delivered. */
  async function redriveTwo(happen: (audit: AuditLog, id: string) => Promise<unknown>) {
    let isBroken = true
    let happened: Promise<unknown> | undefined
    const channel = recordingChannel(
      () => {
        if (isBroken) throw new DeliveryError('rendering', 'no template', { permanent: true })
        happened ??= happen(audit, id)
        return happened
      },
      { batch: { maxEvents: 1 } },
    )
    const audit = open({
      channels: { search: channel },
      visible: (owner) => (rights.has(owner) ? 'all' : { username_eq: 'nobody' }),
    })
    const definition = { name: 'numbers', channel: 'search', filter: NUMBERS, owner: 'ann' }
    const { id } = await audit.subscriptions.create(definition)
    await recordNumbers(audit, 1, 2)
    await until(async () => (await audit.subscriptions.parked(id)).length === 2)
    isBroken = false
    return { audit, id, channel, redriven: audit.subscriptions.redrive(id, 'all') }
  }
  let rights: Set<string>
  beforeEach(() => (rights = new Set(['ann'])))

  it('does not deliver an event that is discarded during the call', async () => {
    const { channel, redriven } = await redriveTwo(async (audit, id) => {
      const [, second] = await audit.subscriptions.parked(id)
      await audit.subscriptions.discard(id, [second!.event_id])
    })
    expect(await redriven).toEqual({ delivered: 1, failed: 0, missed: 0 })
    expect(channel.accepted()).toEqual([1])
  })

  it('does not deliver an event that the owner may no longer see', async () => {
    const { channel, redriven } = await redriveTwo(async () => rights.clear())
    expect(await redriven).toEqual({ delivered: 1, failed: 0, missed: 1 })
    expect(channel.accepted()).toEqual([1])
  })

  it('ends when the channel is disabled, and records the number of delivered events', async () => {
    const { audit, id, channel, redriven } = await redriveTwo(async (log) => {
      const [search] = await log.subscriptions.channels.list()
      await log.subscriptions.channels.disable(search!.id)
    })
    await expect(redriven).rejects.toMatchObject({ code: 'CHANNEL_UNAVAILABLE' })
    expect(channel.accepted()).toEqual([1])
    expect(await audit.subscriptions.parked(id)).toHaveLength(1)
    expect(await recorded(audit, 'api:subscriptions:redrive')).toMatchObject([
      { attributes: { delivered: 1, failed: 0, missed: 0 } },
    ])
  })
})

describe('the number of parked events', () => {
  it('stays right when events are parked again after a replay, and when two calls discard them', async () => {
    const channel = recordingChannel(
      failing(new DeliveryError('rendering', 'no template', { permanent: true })),
      { batch: { maxEvents: 1 } },
    )
    const audit = open(numbersTo(channel))
    const parked = async () => (await audit.subscriptions.status())[0]!.parked
    await recordNumbers(audit, 1, 5)
    await until(async () => (await parked()) === 5)
    const { id } = (await audit.subscriptions.list())[0]!
    const attempts = channel.deliveries.length
    await audit.subscriptions.replay(id, { from: 'beginning' })
    await until(() => channel.deliveries.length === 2 * attempts)
    await advance(1000)
    expect(await parked()).toBe(5)
    const some = (await audit.subscriptions.parked(id, { limit: 3 })).map((one) => one.event_id)
    await Promise.all([
      audit.subscriptions.discard(id, some),
      audit.subscriptions.discard(id, some.slice(1)),
    ])
    expect(await parked()).toBe(2)
  })
})

describe('when the log is closed', () => {
  it('deliveries end, and the next process continues after them', async () => {
    const first = recordingChannel(undefined, { batch: { maxEvents: 10 } })
    const audit = open(numbersTo(first))
    await recordNumbers(audit, 1, 30)
    await until(() => first.accepted().length >= 30)
    await recordNumbers(audit, 31, 40)
    await settled(audit.close())
    const second = recordingChannel()
    const next = open(numbersTo(second))
    await recordNumbers(next, 41, 45)
    await until(() => second.accepted().includes(45), 10_000)
    expect([...first.accepted(), ...second.accepted()]).toEqual(numbers(1, 45))
  })

  it('a delivery that is accepted during the closing is not repeated', async () => {
    const first = recordingChannel(() => new Promise((resolve) => setTimeout(resolve, 3000)))
    const audit = open(numbersTo(first))
    await recordNumbers(audit, 1, 1)
    await until(() => first.deliveries.length === 1)
    await settled(audit.close())
    const second = recordingChannel()
    const next = open(numbersTo(second))
    await recordNumbers(next, 2, 2)
    await until(() => second.accepted().length > 0)
    expect([first.accepted(), second.accepted()]).toEqual([[1], [2]])
  })

  it('a delivery gets an aborted signal, and is not awaited for more than 5 seconds', async () => {
    let signal: AbortSignal | undefined
    const channel = recordingChannel((delivery) => {
      signal = delivery.signal
      return new Promise(() => {})
    })
    const audit = open(numbersTo(channel))
    await recordNumbers(audit, 1, 1)
    await until(() => signal)
    const closing = audit.close()
    await turns()
    expect(signal!.aborted).toBe(true)
    await settled(closing, 7000)
    await expect(audit.subscriptions.list()).rejects.toMatchObject({ code: 'CLOSED' })
  })
})
