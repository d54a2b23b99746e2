import { type AuditLog, DeliveryError } from 'daybook'
import { workflowEventTypes } from 'daybook/workflow'
import { describe, expect, it } from 'vitest'
import {
  advance,
  type Delivery,
  NUMBERS,
  openLog,
  recorded,
  recordingChannel,
  recordNumbers,
  settled,
  shared,
  until,
  useWorld,
} from './world.js'

const world = useWorld()
const MAIL = { sender: 'audit@acme.example', recipients: ['ops@acme.example'], subject: 'Events' }

/** Reports as a channel of e-mails does. */
const sent = ({ report, id }: Delivery): void =>
  report('info:email:sent', { ...MAIL, message_id: `<${id}@acme.example>` })
function failed({ report }: Delivery): never {
  report('error:email:send_failed', { ...MAIL, error: '451 try later' })
  throw new DeliveryError('smtp', '451 try later')
}

const open = (
  names: readonly string[],
  answer: (delivery: Delivery) => unknown,
  { filter = NUMBERS, types = {} } = {},
): AuditLog => {
  const mail = recordingChannel(answer, { kind: 'email', batch: { maxEvents: 1 } })
  const subscriptions = Object.fromEntries(names.map((name) => [name, { channel: 'mail', filter }]))
  return world.open({ channels: { mail }, subscriptions }, types)
}

const typesOf = async (audit: AuditLog): Promise<string[]> =>
  [...(await recorded(audit, 'info:email')), ...(await recorded(audit, 'error:email'))].map(
    ({ type }) => type,
  )

describe('a report of a channel', () => {
  it('becomes an event with its data and the data of the subscription', async () => {
    const audit = open(['numbers'], sent)
    await recordNumbers(audit, 1, 1)
    await until(async () => (await typesOf(audit)).length === 1)
    const [event] = await recorded(audit, 'test:number')
    const { id } = (await audit.subscriptions.list())[0]!
    expect(await recorded(audit, 'info:email:sent')).toMatchObject([
      {
        username: null,
        system: true,
        attributes: {
          ...MAIL,
          message_id: `<${event!.id}@acme.example>`,
          subscription: 'numbers',
          subscription_id: id,
          channel: 'mail',
          event_id: event!.id,
        },
      },
    ])
  })

  it('is recorded for the first failure and for the success, not for the attempts between', async () => {
    let failures = 4
    const audit = open(['numbers'], (delivery) =>
      failures-- > 0 ? failed(delivery) : sent(delivery),
    )
    await recordNumbers(audit, 1, 1)
    await until(async () => (await typesOf(audit)).includes('info:email:sent'), 120_000)
    expect(await typesOf(audit)).toEqual(['info:email:sent', 'error:email:send_failed'])
    expect(failures).toBeLessThan(0)
  })

  it('is recorded even if the log is strict and the host defines the types', async () => {
    const audit = openLog(
      shared(world.store),
      {
        channels: { mail: recordingChannel(sent, { kind: 'email' }) },
        subscriptions: { numbers: { channel: 'mail', filter: NUMBERS } },
      },
      workflowEventTypes,
      { strict: true },
    )
    await recordNumbers(audit, 1, 1)
    await until(async () => (await typesOf(audit)).length === 1)
    await settled(audit.close())
  })

  it('is not recorded while the setting of its type is off', async () => {
    const type = workflowEventTypes['info:email:sent']
    const types = { 'info:email:sent': { ...type, enabled: () => false } }
    const audit = open(['numbers'], sent, { types })
    await recordNumbers(audit, 1, 3)
    await until(async () => (await audit.subscriptions.status())[0]?.delivered === 3)
    await advance(1000)
    expect(await typesOf(audit)).toEqual([])
  })

  it('causes no loop of two subscriptions to all events', async () => {
    const audit = open(['one', 'two'], sent, { filter: '' })
    await recordNumbers(audit, 1, 20)
    await until(async () => (await typesOf(audit)).length === 40)
    await advance(60_000)
    expect(await typesOf(audit)).toHaveLength(40)
  })

  it('causes no loop while all e-mails fail', async () => {
    const audit = open(['one', 'two'], failed, { filter: '' })
    await recordNumbers(audit, 1, 20)
    await until(async () => (await typesOf(audit)).length === 2)
    await advance(600_000)
    expect(await typesOf(audit)).toHaveLength(2)
  })
})
