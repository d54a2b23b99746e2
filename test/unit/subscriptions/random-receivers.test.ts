import { type AuditLog, DeliveryError } from 'daybook'
import { describe, expect, it } from 'vitest'
import { randomOf } from '../../support/random.js'
import { failing } from '../fake-store.js'
import {
  advance,
  numbers,
  numbersTo,
  recordingChannel,
  recordNumbers,
  settled,
  until,
  useWorld,
} from './world.js'

const { open } = useWorld()
const EVENTS = 200

/** Faults of a receiver before it accepts a batch. */
const faults: readonly (() => unknown)[] = [
  failing(new DeliveryError('network', 'connection reset')),
  failing(new DeliveryError('timeout', 'no response in time')),
  failing(new DeliveryError('status', 'busy', { status: 429, retryAfterMs: 3000 })),
  failing(new DeliveryError('status', 'broken', { status: 502 })),
  failing(new Error('anything')),
  () => new Promise((resolve) => setTimeout(resolve, 2000)),
]

/** Delivers to a receiver that fails at random and always refuses the poison. */
async function deliver(seed: number, whenStuck: 'park' | 'hold') {
  const random = randomOf(seed)
  const poison = new Set(numbers(1, EVENTS).filter(() => random() < 0.03))
  const channel = recordingChannel(
    async (delivery) => {
      if (random() < 0.4) await faults[Math.floor(random() * faults.length)]!()
      if (delivery.numbers.some((n) => poison.has(n as number)))
        throw new DeliveryError('status', 'unprocessable', { status: 422 })
      // The events are accepted, but the answer is lost.
      if (random() < 0.1) {
        channel.accepted().push(...delivery.numbers)
        throw new DeliveryError('network', 'connection reset')
      }
    },
    { batch: { maxEvents: 1 + Math.floor(random() * 30) } },
  )
  const audit = open(numbersTo(channel, { whenStuck }))
  await recordNumbers(audit, 1, EVENTS)
  return { audit, channel, poison }
}

/** The receiver still fails at random, so some events need several attempts. */
async function redriveAll(audit: AuditLog, id: string): Promise<void> {
  for (let failed = 1; failed > 0;) {
    const result = await settled(audit.subscriptions.redrive(id, 'all'))
    failed = result.failed
  }
}

const firstOf = (accepted: readonly unknown[]): unknown[] => [...new Set(accepted)]

describe.each([1, 2])('with random faults of the receiver (seed %d)', (seed) => {
  it('exactly the refused events are parked, and the others delivered in order', async () => {
    const { audit, channel, poison } = await deliver(seed, 'park')
    const expected = numbers(1, EVENTS).filter((n) => !poison.has(n))
    await until(() => firstOf(channel.accepted()).length === expected.length, 20_000_000)
    await advance(60_000)
    expect(firstOf(channel.accepted())).toEqual(expected)
    const { id } = (await audit.subscriptions.list())[0]!
    const parked = await audit.subscriptions.parked(id)
    const events = await Promise.all(parked.map(({ event_id }) => audit.get(event_id)))
    expect(events.map((event) => event!.attributes['n'])).toEqual([...poison])
    expect(poison.size).toBeGreaterThan(0)
    expect(Math.max(...channel.deliveries.map(({ attempt }) => attempt))).toBeGreaterThan(1)

    const refused = [...poison]
    poison.clear()
    await redriveAll(audit, id)
    expect(await audit.subscriptions.parked(id)).toEqual([])
    const redriven = firstOf(channel.accepted()).slice(expected.length) as number[]
    expect(redriven.toSorted((a, b) => a - b)).toEqual(refused)
  })

  it('a subscription that holds stops at the first refused event, and keeps the order of all', async () => {
    const { channel, poison } = await deliver(seed, 'hold')
    const [first = EVENTS + 1] = poison
    await until(() => firstOf(channel.accepted()).length === first - 1, 20_000_000)
    await advance(60_000)
    expect(firstOf(channel.accepted())).toEqual(numbers(1, first - 1))

    poison.clear()
    await until(() => firstOf(channel.accepted()).length === EVENTS, 20_000_000)
    expect(firstOf(channel.accepted())).toEqual(numbers(1, EVENTS))
  })
})
