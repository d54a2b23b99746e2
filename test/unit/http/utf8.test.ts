import { expect, it } from 'vitest'
import { utf8 } from '../../../src/http/utf8.js'

const PARTS = [
  '{"a":',
  '"Grüße, 世界 🎈"',
  '',
  `"${'\u{1F388}'.repeat(1000)}"`,
  '\u007f\u0080\uffff}',
]

it('returns the bytes of all parts', () => {
  expect(Buffer.from(utf8(PARTS)).toString()).toBe(PARTS.join(''))
  expect(utf8([])).toHaveLength(0)
})

// For the last size, the buffer kept from the one before has room for two bytes per unit, not three.
it.each([1, 100, 1000, 5_000_000, 2_000_000])(
  'encodes parts of %i characters, several times',
  (size) => {
    const parts = ['€', 'x', 'ß'].map((char) => char.repeat(size))
    const expected = Buffer.from(parts.join(''))
    expect(expected.equals(utf8(parts))).toBe(true)
    expect(expected.equals(utf8(parts.values()))).toBe(true)
  },
)

it('does not change returned bytes later', () => {
  const first = utf8(['first'])
  const large = utf8(['a'.repeat(100_000)])
  utf8(['second, and longer'])
  utf8(['b'.repeat(100_000)])
  expect(Buffer.from(first).toString()).toBe('first')
  expect(new Set(large)).toEqual(new Set(Buffer.from('a')))
})
