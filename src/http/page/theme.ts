import { inspect } from 'node:util'
import { AuditLogError } from '../../errors.js'
import { checkOptions, type OptionNames } from '../../options.js'

/** A colour for each of the two themes: `#rrggbb`. */
export interface ThemeColor {
  readonly light: string
  readonly dark: string
}

const THEME_COLOR: OptionNames<ThemeColor> = { light: true, dark: true }

/** Colours of the page. */
export interface PageTheme {
  /**
   * For links, the focus, selections and main buttons. It must have a contrast of 4.5:1 with the backgrounds of its theme
   * (WCAG 2.2, 1.4.3).
   */
  readonly accent: ThemeColor
}

const PAGE_THEME: OptionNames<PageTheme> = { accent: true }

type Rgb = readonly [red: number, green: number, blue: number]
type Scheme = keyof ThemeColor

/** The backgrounds of the page, as in its `tokens.css`: surface, bg, sunken, hover. */
export const BACKGROUNDS: Readonly<Record<Scheme, readonly string[]>> = {
  light: ['#ffffff', '#f7f5f1', '#f1eee8', '#f5f3ee'],
  dark: ['#191b18', '#121311', '#0d0e0c', '#20231f'],
}

/** Colours for texts on the accent. The one with more contrast is used. */
const INKS = ['#ffffff', '#000000']

/** The share of the accent in the background of chosen elements. */
const SOFT: Readonly<Record<Scheme, number>> = { light: 0.1, dark: 0.16 }

const MIN_CONTRAST = 4.5

const rgbOf = (color: string): Rgb =>
  [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)) as unknown as Rgb

const hexOf = (color: Rgb): string =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`

/** Relative luminance: WCAG 2.2. */
function luminance(color: string): number {
  const [red, green, blue] = rgbOf(color).map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as unknown as Rgb
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The contrast ratio of two colours, 1 to 21: WCAG 2.2. */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light! + 0.05) / (dark! + 0.05)
}

function mix(color: string, background: string, share: number): string {
  const under = rgbOf(background)
  return hexOf(
    rgbOf(color).map((part, index) => part * share + under[index]! * (1 - share)) as unknown as Rgb,
  )
}

const fault = (message: string): AuditLogError =>
  new AuditLogError('INVALID_OPTION', `theme: ${message}`)

/** The values of the page's tokens in one of the two themes. */
function tokensOf(accent: unknown, scheme: Scheme): Readonly<Record<string, string>> {
  if (typeof accent !== 'string' || !/^#[\da-f]{6}$/i.test(accent))
    throw fault(`accent.${scheme} must be a colour such as #0d6a50; it is ${inspect(accent)}`)
  const [surface] = BACKGROUNDS[scheme]
  const soft = mix(accent, surface!, SOFT[scheme])
  for (const background of [...BACKGROUNDS[scheme], soft]) {
    const ratio = contrast(accent, background)
    if (ratio < MIN_CONTRAST)
      throw fault(
        `accent.${scheme} ${accent} has a contrast of ${ratio.toFixed(2)}:1 with the background ${background}; it must be at least ${MIN_CONTRAST}:1`,
      )
  }
  const [ink] = INKS.toSorted((one, other) => contrast(other, accent) - contrast(one, accent))
  return {
    accent,
    'accent-ink': ink!,
    'accent-soft': soft,
    selected: soft,
    focus: accent,
  }
}

/** The style sheet of a theme. Throws `INVALID_OPTION` for a colour that is unreadable. */
export function themeSheet(theme: PageTheme): string {
  checkOptions(theme, PAGE_THEME, 'theme')
  const { accent } = Object(theme) as { accent?: unknown }
  checkOptions(accent, THEME_COLOR, 'theme: accent')
  const { light, dark } = Object(accent) as { light?: unknown; dark?: unknown }
  const inLight = tokensOf(light, 'light')
  const inDark = tokensOf(dark, 'dark')
  const lines = Object.keys(inLight).map(
    (name) => `  --${name}: light-dark(${inLight[name]}, ${inDark[name]});`,
  )
  return `:root {\n${lines.join('\n')}\n}\n`
}
