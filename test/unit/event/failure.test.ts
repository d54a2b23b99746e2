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
  [
    new Error('no answer', { cause: new Error('refused', { cause: 'token=abcdefgh' }) }),
    'no answer: refused: token=[redacted]',
  ],
  [new Error('no answer: refused', { cause: new Error('refused') }), 'no answer: refused'],
  [new Error('', { cause: new Error('refused') }), 'refused'],
  [new AggregateError([new Error('a'), new Error('b')]), 'a; b'],
  [
    new AggregateError([new Error('a'), 'b'], 'none answered', { cause: { n: 1 } }),
    'none answered (a; b): { n: 1 }',
  ],
  [new AggregateError([]), 'AggregateError'],
  [withOwn(new Error('x'), { cause: throwing }), 'the error cannot be read'],
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

it('reads each error once, and at most ten', () => {
  const first = new Error('first')
  first.cause = new Error('second', { cause: first })
  expect(failureOf(first).error).toBe('first: second')
  let deep = new Error('0')
  for (let n = 1; n < 50; n++) deep = new Error(`${n}`, { cause: deep })
  const { error, backtrace } = failureOf(deep)
  expect(error).toBe('49: 48: 47: 46: 45: 44: 43: 42: 41: 40')
  expect(backtrace!.match(/^(?:Caused by: )?Error: \d+$/gm)).toHaveLength(10)
})

it('the backtrace shows where the causes come from', () => {
  const { backtrace } = failureOf(new Error('outer', { cause: new TypeError('inner') }))
  expect(backtrace).toMatch(/^Error: outer\n(?: {4}at .*\n)+Caused by: TypeError: inner\n {4}at /)
})
