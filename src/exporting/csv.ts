/** Invisible characters, and those that separate cells in some locales. */
const SKIPPED = String.raw`[\s\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}\p{Cf}\u2800;,|]`

/** The signs that begin a formula, and their full-width and small forms. */
const SIGNS = '[=+\\-@＝＋－＠﹦﹢﹣﹫]'

/**
 * Text that spreadsheets may run as a formula, after characters that some of them skip or split at
 * (OWASP, "CSV Injection").
 */
const FORMULA = new RegExp(`^(?:[\\t\\r\\n]|${SKIPPED}*${SIGNS})`, 'u')

const NEEDS_QUOTES = /[",\r\n]/

function cellText(value: string): string {
  const text = FORMULA.test(value) ? `'${value}` : value
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * A cell of a CSV file (RFC 4180, section 2), including the comma or line break after it. A cell that a
 * spreadsheet would run as a formula is prefixed with `'`.
 */
export const csvCell = (value: string, isLast: boolean): string =>
  cellText(value) + (isLast ? '\r\n' : ',')

/** A record of a CSV file: the cells one after the other. */
export const csvRecord = (cells: readonly string[]): string =>
  cells.map((cell, i) => csvCell(cell, i === cells.length - 1)).join('')
