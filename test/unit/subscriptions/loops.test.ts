import { type AuditLog, DeliveryError } from 'daybook'
import { describe, expect, it } from 'vitest'
import { failing } from '../fake-store.js'
import {
  advance,
  type Delivery,
  numbersTo,
  recorded,
  recordingChannel,
  recordNumbers,
  type RecordingChannel,
  until,
  useWorld,
} from './world.js'

const EVENTS = 300
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const STEP_MS = 500

/** The types of outcomes without their throttles, which would hide a loop. */
const UNTHROTTLED = Object.fromEntries(
  ['api:event_subscriber:error', 'api:notification:error', 'api:event_processor:error'].map(
    (type) => [type, { description: 'a delivery failed' }],
  ),
)

const { open } = useWorld()
let audit: AuditLog

/** Opens two subscriptions to all events, each with a separate channel. Returns their events. */
async function openBoth(
  answer: (delivery: Delivery) => unknown,
  options: Omit<RecordingChannel, 'deliver' | 'deliveries' | 'accepted'>,
): Promise<readonly RecordingChannel[]> {
  const channels = {
    one: recordingChannel(answer, options),
    two: recordingChannel(answer, options),
  }
  const subscriptions = { one: { channel: 'one' }, two: { channel: 'two' } }
  audit = open({ channels, subscriptions }, UNTHROTTLED)
  await recordNumbers(audit, 1, EVENTS)
  return Object.values(channels)
}

const isNumber = (n: unknown): boolean => n !== undefined

const outcomes = async (): Promise<number> => {
  const { total } = await audit.count(
    Object.keys(UNTHROTTLED)
      .map((type) => `filter[type_in][]=${type}`)
      .join('&'),
  )
  return total
}

describe('two subscriptions to all events with failing deliveries', () => {
  it('record one outcome each in an outage, and no further outcome during an hour of retries', async () => {
    const both = await openBoth(failing(new DeliveryError('network', 'connection refused')), {
      kind: 'email',
      batch: { maxEvents: 50 },
    })
    await advance(MINUTE_MS)
    expect(await outcomes()).toBe(2)
    const attempts = both.map(({ deliveries }) => deliveries.length)
    await advance(HOUR_MS, STEP_MS)
    expect(await outcomes()).toBe(2)
    for (const [i, { deliveries }] of both.entries())
      expect(deliveries.length).toBeGreaterThan(attempts[i]! + 3)
  })

  it('record at most one outcome for each event and subscription if the first attempt of each batch fails', async () => {
    const both = await openBoth(
      ({ attempt }) => {
        if (attempt === 1) throw new DeliveryError('network', 'connection reset')
      },
      { batch: { maxEvents: 1 } },
    )
    const areDone = (): boolean =>
      both.every((channel) => channel.accepted().filter(isNumber).length === EVENTS)
    await until(areDone, HOUR_MS * 10, STEP_MS)
    const before = await outcomes()
    expect(before).toBe(2 * EVENTS)
    // Each subscription gets the outcomes of the other one. If these deliveries also fail, their outcomes are not
    // recorded.
    await advance(HOUR_MS, STEP_MS)
    expect(await outcomes()).toBe(before)
    for (const channel of both) expect(channel.accepted()).toHaveLength(2 * EVENTS)
  })
})

it('the failure of a batch is recorded once, and not again for its parts', async () => {
  const poison = new Set<unknown>([7, 8, 23, 40])
  const channel = recordingChannel(
    ({ numbers }) => {
      if (numbers.some((n) => poison.has(n)))
        throw new DeliveryError('status', 'unprocessable', { status: 422 })
    },
    { batch: { maxEvents: 50 } },
  )
  audit = open(numbersTo(channel), UNTHROTTLED)
  await recordNumbers(audit, 1, 50)
  await until(() => channel.accepted().length === 46)
  expect(channel.deliveries[0]!.numbers).toHaveLength(50)
  expect(await recorded(audit, 'api:event_subscriber:error')).toHaveLength(1)
  expect(await recorded(audit, 'api:event_processor:error')).toHaveLength(4)
})
