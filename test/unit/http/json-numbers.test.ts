import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findInexactNumber, isHeldByDouble } from '../../../src/http/events/json-numbers.js'

describe('a double holds', () => {
  it.each(
    '0 0.0 0e9 1 -1 1.50 100 0.1 -0.25 1e20 1E+2 12e-1 5e-324 1.7976931348623157e308 2.2250738585072014E-308 9007199254740992 9007199254740994 -9007199254740991 18446744073709551616 0.10000000000000001 0.1000000000000000055511151231257827 100000000000000000000000 123456789012345.0 139398621909499.62 139398621909499.63'.split(
      ' ',
    ),
  )('%s', (text) => expect(isHeldByDouble(text)).toBe(true))

  it('every number that is printed from a double, with any number of digits', () => {
    const digits = fc.integer({ min: 17, max: 100 })
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), digits, (number, count) => {
        if (Object.is(number, -0)) return
        for (const text of [
          JSON.stringify(number),
          number.toPrecision(count),
          number.toExponential(count - 1),
        ])
          expect(isHeldByDouble(text), text).toBe(true)
      }),
    )
  })
})

describe('a double does not hold', () => {
  it.each([
    ...'-0 -0.0 -0e5 -1e-400 1e-400 1e400 -1e309 4e-324 9007199254740993 -9007199254740993'.split(
      ' ',
    ),
    ...'12345678901234567890 3.141592653589793238 0.12345678901234567890 1.00000000000000001 18446744073709551617'.split(
      ' ',
    ),
    `0.${'3'.repeat(101)}`,
  ])('%s', (text) => expect(isHeldByDouble(text)).toBe(false))

  it('an integer that a double rounds', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 29n }), (tens) => {
        // Written without zeros at the end, the integer has all of its digits.
        const integer = tens * 10n + 1n
        expect(isHeldByDouble(String(integer))).toBe(BigInt(Number(integer)) === integer)
      }),
    )
  })
})

describe('the first inexact number', () => {
  it('is found with its place in any document', () => {
    const json =
      '{ "-0": "-0", "a\\"": [1, {"-0":[]}, [{}, "9007199254740993", {"b" : [ [ ] , -0 ] }]], "c": 1e999 }'
    expect(findInexactNumber(json, [])).toEqual({ path: ['a"', '2', '2', 'b', '1'], text: '-0' })
    expect(findInexactNumber(json, ['c'])).toEqual({ path: ['c'], text: '1e999' })
    expect(findInexactNumber(json, ['-0'])).toBeUndefined()
  })

  it('is found in any document', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(1, 1.5, 'MARK', '"', '\\', 'a-0e', true, null),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(fc.string({ maxLength: 3 }), tie('any'), { maxKeys: 4 }),
      ),
    })).any
    const pathOf = (node: unknown): string[] | undefined => {
      if (node === 'MARK') return []
      if (node === null || typeof node !== 'object') return undefined
      for (const [key, member] of Object.entries(node)) {
        const path = pathOf(member)
        if (path) return [key, ...path]
      }
      return undefined
    }
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1), (document, indent) => {
        const json = JSON.stringify(document, undefined, indent)
        const marked = json.replaceAll(/"MARK"(?!\s*:)/g, '-0')
        const path = pathOf(document)
        expect(findInexactNumber(marked, [])).toEqual(path && { path, text: '-0' })
      }),
    )
  })

  it('is looked for without recursion, and in linear time', () => {
    const deep = `${'['.repeat(200_000)}-0${']'.repeat(200_000)}`
    expect(findInexactNumber(deep, [])?.path.length).toBe(200_000)
    const long = JSON.stringify({ a: '\\"'.repeat(300_000), b: Array(20_000).fill(0.5) })
    expect(findInexactNumber(`[${long},-0]`, [])?.path).toEqual(['1'])
  })
})
