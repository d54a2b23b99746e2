import { expect, it } from 'vitest'
import { utf8 as encode } from '../../../src/http/utf8.js'

const utf8 = (parts: readonly string[]): Promise<Uint8Array> =>
  encode({ length: parts.length, at: (index) => parts[index]! })

const PARTS = [
  '{"a":',
  '"Grüße, 世界 🎈"',
  '',
  `"${'\u{1F388}'.repeat(1000)}"`,
  '\u007f\u0080\uffff}',
]

it('returns the bytes of all parts', async () => {
  expect(Buffer.from(await utf8(PARTS)).toString()).toBe(PARTS.join(''))
  expect(await utf8([])).toHaveLength(0)
})

// For the last size, the buffer kept from the one before has room for two bytes per unit, not three.
it.each([1, 100, 1000, 5_000_000, 2_000_000])(
  'encodes parts of %i characters, several times',
  async (size) => {
    const parts = ['€', 'x', 'ß'].map((char) => char.repeat(size))
    const expected = Buffer.from(parts.join(''))
    expect(expected.equals(await utf8(parts))).toBe(true)
    expect(expected.equals(await utf8(parts))).toBe(true)
  },
)

it('does not change returned bytes later', async () => {
  const first = await utf8(['first'])
  const large = await utf8(['a'.repeat(100_000)])
  await utf8(['second, and longer'])
  await utf8(['b'.repeat(100_000)])
  expect(Buffer.from(first).toString()).toBe('first')
  expect(new Set(large)).toEqual(new Set(Buffer.from('a')))
})

it('encodes other texts while a long one waits for its next turn', async () => {
  /** Each part takes longer than a turn may take. */
  const slow = (text: string): string => {
    const end = performance.now() + 4
    while (performance.now() < end);
    return text
  }
  const texts = ['ä', '€'.repeat(100_000)].map((text) => [`1${text}`, `2${text}`])
  const encoded = texts.map((parts) => encode({ length: 2, at: (index) => slow(parts[index]!) }))
  expect((await Promise.all(encoded)).map((bytes) => Buffer.from(bytes).toString())).toEqual(
    texts.map((parts) => parts.join('')),
  )
})
