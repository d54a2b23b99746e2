import { type AuditLog, type Clock, DeliveryError, type EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it } from 'vitest'
import { failing } from '../fake-store.js'
import {
  advance,
  numbers,
  numbersTo,
  type RecordingChannel,
  recordingChannel,
  recordNumbers,
  shared,
  until,
  useWorld,
} from './world.js'

/*
 * A subscription reads from an old primary that continues after a standby has taken over, and then from the new
 * primary. Cursors are always stored on the new server. A checkpoint that the old server did not store is repeated,
 * so it may reach the new one.
 */

const HOUR = 3_600_000_000

const { open } = useWorld()

interface Forked {
  readonly old: AuditLog
  readonly next: AuditLog
  /** Copies the events of the old server to the new one. From now on each server has separate events. */
  diverge(): Promise<void>
  takeOver(): void
  /** Opens a log that delivers to the channel. */
  deliverTo(channel: RecordingChannel): AuditLog
}

/** `ahead`: how far the clock of the new server is ahead from `diverge` on, in microseconds. */
function fork(ahead: number): Forked {
  const offsets = { old: 0, next: 0 }
  const clockOf =
    (server: keyof typeof offsets): Clock =>
    () =>
      Date.now() * 1000 + offsets[server]
  const stores = [
    memoryStore({ clock: clockOf('old') }),
    memoryStore({ clock: clockOf('next') }),
  ] as const
  let current: EventStore = stores[0]
  const reads: EventStore = {
    ...stores[1],
    list: (...call) => current.list(...call),
    get: (...call) => current.get(...call),
    openEvents: (...call) => current.openEvents(...call),
    consistencyToken: (options) => current.consistencyToken!(options),
    watch(hint) {
      const stops = stores.map((store) => store.watch(hint))
      return () => stops.forEach((stop) => stop())
    },
  }
  const [old, next] = [open({}, {}, shared(stores[0])), open({}, {}, shared(stores[1]))]
  return {
    old,
    next,
    async diverge() {
      const { events } = await old.list('filter[s]=created_at asc')
      await next.importEvents(events)
      offsets.old = HOUR
      offsets.next = HOUR + ahead
    },
    takeOver: () => void (current = stores[1]),
    deliverTo: (channel) => open(numbersTo(channel), {}, shared(reads)),
  }
}

/** Delivers the events 1 and 2, which both servers have. Then the old server gets 101 and 102, which will be lost. */
async function deliverUntilFork(
  { old, diverge, deliverTo }: Forked,
  channel: RecordingChannel,
): Promise<void> {
  deliverTo(channel)
  await advance(2000)
  await recordNumbers(old, 1, 2)
  await until(() => channel.accepted().length === 2)
  await diverge()
  await recordNumbers(old, 101, 102)
}

describe.each([
  ['later', HOUR],
  ['earlier', -HOUR / 2],
])('a subscription of a log that has lost events, and whose next events are %s', (_, ahead) => {
  it('delivers the events after the last existing event', async () => {
    const forked = fork(ahead)
    const { next, takeOver } = forked
    const channel = recordingChannel()
    await deliverUntilFork(forked, channel)
    await until(() => channel.accepted().length === 4)
    await advance(2000)
    takeOver()
    await recordNumbers(next, 3, 4)
    await until(() => channel.accepted().length === 6)
    await advance(10_000)
    await recordNumbers(next, 5, 5)
    await until(() => channel.accepted().length === 7)
    await advance(10_000)
    expect(channel.accepted()).toEqual([1, 2, 101, 102, ...numbers(3, 5)])
  })

  it.each([
    ['accepted', () => {}],
    ['refused', failing(new DeliveryError('status', 'unavailable', { status: 503 }))],
  ])('continues after a delivery of lost events that is %s later', async (__, end) => {
    const forked = fork(ahead)
    const { next, takeOver } = forked
    let isOver = false
    const channel = recordingChannel(async ({ numbers: some }) => {
      if (!some.includes(101)) return
      await until(() => isOver)
      end()
    })
    await deliverUntilFork(forked, channel)
    await until(() => channel.deliveries.some((delivery) => delivery.numbers.includes(101)))
    takeOver()
    await recordNumbers(next, 3, 4)
    await advance(5000)
    isOver = true
    await until(() => channel.accepted().includes(4))
    await advance(10_000)
    const left = channel.accepted().filter((n) => Number(n) < 100)
    expect(left).toEqual(numbers(1, 4))
  })
})
