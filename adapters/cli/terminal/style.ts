import { styleText } from 'node:util'
import type { Output, Terminal } from './terminal.js'

export type Style = Parameters<typeof styleText>[0]

/** Returns the text in a style, or unchanged if colours are off. */
export type Paint = (style: Style, text: string) => string

/** True if colours are to be used, by https://no-color.org and https://force-color.org. */
function hasColours(output: Output, env: Terminal['env']): boolean {
  if (env['FORCE_COLOR'] !== undefined) return env['FORCE_COLOR'] !== '0'
  if (env['NO_COLOR']) return false
  return output.isTTY === true && env['TERM'] !== 'dumb'
}

export const painter = (output: Output, env: Terminal['env']): Paint =>
  hasColours(output, env)
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_style, text) => text
