import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { readAppearance } from '../../../src/http/page/appearance.js'
import { frameAncestors } from '../../../src/http/page/frame-ancestors.js'
import { BACKGROUNDS, contrast, themeSheet } from '../../../src/http/page/theme.js'

const ACCENT = { light: '#7a1fa2', dark: '#e1bee7' }

describe('themeSheet', () => {
  it('makes the tokens of both themes from the accent', () => {
    expect(themeSheet({ accent: ACCENT }).split('\n')).toEqual([
      ':root {',
      '  --accent: light-dark(#7a1fa2, #e1bee7);',
      '  --accent-ink: light-dark(#ffffff, #000000);',
      expect.stringMatching(/^ {2}--accent-soft: light-dark\(#[\da-f]{6}, #[\da-f]{6}\);$/),
      expect.stringMatching(/^ {2}--selected: light-dark\(#[\da-f]{6}, #[\da-f]{6}\);$/),
      '  --focus: light-dark(#7a1fa2, #e1bee7);',
      '}',
      '',
    ])
  })

  it('refuses a colour that is hard to read, with its contrast', () => {
    expect(() => themeSheet({ accent: { ...ACCENT, light: '#ffcc00' } })).toThrow(
      'theme: accent.light #ffcc00 has a contrast of 1.51:1 with the background #ffffff; it must be at least 4.5:1',
    )
    expect(() => themeSheet({ accent: { ...ACCENT, dark: '#333333' } })).toThrow(
      'theme: accent.dark',
    )
  })

  it.each([
    [null],
    [{}],
    [{ accent: '#7a1fa2' }],
    [{ accent: { light: '#7a1fa2' } }],
    [{ accent: { ...ACCENT, dark: 'red;} body {display:none' } }],
    [{ accent: { ...ACCENT, light: '#7a1fa2 ' } }],
  ])('refuses %j', (theme) => {
    expect(() => themeSheet(theme as never)).toThrow(
      /accent\.(light|dark) must be a colour such as|takes an object with/,
    )
  })

  it('measures contrast as WCAG does', () => {
    expect(contrast('#000000', '#ffffff')).toBe(21)
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  })

  it('knows the backgrounds of the page', () => {
    const sheet = fs.readFileSync(
      path.resolve(import.meta.dirname, '../../../adapters/page/ui/tokens.css'),
      'utf8',
    )
    const inSheet = ['surface', 'bg', 'sunken', 'hover'].map((name) => {
      const [, light, dark] = RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(sheet)!
      return [light, dark]
    })
    expect(BACKGROUNDS.light).toEqual(inSheet.map(([light]) => light))
    expect(BACKGROUNDS.dark).toEqual(inSheet.map(([, dark]) => dark))
  })
})

describe('frameAncestors', () => {
  it.each([
    [undefined, "frame-ancestors 'none'"],
    [[], "frame-ancestors 'none'"],
    [['self'], "frame-ancestors 'self'"],
    [
      ['self', 'https://admin.example.com', 'http://localhost:8080'],
      "frame-ancestors 'self' https://admin.example.com http://localhost:8080",
    ],
  ])('%j is %s', (origins, directive) => {
    expect(frameAncestors(origins)).toBe(directive)
  })

  it.each([
    ['*'],
    ['https://*.example.com'],
    ['https://example.com/admin'],
    ['example.com'],
    ['javascript:alert(1)'],
    ["'self'"],
    ['https://example.com; script-src *'],
    ['null'],
    [7],
  ])('refuses %j', (origin) => {
    expect(() => frameAncestors([origin as string])).toThrow(
      "frameAncestors must list 'self' or origins such as https://admin.example.com; it has ",
    )
  })
})

describe('readAppearance', () => {
  it('has nothing by default', () => {
    expect(readAppearance({})).toEqual({ title: '', logo: '', sheet: undefined })
  })

  it('gives the sheet a name that changes with its content', () => {
    const { sheet } = readAppearance({ theme: { accent: ACCENT } })
    const other = readAppearance({ theme: { accent: { ...ACCENT, light: '#0d6a50' } } })
    expect(sheet!.path).toMatch(/^assets\/theme-[\da-f]{8}\.css$/)
    expect(other.sheet!.path).not.toBe(sheet!.path)
  })

  it.each([
    [{ logo: 'https://example.com/logo.svg' }],
    [{ logo: '//example.com/logo.svg' }],
    [{ logo: String.raw`/\example.com` }],
    [{ logo: 'logo.svg' }],
    [{ logo: '/a logo.svg' }],
    [{ title: 'x'.repeat(81) }],
    [{ title: 7 }],
  ])('refuses %j', (options) => {
    expect(() => readAppearance(options as never)).toThrow(/^(?:logo|title) must be /)
  })
})
