/**
 * Text that spreadsheets may run as a formula, with leading white space and control characters, which
 * some of them skip (OWASP, "CSV Injection").
 */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/

const NEEDS_QUOTES = /[",\r\n]/

function cellText(value: string): string {
  const text = FORMULA.test(value) ? `'${value}` : value
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * A record of a CSV file (RFC 4180, section 2), including its line break. A cell that a spreadsheet would
 * run as a formula is prefixed with `'`.
 */
export function csvRecord(cells: readonly string[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}
