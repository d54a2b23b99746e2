import { expect, it } from 'vitest'
import { utf8 } from '../../../src/http/utf8.js'

const PARTS = [
  '{"a":',
  '"Grüße, 世界 🎈"',
  '',
  `"${'\u{1F388}'.repeat(1000)}"`,
  '\u007f\u0080\uffff}',
]

it('gives the bytes of all parts', () => {
  expect(Buffer.from(utf8(PARTS)).toString()).toBe(PARTS.join(''))
  expect(utf8([])).toHaveLength(0)
})

// The last: what has become of the room after the one before holds two bytes for each, not three.
it.each([1, 100, 1000, 5_000_000, 2_000_000])(
  'has room for parts of %i characters, and more of them',
  (size) => {
    const parts = ['€', 'x', 'ß'].map((char) => char.repeat(size))
    const expected = Buffer.from(parts.join(''))
    expect(expected.equals(utf8(parts))).toBe(true)
    expect(expected.equals(utf8(parts.values()))).toBe(true)
  },
)

it('leaves what it has given alone', () => {
  const first = utf8(['first'])
  const large = utf8(['a'.repeat(100_000)])
  utf8(['second, and longer'])
  utf8(['b'.repeat(100_000)])
  expect(Buffer.from(first).toString()).toBe('first')
  expect(new Set(large)).toEqual(new Set(Buffer.from('a')))
})
