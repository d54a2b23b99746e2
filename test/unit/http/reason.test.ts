import { expect, it } from 'vitest'
import type { RecordedExchange } from '../../../src/http/record/exchange.js'
import { readReason } from '../../../src/http/record/reason.js'

it.each<[unknown, string]>([
  [{ errors: [{ title: 'invalid', detail: 'name is missing' }] }, 'name is missing'],
  ['{"errors":[{"title":"invalid","detail":"name is missing"}]}', 'name is missing'],
  [{ errors: [{ title: 'invalid' }] }, 'invalid'],
  [{ errors: { name: 'is missing' } }, 'Unprocessable Entity'],
  [{ errors: [] }, 'Unprocessable Entity'],
  ['{"errors":', 'Unprocessable Entity'],
  ['try later', 'try later'],
  ['', 'Unprocessable Entity'],
  [undefined, 'Unprocessable Entity'],
])('the reason of the response body %j is %s', (responseBody, reason) => {
  const exchange = { responseBody, status: 422 } as RecordedExchange<unknown>
  expect(readReason(exchange)).toBe(reason)
})
