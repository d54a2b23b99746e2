import type http from 'node:http'
import { AuditLog, type AuditEvent } from 'daybook'
import { webhook } from 'daybook/channels'
import { memoryStore } from 'daybook/memory'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { closeReceivers, receive } from '../support/receiver.js'
import {
  advance,
  fakeTime,
  numbers,
  recordNumbers,
  settled,
  until,
} from '../unit/subscriptions/world.js'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const EVENTS = 40
const POISON = [9, 10, 31, 38]
/** Some seconds of the receiver; requests take real time, and the timers of deliveries faked one. */
const LONG_MS = 20_000_000

/** What the receiver does with a request before it looks at the events; in turn, so that each is met. */
const FAULTS: readonly ((response: http.ServerResponse) => void)[] = [
  // Hangs until the webhook gives up.
  () => {},
  (response) => response.destroy(),
  (response) => response.writeHead(429, { 'retry-after': '7' }).end(),
  (response) => response.writeHead(503).end('x'.repeat(100_000)),
  (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
  (response) => response.writeHead(401).end(),
  (response) => response.writeHead(200, { 'content-length': 10 }).flushHeaders(),
]

interface FaultyReceiver {
  readonly url: string
  /** The numbers of the accepted events. */
  readonly accepted: number[]
  /** The receiver refuses bodies with one of these. */
  readonly poison: Set<number>
  /** How often each fault has happened. */
  readonly met: number[]
}

/** Fails every second request in one of its ways. */
async function startReceiver(): Promise<FaultyReceiver> {
  const accepted: number[] = []
  const poison = new Set(POISON)
  const met = FAULTS.map(() => 0)
  let requests = 0
  const { url } = await receive(({ body }, response) => {
    const turn = requests++
    if (turn % 2 === 0) {
      const fault = (turn / 2) % FAULTS.length
      met[fault]! += 1
      FAULTS[fault]!(response)
      return
    }
    const { data } = JSON.parse(body) as { readonly data: readonly AuditEvent[] }
    const given = data.map(({ attributes }) => attributes['n'] as number)
    const isRefused = given.some((n) => poison.has(n))
    if (!isRefused) accepted.push(...given)
    response.writeHead(isRefused ? 400 : 204).end()
  })
  return { url, accepted, poison, met }
}

let receiver: FaultyReceiver
let audit: AuditLog

beforeEach(async () => {
  receiver = await startReceiver()
  fakeTime()
})
afterEach(async () => {
  await settled(audit.close())
  vi.useRealTimers()
  await closeReceivers()
})

/** Records events for the receiver; returns the id of the subscription. */
async function deliver(whenStuck: 'park' | 'hold'): Promise<string> {
  const hook = webhook({ url: receiver.url, secret: SECRET, batch: { maxEvents: 8 } })
  const numbers = { channel: 'hook', filter: 'filter[type_eq]=test:number', whenStuck } as const
  audit = new AuditLog({
    store: memoryStore(),
    types: {},
    subscriptions: { channels: { hook }, subscriptions: { numbers } },
  })
  await recordNumbers(audit, 1, EVENTS)
  let ids: readonly string[] = []
  await until(async () => {
    ids = (await audit.subscriptions.list()).map(({ id }) => id)
    return ids.length === 1
  })
  return ids[0]!
}

const arrived = (): number[] => [...new Set(receiver.accepted)]

describe('a webhook to a receiver that hangs, resets, limits and refuses', () => {
  it('parks exactly the refused events, delivers the others in order, and the parked ones after a redrive', async () => {
    const id = await deliver('park')
    const expected = numbers(1, EVENTS).filter((n) => !POISON.includes(n))
    await until(() => arrived().length === expected.length, LONG_MS)
    await advance(60_000)
    expect(arrived()).toEqual(expected)
    const parked = await audit.subscriptions.parked(id)
    const events = await Promise.all(parked.map(({ event_id }) => audit.get(event_id)))
    expect(events.map((event) => event!.attributes['n'])).toEqual(POISON)
    expect(parked.map(({ last_error }) => last_error.status)).toEqual(POISON.map(() => 400))
    expect(Math.min(...receiver.met)).toBeGreaterThan(0)

    receiver.poison.clear()
    await until(async () => {
      let isOver = false
      void audit.subscriptions.redrive(id, 'all').finally(() => (isOver = true))
      await until(() => isOver, LONG_MS)
      return (await audit.subscriptions.parked(id)).length === 0
    }, LONG_MS)
    const redriven = arrived().slice(expected.length)
    expect(redriven.toSorted((a, b) => a - b)).toEqual(POISON)
  })

  it('delivers everything in order if the subscription holds, once the receiver accepts it', async () => {
    const id = await deliver('hold')
    const [first] = POISON as [number]
    await until(() => arrived().length === first - 1, LONG_MS)
    await advance(60_000)
    expect(arrived()).toEqual(numbers(1, first - 1))
    expect(await audit.subscriptions.parked(id)).toEqual([])

    receiver.poison.clear()
    await until(() => arrived().length === EVENTS, LONG_MS)
    expect(arrived()).toEqual(numbers(1, EVENTS))
  })
})
