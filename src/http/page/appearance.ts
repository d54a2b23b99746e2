import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { AuditLogError } from '../../errors.js'
import type { PageAsset } from './files.js'
import { type PageTheme, themeSheet } from './theme.js'
import type { OptionNames } from '../../options.js'

/** Changes of the page's appearance by a host. */
export interface AppearanceOptions {
  /** The name of the product, shown at the top and in the title. @default 'Daybook' at the top, 'Audit history' in the title */
  readonly title?: string
  /**
   * The path of an image on the same origin, shown at the top: `/assets/logo.svg`. Scripts in it do not run.
   * @default the logo of Daybook
   */
  readonly logo?: string
  /** Colours. @default the colours of Daybook */
  readonly theme?: PageTheme
}

export const APPEARANCE_OPTIONS: OptionNames<AppearanceOptions> = {
  title: true,
  logo: true,
  theme: true,
}

interface Appearance {
  readonly title: string
  readonly logo: string
  /** The style sheet of the theme and its path below the page's. */
  readonly sheet: { readonly path: string; readonly asset: PageAsset } | undefined
}

const MAX_TITLE_LENGTH = 80

const invalid = (option: string, allowed: string, value: unknown): AuditLogError =>
  new AuditLogError('INVALID_OPTION', `${option} must be ${allowed}; it is ${inspect(value)}`)

/** Throws `INVALID_OPTION`, which names the option and the allowed values. */
export function readAppearance({ title = '', logo = '', theme }: AppearanceOptions): Appearance {
  if (typeof title !== 'string' || title.length > MAX_TITLE_LENGTH)
    throw invalid('title', `a text of at most ${MAX_TITLE_LENGTH} characters`, title)
  // `//host` and `/\host` would be another origin.
  if (typeof logo !== 'string' || (logo !== '' && !/^\/(?![/\\])[\x21-\x7e]*$/.test(logo)))
    throw invalid('logo', 'a path on the same origin, such as /assets/logo.svg', logo)
  return { title, logo, sheet: theme === undefined ? undefined : sheetOf(themeSheet(theme)) }
}

function sheetOf(text: string): NonNullable<Appearance['sheet']> {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  const asset = { text, type: 'text/css; charset=utf-8', isHashed: true }
  return { path: `assets/theme-${hash}.css`, asset }
}
