import { email } from 'daybook/channels'
import { expect, it } from 'vitest'
import { advance, recordNumbers, until, useWorld } from './world.js'

const EVENTS = 300
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const STEP_MS = 2000

const { open } = useWorld()

interface Mail {
  readonly to: string[]
  readonly text: string
}

/** The error of nodemailer for a server that refuses all recipients. */
const refusal = Object.assign(new Error('refused'), {
  code: 'EENVELOPE',
  responseCode: 550,
  command: 'RCPT TO',
})

it('two subscriptions to all events cause no loop if their e-mails are refused and then accepted', async () => {
  let isRefusing = true
  const attempts: Mail[] = []
  const sent: Mail[] = []
  const transport = {
    async sendMail(mail: Mail) {
      attempts.push(mail)
      if (isRefusing) throw refusal
      sent.push(mail)
    },
  }
  const channelTo = (to: string) => email({ transport, from: 'audit@acme.example', to })
  const audit = open({
    channels: { one: channelTo('one@acme.example'), two: channelTo('two@acme.example') },
    subscriptions: { one: { channel: 'one' }, two: { channel: 'two' } },
  })
  const outcomes = async (): Promise<number> => (await audit.count('filter[system_true]=1')).total
  await recordNumbers(audit, 1, EVENTS)
  const before = await outcomes()
  await advance(2 * MINUTE_MS, STEP_MS)
  // The first e-mail of each subscription, and one api:notification:error per hour.
  expect((await outcomes()) - before).toBe(3)
  const tried = attempts.length
  await advance(HOUR_MS - 2 * MINUTE_MS, STEP_MS)
  expect((await outcomes()) - before).toBe(3)
  expect(attempts.length).toBeGreaterThan(tried + 6)

  isRefusing = false
  /** The numbers of the events that the recipient has got. */
  const numbersOf = (recipient: string): ReadonlySet<string> => {
    const mails = sent.filter(({ to }) => to[0] === recipient)
    const lines = mails.flatMap(({ text }) => [
      ...text.matchAll(/  \[custom\] test:number: (.+)$/gm),
    ])
    return new Set(lines.map(([, number]) => number!))
  }
  const areSent = (): boolean =>
    ['one@acme.example', 'two@acme.example'].every((to) => numbersOf(to).size === EVENTS)
  await until(areSent, HOUR_MS, STEP_MS)
  await advance(5 * MINUTE_MS, STEP_MS)
  const after = (await outcomes()) - before
  const { total } = await audit.count('filter[type_eq]=info:email:sent')
  expect(total).toBeGreaterThanOrEqual((2 * EVENTS) / 50)
  expect(after).toBeLessThanOrEqual(2 * EVENTS)
  const mails = sent.length
  await advance(HOUR_MS, STEP_MS)
  expect((await outcomes()) - before).toBe(after)
  expect(sent).toHaveLength(mails)
})
