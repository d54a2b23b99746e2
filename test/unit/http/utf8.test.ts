import { expect, it } from 'vitest'
import { joinParts } from '../../../src/http/utf8.js'

const join = async (parts: readonly string[]): Promise<Uint8Array> =>
  (await joinParts({ length: parts.length, at: (index) => parts[index]! })) as Uint8Array

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

const PARTS = [
  '{"a":',
  '"Grüße, 世界 🎈"',
  '',
  `"${'\u{1F388}'.repeat(1000)}"`,
  '\u007f\u0080\uffff}',
]

it('returns a short text as it is', () => {
  expect(joinParts({ length: PARTS.length, at: (index) => PARTS[index]! })).toBe(PARTS.join(''))
  expect(joinParts({ length: 0, at: () => '' })).toBe('')
})

it('returns the bytes of all parts of a longer text', async () => {
  const parts = [...PARTS, 'x'.repeat(40_000), ...PARTS]
  expect(textOf(await join(parts))).toBe(parts.join(''))
})

// For the last size, the reused buffer has room for two bytes per unit, not for three.
it.each([1, 100, 1000, 5_000_000, 2_000_000])(
  'encodes parts of %i characters, several times',
  async (size) => {
    const parts = ['€', 'x', 'ß'].map((char) => char.repeat(size))
    const expected = Buffer.from(parts.join(''))
    const read = async (): Promise<boolean> => expected.equals(Buffer.from(await join(parts)))
    expect(await read()).toBe(true)
    expect(await read()).toBe(true)
  },
)

it('does not change returned bytes later', async () => {
  const first = await join(['first'.repeat(10_000)])
  const large = await join(['a'.repeat(100_000)])
  await join(['second, and longer'.repeat(10_000)])
  await join(['b'.repeat(100_000)])
  expect(textOf(first)).toBe('first'.repeat(10_000))
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
  const encoded = texts.map(
    async (parts) => await joinParts({ length: 2, at: (index) => slow(parts[index]!) }),
  )
  const bytes = (await Promise.all(encoded)) as readonly Uint8Array[]
  expect(bytes.map(textOf)).toEqual(texts.map((parts) => parts.join('')))
})
