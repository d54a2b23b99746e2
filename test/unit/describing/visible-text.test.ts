import { visibleText } from 'daybook'
import { describe, expect, it } from 'vitest'
import { shortText } from '../../../src/describing/visible-text.js'

describe('visibleText', () => {
  it.each([
    ['plain, ünïcödé 日本 😀', 'plain, ünïcödé 日本 😀'],
    ['a\u202Eb\u2066c\u200Fd', 'aU+202EbU+2066cU+200Fd'],
    ['\u0000\u001B\u007F\u0085', 'U+0000U+001BU+007FU+0085'],
    ['\u200B\u2060\uFEFF\u00AD\u3164', 'U+200BU+2060U+FEFFU+00ADU+3164'],
    ['\u{E0041}', 'U+E0041'],
    ['half \uD83D', 'half U+D83D'],
    ['one\ttwo\r\nthree', 'one\ttwo\r\nthree'],
    ['👩\u200D🚀 می\u200Cخواهم', '👩\u200D🚀 می\u200Cخواهم'],
  ])('%j', (text, visible) => {
    expect(visibleText(text)).toBe(visible)
  })
})

describe('shortText', () => {
  it.each([
    ['  one \n\t two ', 10, 'one two'],
    ['0123456789', 10, '0123456789'],
    ['0123456789x', 10, '012345678…'],
    ['😀😀😀', 3, '😀😀😀'],
    ['😀😀😀😀', 3, '😀😀…'],
    [`x${'😀'.repeat(9)}`, 3, 'x😀…'],
    [' '.repeat(50), 3, ''],
    [`x${' '.repeat(50)}y`, 3, 'x…'],
    [`x${' '.repeat(10)}${'😀'.repeat(9)}`, 3, 'x…'],
  ])('%j in %d', (text, most, short) => {
    expect(shortText(text, most)).toBe(short)
  })
})
