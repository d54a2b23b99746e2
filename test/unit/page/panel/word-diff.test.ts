import { describe, expect, it } from 'vitest'
import { diffWords, type Piece } from '../../../../adapters/page/panel/word-diff.js'

const marked = (pieces: readonly Piece[]): string =>
  pieces.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')

const plain = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join('')

describe('diffWords', () => {
  it.each([
    ['one word of several', 'deploy to staging now', 'deploy to production now'],
    ['words put in', 'Storefront and checkout', 'Storefront, checkout and returns'],
    ['nothing in common', 'on', 'off'],
    ['an emptied text', 'gone', ''],
    ['combining marks and other scripts', 'cafe\u0301 नमस्ते 日本', 'cafe\u0301 नमस्कार 日本'],
    ['line breaks', 'a\nb\nc', 'a\nx\nc'],
  ])('has pieces that can be joined to both texts: %s', (_, before, after) => {
    const sides = diffWords(before, after)
    expect(plain(sides.before)).toBe(before)
    expect(plain(sides.after)).toBe(after)
  })

  it('marks only whole words that differ', () => {
    const { before, after } = diffWords('deploy to staging now', 'deploy to production now')
    expect(marked(before)).toBe('deploy to [staging] now')
    expect(marked(after)).toBe('deploy to [production] now')
  })

  it('marks nothing on the side that lost nothing', () => {
    const { before, after } = diffWords('restart the agent', 'restart the old agent')
    expect(marked(before)).toBe('restart the agent')
    expect(marked(after)).toBe('restart the [old ]agent')
  })

  it('includes a blank between changed words', () => {
    const { before, after } = diffWords('run one two here', 'run three four here')
    expect(marked(before)).toBe('run [one two] here')
    expect(marked(after)).toBe('run [three four] here')
  })

  it('keeps a longer unchanged word between changes', () => {
    const { before } = diffWords('x middle y', 'a middle b')
    expect(marked(before)).toBe('[x] middle [y]')
  })

  it('marks whole texts if too many words differ', () => {
    const words = (letter: string): string =>
      Array.from({ length: 1000 }, (_, i) => `${letter}${i}`).join(' ')
    const before = `same ${words('a')}`
    expect(diffWords(before, `same ${words('b')}`).before).toEqual([
      { text: before, isChanged: true },
    ])
  })

  it('compares very long texts as a whole', () => {
    const long = 'word '.repeat(30_000)
    expect(diffWords(long, `${long}end`).after).toEqual([{ text: `${long}end`, isChanged: true }])
  })
})
