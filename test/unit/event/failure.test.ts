import { failureOf } from '../../../src/event/failure.js'
import { expect, it } from 'vitest'

const withOwn = (error: Error, own: PropertyDescriptorMap): Error =>
  Object.defineProperties(error, own)
const throwing: PropertyDescriptor = {
  get() {
    throw new Error('from a getter')
  },
}

it.each<readonly [unknown, string]>([
  ['broken', 'broken'],
  [new Error('broken'), 'broken'],
  [new TypeError(''), 'TypeError'],
  ['', 'the error has no text'],
  [' \n', 'the error has no text'],
  [undefined, 'undefined'],
  [null, 'null'],
  [7, '7'],
  [{ code: 7, password: 'p' }, "{ code: 7, password: '[redacted]' }"],
  [new Error('password=hunter2'), 'password=[redacted]'],
  [withOwn(new Error('x'), { message: { value: 7 } }), '7'],
  [withOwn(new Error('x'), { message: throwing }), 'the error cannot be read'],
  [withOwn(new Error('broken'), { stack: { value: 7 } }), 'broken'],
  [new Proxy(new Error('x'), { get: throwing.get! }), 'null'],
])('the error of a thrown value, %#', (thrown, error) => {
  expect(failureOf(thrown).error).toBe(error)
})

it('only an error has a backtrace, without secrets', () => {
  const secret = 'hunter2'
  const { backtrace } = failureOf(new Error(`password=${secret}`))
  expect(backtrace).toContain('failure.test.ts')
  expect(backtrace).not.toContain(secret)
  expect(failureOf('broken')).toEqual({ error: 'broken' })
})
