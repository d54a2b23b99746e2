import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NumberText, parseExactly, parseJson } from '../../../src/event/exact-numbers.js'
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

  it('keeps a member __proto__, and numbers below the maximum depth', () => {
    const value = parse('{"__proto__":{"n":12345}}') as object
    expect(Object.entries(value)).toEqual([['__proto__', { n: long }]])
    expect(parse('[[12345]]', 1)).toEqual([[12345]])
  })

  it('throws as JSON.parse', () => {
    expect(() => parse('{"a":12345')).toThrow(SyntaxError)
  })
})

describe('parseJson', () => {
  it.each([
    '0',
    '-0',
    '0.0',
    '-0e999',
    '1',
    '-1.50',
    '100000000000000',
    '9007199254740991',
    '9007199254740992',
    '-9007199254740994',
    '12345678901234567000',
    '1e21',
    '1E+21',
    '1e3',
    '1000e-3',
    '0.1',
    '0.30000000000000004',
    '5e-324',
    '1.7976931348623157e308',
    '1.0000000000000000000',
  ])('reads the number %s', (number) => {
    expect(parseJson(`[${number}]`)).toEqual([Number(number)])
  })

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890',
    '0.1234567890123456789',
    '0.10000000000000001',
    '1e400',
    '-1e400',
    '1e-400',
    '1.00000000000000001',
    '900719925474099.30001',
  ])('keeps the text of the number %s', (number) => {
    expect(parseJson(`{"n":[${number}, 1]}`)).toEqual({ n: [new NumberText(number), 1] })
    expect(JSON.stringify(parseJson(number))).toBe(`"${number}"`)
  })

  it('reads the text that JSON.stringify writes for any number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const json = JSON.stringify([number])
        expect(parseJson(json)).toEqual(JSON.parse(json))
      }),
    )
  })
})

describe('toJsonText', () => {
  it('has the text of a number that no double holds, and lists it in recording', () => {
    expect(toJsonText({ a: [1, long], b: 2 }).attributes).toEqual({
      a: [1, '12345'],
      b: 2,
      recording: { replaced: ['/a/1'], cut_bytes: 0 },
    })
  })
})
