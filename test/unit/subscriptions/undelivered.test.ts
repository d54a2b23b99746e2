import { AuditLog, type CleaningRule, DeliveryError, type SubscriptionsOptions } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { failing } from '../fake-store.js'
import {
  advance,
  NUMBERS,
  numbers,
  recorded,
  recordingChannel,
  recordNumbers,
  settled,
  shared,
  until,
  useWorld,
} from './world.js'

const HOUR = 3_600_000_000
const DAY = 24 * HOUR

const clock = manualClock('2026-03-01T12:00:00Z')
const world = useWorld(() => memoryStore({ clock }))
let opened: AuditLog

afterEach(() => settled(opened.close()))

function openLog(
  rule: Partial<CleaningRule>,
  channel = recordingChannel(),
  visible?: SubscriptionsOptions['visible'],
): AuditLog {
  const rules = [{ target: 'events', ...rule } as CleaningRule]
  opened = new AuditLog({
    store: shared(world.store),
    types: {},
    cleaning: { rules },
    subscriptions: { channels: { search: channel }, visible },
  })
  return opened
}

const left = async (audit: AuditLog): Promise<unknown[]> =>
  (await recorded(audit, 'test:')).map(({ attributes }) => attributes['n'])

async function pausedSubscription(
  audit: AuditLog,
  retain?: { readonly days: number } | null,
): Promise<string> {
  const definition = { name: 'numbers', channel: 'search', filter: NUMBERS, paused: true, retain }
  return (await audit.subscriptions.create(definition)).id
}

const gaps = (audit: AuditLog) => recorded(audit, 'warn:subscription:gap')

describe('a cleaning rule of age', () => {
  it('spares events that are not delivered yet, and removes delivered ones', async () => {
    const channel = recordingChannel()
    const audit = openLog({ maxAge: { hours: 1 } }, channel)
    const definition = { name: 'numbers', channel: 'search', filter: NUMBERS }
    const { id } = await audit.subscriptions.create(definition)
    await recordNumbers(audit, 1, 5)
    await until(() => channel.accepted().length === 5)
    await audit.subscriptions.pause(id)
    await recordNumbers(audit, 6, 10)
    clock.advance(2 * HOUR)
    const [preview] = await audit.cleaning.preview()
    const [run] = await audit.cleaning.run()
    expect(run).not.toHaveProperty('error')
    expect(run!.removed_count).toBe(preview!.due_count)
    expect(await left(audit)).toEqual(numbers(6, 10))
    expect(await gaps(audit)).toEqual([])
    await audit.subscriptions.resume(id)
    await until(() => channel.accepted().length === 10)
    expect(channel.accepted()).toEqual(numbers(1, 10))
    // The next checkpoint stores the cursor.
    await advance(500)
    await audit.cleaning.run()
    expect(await left(audit)).toEqual([])
  })

  it('removes events that are older than `retain`, and records exactly the missed ones', async () => {
    const audit = openLog({ maxAge: { hours: 1 } })
    const id = await pausedSubscription(audit, { days: 7 })
    await recordNumbers(audit, 1, 12)
    await audit.recordCustom('other', {})
    clock.advance(6 * DAY)
    await audit.cleaning.run()
    expect(await left(audit)).toEqual(numbers(1, 12))
    await recordNumbers(audit, 13, 14)
    clock.advance(2 * DAY)
    await audit.cleaning.run()
    expect(await left(audit)).toEqual([])
    expect(await gaps(audit)).toMatchObject([
      {
        attributes: {
          subscription: 'numbers',
          subscription_id: id,
          channel: 'search',
          missed_count: 14,
          exact: true,
        },
      },
    ])
    await audit.cleaning.run()
    expect(await gaps(audit)).toHaveLength(1)
  })

  it('spares nothing for a subscription without `retain`, and counts only events that the rule removes', async () => {
    const audit = openLog({ maxAge: { hours: 1 }, filter: 'filter[n_lteq]=3' })
    await pausedSubscription(audit, null)
    await recordNumbers(audit, 1, 5)
    clock.advance(2 * HOUR)
    await audit.cleaning.run()
    expect(await left(audit)).toEqual([4, 5])
    expect(await gaps(audit)).toMatchObject([{ attributes: { missed_count: 3 } }])
  })

  it('spares events that a receiver does not accept for less than `retain`, and records exactly the events that it misses later', async () => {
    const channel = recordingChannel(failing(new DeliveryError('network', 'connection refused')))
    const audit = openLog({ maxAge: { hours: 1 }, filter: NUMBERS }, channel)
    await audit.subscriptions.create({ name: 'numbers', channel: 'search', filter: NUMBERS })
    await recordNumbers(audit, 1, 8)
    await until(() => channel.deliveries.length > 0)
    clock.advance(6 * DAY)
    await audit.cleaning.run()
    expect(await left(audit)).toEqual(numbers(1, 8))
    expect(await gaps(audit)).toEqual([])
    clock.advance(2 * DAY)
    await audit.cleaning.run()
    expect(await left(audit)).toEqual([])
    expect(await gaps(audit)).toMatchObject([{ attributes: { missed_count: 8, exact: true } }])
  })

  it('spares and counts only events that the owner of a subscription may see, and all events while the rights are unknown', async () => {
    let isKnown = true
    const audit = openLog({ maxAge: { hours: 1 } }, recordingChannel(), () => {
      if (!isKnown) throw new Error('the directory is down')
      return { n_lteq: 2 }
    })
    const definition = { name: 'numbers', channel: 'search', filter: NUMBERS, paused: true }
    await audit.subscriptions.create({ ...definition, owner: 'ann', retain: { days: 1 } })
    await recordNumbers(audit, 3, 4)
    clock.advance(2 * HOUR)
    isKnown = false
    await audit.cleaning.run()
    expect(await left(audit)).toEqual([3, 4])
    isKnown = true
    await audit.cleaning.run()
    expect(await left(audit)).toEqual([])
    expect(await gaps(audit)).toEqual([])
    await recordNumbers(audit, 1, 4)
    clock.advance(2 * DAY)
    await audit.cleaning.run()
    expect(await gaps(audit)).toMatchObject([{ attributes: { missed_count: 2 } }])
  })

  it('spares parked events', async () => {
    const channel = recordingChannel(
      ({ numbers: given }) => {
        if (given.includes(3)) throw new DeliveryError('status', 'no', { status: 422 })
      },
      { batch: { maxEvents: 1 } },
    )
    const audit = openLog({ maxAge: { hours: 1 }, filter: NUMBERS }, channel)
    const definition = { name: 'numbers', channel: 'search', filter: NUMBERS }
    const { id } = await audit.subscriptions.create(definition)
    await recordNumbers(audit, 1, 5)
    const passTime = (): void => clock.advance(50_000)
    await until(() => passTime() ?? channel.accepted().includes(5))
    await advance(500)
    clock.advance(2 * HOUR)
    await audit.cleaning.run()
    expect(await left(audit)).toEqual(numbers(3, 5))
    await audit.subscriptions.discard(id, 'all')
    await audit.cleaning.run()
    expect(await left(audit)).toEqual([])
  })
})

it('a cleaning rule of rows spares nothing, and records the missed events', async () => {
  const audit = openLog({ maxRows: 4, filter: NUMBERS })
  await pausedSubscription(audit)
  await recordNumbers(audit, 1, 10)
  await audit.cleaning.run()
  expect(await left(audit)).toEqual(numbers(7, 10))
  expect(await gaps(audit)).toMatchObject([{ attributes: { missed_count: 6 } }])
})
