import { expect, it } from 'vitest'
import { DeliveryError, toDeliveryError } from '../../../src/subscriptions/channel.js'
import { serversOnly, withServersOnly } from '../../../src/event/servers-only.js'

/* The kept part of each text. */
it.each([
  ['https://hooks.example/services/T0/B0/x', 'https://hooks.example'],
  ['https://hooks.example', 'https://hooks.example'],
  ['https://hooks.example:8443/', 'https://hooks.example:8443'],
  ['https://hooks.example?key=x#y', 'https://hooks.example'],
  ['https://ann:pass@hooks.example/a', 'https://hooks.example'],
  ['https://ann:p@ss@hooks.example/a', 'https://hooks.example'],
  ['https://ann:pa/ss@hooks.example/a', 'https://[redacted]'],
  ['https://ann:12/34@hooks.example', 'https://[redacted]'],
  ['http://[2001:db8::1]:8080/x', 'http://[2001:db8::1]:8080'],
  ['HTTPS://Bücher.example/x', 'HTTPS://Bücher.example'],
  ['amqp://:pass@mq.example:5672/%2f', 'amqp://mq.example:5672'],
  ['smtps://ann:pass@mail.example', 'smtps://mail.example'],
  ['https://api.telegram.org/bot110201543:AAHdqTcvCH1v/sendMessage', 'https://api.telegram.org'],
  ['https://gone.example: ENOTFOUND', 'https://gone.example: ENOTFOUND'],
  [
    'see https://h.example/a, or (https://i.example).',
    'see https://h.example or (https://i.example).',
  ],
  ['{"url":"https://h.example/a","b":1}', '{"url":"https://h.example","b":1}'],
  ['{\\"url\\":\\"https://h.example/a\\"}', '{\\"url\\":\\"https://h.example\\"}'],
  ['refused: password=hunter2', 'refused: password=[redacted]'],
  ['a text: without // a URL', 'a text: without // a URL'],
])('%j becomes %j', (text, shown) => {
  expect(serversOnly(text)).toBe(shown)
})

it('keeps values that are not texts', () => {
  const value = { a: [1, null, true, 'https://h.example/a'], b: { c: 'x' } }
  expect(withServersOnly(value)).toEqual({ a: [1, null, true, 'https://h.example'], b: { c: 'x' } })
})

it('the error of a delivery contains only the server of a URL, for any thrown value', () => {
  const text = 'POST https://h.example/hidden failed'
  const thrown = [
    new Error(text),
    text,
    new DeliveryError('status', text),
    { toString: () => text },
  ]
  for (const one of thrown)
    expect(toDeliveryError(one).message).toBe('POST https://h.example failed')
  const odd = Object.assign(new Error('x'), { message: 42 })
  expect(toDeliveryError(odd).message).toBe('42')
  // The text is cut after redaction, because a cut secret would not be recognised.
  const long = toDeliveryError(`${'x'.repeat(985)} password=hunter2`).message
  expect(long).not.toContain('hunt')
})
