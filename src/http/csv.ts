/**
 * What spreadsheets take for a formula, also behind white space, and what they drop to find one (OWASP,
 * "CSV Injection").
 */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/

const NEEDS_QUOTES = /[",\r\n]/

function cellText(value: string): string {
  const text = FORMULA.test(value) ? `'${value}` : value
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * A record of a CSV file (RFC 4180, section 2), with its line break. A cell that a spreadsheet would run
 * has a `'` in front.
 */
export function csvRecord(cells: readonly string[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}
