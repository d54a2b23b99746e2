import type { AuditLog, Channel, EventStore } from 'daybook'
import { faultyStore, type FaultyStore } from 'daybook/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { failing } from '../fake-store.js'
import {
  advance,
  type Delivery,
  NUMBERS,
  numbers,
  recordingChannel,
  recordNumbers,
  settled,
  shared,
  until,
  useWorld,
} from './world.js'

const subscriptions = { numbers: { channel: 'search', filter: NUMBERS } }

const world = useWorld()
let writer: AuditLog
const faulty: FaultyStore[] = []

const open = (channels: Record<string, Channel>, on?: EventStore): AuditLog =>
  world.open({ channels, subscriptions }, {}, on)

/** A process that can be cut off from the store. */
function openFaulty(channels: Record<string, Channel>): FaultyStore {
  const cut = faultyStore(shared(world.store))
  faulty.push(cut)
  open(channels, cut)
  return cut
}

const METHODS = ['updateState', 'updateStates', 'readStates', 'list', 'append'] as const
const cutOff = (from: FaultyStore): void => {
  for (const method of METHODS) from.hang(method)
}

/** A process with the first channel, whose connection can be cut, and a waiting process with the second channel. */
async function openBoth(first: Channel, second: Channel): Promise<FaultyStore> {
  const cut = openFaulty({ search: first })
  await until(isRunning)
  open({ search: second })
  await advance(5000)
  return cut
}

const isRunning = async (): Promise<boolean> =>
  (await writer.subscriptions.status()).some(({ cursor }) => cursor !== '')

beforeEach(() => {
  writer = world.open()
})
afterEach(() => {
  for (const cut of faulty.splice(0)) cut.heal()
})

describe('of two processes with the same channel', () => {
  it('only one delivers', async () => {
    const [first, second] = [recordingChannel(), recordingChannel()]
    open({ search: first })
    await until(isRunning)
    open({ search: second })
    await advance(5000)
    await recordNumbers(writer, 1, 50)
    await until(() => first.accepted().length + second.accepted().length === 50)
    await advance(20_000)
    expect([first.accepted(), second.accepted()]).toEqual([numbers(1, 50), []])
  })

  it('each delivers to half of the channels', async () => {
    const names = ['a', 'b', 'c', 'd']
    const channelsOf = () =>
      Object.fromEntries([...names, 'search'].map((name) => [name, recordingChannel()]))
    const [first, second] = [channelsOf(), channelsOf()]
    open(first)
    open(second)
    await advance(15_000)
    for (const name of names)
      await writer.subscriptions.create({ name, channel: name, filter: NUMBERS })
    await recordNumbers(writer, 1, 3)
    await advance(10_000)
    const usedOf = (channels: ReturnType<typeof channelsOf>): string[] =>
      Object.keys(channels).filter((name) => channels[name]!.accepted().length > 0)
    const [used, others] = [usedOf(first), usedOf(second)]
    expect([...used, ...others].toSorted()).toEqual([...names, 'search'].toSorted())
    expect(Math.abs(used.length - others.length)).toBe(1)
  })

  it.each([0, 500, 1000, 1500])(
    'one takes over within 7 seconds after the last heartbeat of the other (%d ms later)',
    async (ms) => {
      const [first, second] = [recordingChannel(), recordingChannel()]
      const cut = openFaulty({ search: first })
      await until(isRunning)
      await advance(ms)
      open({ search: second })
      await advance(5000)
      cutOff(cut)
      const before = performance.now()
      await recordNumbers(writer, 1, 10)
      await until(() => second.accepted().length > 0, 7000)
      expect(performance.now() - before).toBeGreaterThan(3000)
      expect(second.accepted()).toEqual(numbers(1, 10))
      expect(first.accepted()).toEqual([])
    },
  )

  it('a process that cannot reach the store stops delivering, and the other one delivers the rest', async () => {
    const [first, second] = [recordingChannel(), recordingChannel()]
    const cut = await openBoth(first, second)
    await recordNumbers(writer, 1, 20)
    await until(() => first.accepted().length === 20)
    await advance(1000)
    cutOff(cut)
    await recordNumbers(writer, 21, 30)
    await until(() => second.accepted().length > 0, 9000)
    await recordNumbers(writer, 31, 40)
    await until(() => second.accepted().includes(40))
    expect(second.accepted()).toEqual(numbers(21, 40))
    cut.heal()
    await advance(30_000)
    expect(first.accepted()).toEqual(numbers(1, 20))
    await recordNumbers(writer, 41, 45)
    await advance(5000)
    expect([...first.accepted(), ...second.accepted()]).toEqual(numbers(1, 45))
  })

  it('a suspended process cannot move the cursor back when it resumes', async () => {
    let answer = (): void => {}
    const first = recordingChannel(
      (delivery: Delivery) =>
        delivery.numbers.includes(10) && new Promise<void>((resolve) => (answer = resolve)),
      { batch: { maxEvents: 10 } },
    )
    const second = recordingChannel()
    const cut = await openBoth(first, second)
    await recordNumbers(writer, 1, 10)
    await until(() => first.deliveries.some((delivery) => delivery.numbers.includes(10)))
    cutOff(cut)
    await recordNumbers(writer, 11, 30)
    await until(() => second.accepted().includes(30), 15_000)
    const [before] = await writer.subscriptions.status()
    // The delivery succeeds only now.
    answer()
    cut.heal()
    await advance(10_000)
    const [after] = await writer.subscriptions.status()
    expect(after!.cursor >= before!.cursor).toBe(true)
    await recordNumbers(writer, 31, 31)
    await advance(10_000)
    expect([...first.accepted(), ...second.accepted()].filter((n) => n === 31)).toEqual([31])
    expect(new Set([...first.accepted(), ...second.accepted()])).toEqual(new Set(numbers(1, 31)))
  })

  it('a process continues with a failed batch of the other: the same events, the next attempt', async () => {
    const refuse = failing(new Error('index is down'))
    const first = recordingChannel(refuse, { batch: { maxEvents: 5 } })
    const second = recordingChannel()
    const cut = await openBoth(first, second)
    await recordNumbers(writer, 1, 3)
    await until(() => first.deliveries.length >= 2)
    await advance(500)
    cutOff(cut)
    await recordNumbers(writer, 4, 8)
    await until(() => second.accepted().includes(8), 30_000)
    const failed = first.deliveries.at(-1)!
    const [retry] = second.deliveries
    expect([retry!.id, retry!.numbers]).toEqual([failed.id, failed.numbers])
    expect(retry!.attempt).toBeGreaterThan(1)
    expect(second.accepted()).toEqual(numbers(1, 8))
  })
})

