import { describe, expect, it } from 'vitest'
import { parsePrefer, preferredWait } from '../../../src/http/prefer.js'

describe('a Prefer header', () => {
  it.each([
    ['wait=10', { wait: '10' }],
    ['respond-async, wait=10', { 'respond-async': '', wait: '10' }],
    ['WAIT = 10', { wait: '10' }],
    ['wait="10"', { wait: '10' }],
    ['foo="a, b;\\"c\\"", wait=1', { foo: 'a, b;"c"', wait: '1' }],
    ['foo; some-parameter, bar=1; a=b; c="d,e"', { foo: '', bar: '1' }],
    ['foo=""', { foo: '' }],
    ['wait=1, wait=2', { wait: '1' }],
    [' , wait=1 ,, handling=Lenient ;', { wait: '1', handling: 'Lenient' }],
    ['wait=1 2, foo', { foo: '' }],
    ['=1, a b, "quoted", wait=3', { wait: '3' }],
    ['foo="open, wait=3', {}],
    ['', {}],
  ])('%s', (header, preferences) => {
    expect(Object.fromEntries(parsePrefer(header))).toEqual(preferences)
  })

  it.each([
    ['wait=10', 10],
    ['foo, Wait="7"', 7],
    ['wait=007', 7],
    ['wait=0', 0],
    ['wait=60', 60],
    ['wait=61', 60],
    [`wait=${'9'.repeat(400)}`, 60],
    ['wait', undefined],
    ['wait=', undefined],
    ['wait=-1', undefined],
    ['wait=1.5', undefined],
    ['wait=1e1', undefined],
    ['wait=soon', undefined],
    ['wait=soon, wait=1', undefined],
    ['', undefined],
  ])('reads wait: %s is %s', (header, seconds) => {
    expect(preferredWait(header)).toBe(seconds)
  })

  it('takes linear time to read', () => {
    for (const piece of ['"', ',', ';', 'a', 'a;', '"a\\', ' ', '=', 'a="', 'a; '])
      for (const end of ['', '?', '"'])
        expect(parsePrefer(`a;${piece.repeat(30_000)}${end}`).size).toBeLessThanOrEqual(1)
  })
})
