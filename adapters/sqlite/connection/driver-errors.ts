/** The result codes that the store distinguishes: https://www.sqlite.org/rescode.html */
const CODES: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  26: 'SQLITE_NOTADB',
  8458: 'SQLITE_IOERR_CORRUPTFS',
}

// The last byte of an extended result code is its primary one.
const PRIMARY = 0xff

/**
 * The name of SQLite's result code, or its beginning, in an error of a driver; empty for any other error.
 * better-sqlite3 gives the name in `code`; `node:sqlite` gives the number in `errcode`.
 */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('errcode' in error && typeof error.errcode === 'number')
    return CODES[error.errcode] ?? CODES[error.errcode & PRIMARY] ?? ''
  return 'code' in error ? String(error.code) : ''
}