it('a channel of a process that ended while its clock was ahead is taken over', async () => {
  const left = { renewals: 7, channels: [{ name: 'search' }] }
  // The heartbeat expires once the clock reaches its old time again.
  await world.store.updateState('deliverer:ended', () => left, { keepFor: 400 * 86_400_000_000 })
  await world.store.updateState('lease:search', () => ({ holder: 'ended', epoch: 3 }))
  const channel = recordingChannel()
  open({ search: channel })
  await advance(10_000)
  await recordNumbers(writer, 1, 3)
  await until(() => channel.accepted().length === 3)
})

describe('a process without the channel in its code', () => {
  it('does not deliver, and the status is unowned while no other process delivers', async () => {
    const channel = recordingChannel()
    const audit = open({ search: channel })
    await until(isRunning)
    await settled(audit.close())
    const [status] = await writer.subscriptions.status()
    expect(status).toMatchObject({ name: 'numbers', state: 'unowned' })
    await recordNumbers(writer, 1, 1)
    const next = recordingChannel()
    open({ search: next })
    await until(() => next.accepted().length === 1)
    expect(next.accepted()).toEqual([1])
  })
})

describe('while the store is unreachable', () => {
  it('nothing is lost, and the deliveries continue when it is back', async () => {
    const channel = recordingChannel(undefined, { batch: { maxEvents: 5 } })
    const cut = openFaulty({ search: channel })
    await until(isRunning)
    await recordNumbers(writer, 1, 10)
    await until(() => channel.accepted().length === 10)
    for (const method of METHODS) cut.fail(method)
    await recordNumbers(writer, 11, 20)
    await advance(60_000)
    cut.heal()
    await until(() => channel.accepted().includes(20), 20_000)
    expect([...new Set(channel.accepted())]).toEqual(numbers(1, 20))
  })
})
