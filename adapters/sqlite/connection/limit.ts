/**
 * SQL for a limit that is a parameter. SQLite plans a statement for the value of a plain `LIMIT ?`, and so prepares it again
 * after each new binding; it does not do so for an expression.
 */
export const LIMIT = 'LIMIT ? + 0'
