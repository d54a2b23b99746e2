import { describe, expect, it } from 'vitest'
import { NumberText, parseExactly } from '../../../src/event/exact-numbers.js'
import { toJsonText } from '../../../src/event/json.js'

const isShort = (number: string): boolean => number.length < 5
const parse = (json: string, depth = 9): unknown => parseExactly(json, isShort, depth)
const long = new NumberText('12345')

describe('parseExactly', () => {
  it.each<[string, unknown]>([
    ['12345', long],
    [
      '[12,12345,-1e+99,{"a":{"b":12345}}]',
      [12, long, new NumberText('-1e+99'), { a: { b: long } }],
    ],
    [
      '{"12345":"12345","\\\\":"\\"12345\\\\","n":12345}',
      { 12345: '12345', '\\': '"12345\\', n: long },
    ],
    ['{"a":12345,"a":1}', { a: 1 }],
    ['{"a":1,"a":12345}', { a: long }],
    ['"12345 "', '12345 '],
    ['[true,null,"",0]', [true, null, '', 0]],
  ])('reads %s', (json, expected) => {
    expect(parse(json)).toEqual(expected)
  })

  it('keeps a member __proto__, and numbers that are deeper', () => {
    const value = parse('{"__proto__":{"n":12345}}') as object
    expect(Object.entries(value)).toEqual([['__proto__', { n: long }]])
    expect(parse('[[12345]]', 1)).toEqual([[12345]])
  })

  it('throws as JSON.parse', () => {
    expect(() => parse('{"a":12345')).toThrow(SyntaxError)
  })
})

describe('toJsonText', () => {
  it('has the text of a number that no double holds, and notes it', () => {
    expect(toJsonText({ a: [1, long], b: 2 }).attributes).toEqual({
      a: [1, '12345'],
      b: 2,
      recording: { replaced: ['/a/1'], cut_bytes: 0 },
    })
  })
})
