import { stripVTControlCharacters } from 'node:util'
import { shortText } from '../../../src/describing/visible-text.js'
import { painter, type Style } from './style.js'
import { type Terminal, write } from './terminal.js'

/** A column of a table of rows. */
export interface Column<Row> {
  readonly heading: string
  /** Empty for a value that is missing. */
  readonly text: (row: Row) => string
  /** Style on a terminal. @default none */
  readonly style?: ((row: Row) => Style | undefined) | undefined
  /** @default left */
  readonly align?: 'left' | 'right'
}

const MAX_CELL = 1000
// Characters of these scripts, and most emoji, take two columns of a terminal.
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\uFF01-\uFF60]/gu
const NO_WIDTH = /[\p{Mn}\p{Me}\u200C\u200D]/gu

/** The number of columns that the text takes on a terminal. */
export function widthOf(text: string): number {
  const plain = stripVTControlCharacters(text).replace(NO_WIDTH, '')
  return [...plain].length + (plain.match(WIDE)?.length ?? 0)
}

/**
 * Prints rows: aligned and with headings on a terminal, as tab-separated values elsewhere, as lines of JSON if `asJson`. Text is
 * shown in one line, without invisible characters.
 */
export async function printTable<Row>(
  { stdout, env }: Pick<Terminal, 'stdout' | 'env'>,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  asJson: boolean,
): Promise<void> {
  if (asJson) {
    for (const row of rows) await write(stdout, `${JSON.stringify(row)}\n`)
    return
  }
  const cells = rows.map((row) => columns.map(({ text }) => shortText(text(row), MAX_CELL)))
  if (!stdout.isTTY) {
    for (const row of cells) await write(stdout, `${row.join('\t')}\n`)
    return
  }
  const headings = columns.map(({ heading }) => heading)
  const widths = headings.map((heading, i) =>
    Math.max(widthOf(heading), ...cells.map((row) => widthOf(row[i]!))),
  )
  const paint = painter(stdout, env)
  const line = (texts: readonly string[], styleOf: (i: number) => Style | undefined): string => {
    const padded = texts.map((text, i) => {
      const style = styleOf(i)
      const painted = style === undefined || text === '' ? text : paint(style, text)
      const space = ' '.repeat(widths[i]! - widthOf(text))
      return columns[i]!.align === 'right' ? space + painted : painted + space
    })
    return `${padded.join('  ').trimEnd()}\n`
  }
  await write(
    stdout,
    line(headings, () => 'dim'),
  )
  for (const [index, row] of rows.entries())
    await write(
      stdout,
      line(cells[index]!, (i) => columns[i]!.style?.(row)),
    )
}
