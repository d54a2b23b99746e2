import { AuditLogError, queryTimedOut } from '../../../src/errors.js'
import { LOST_TABLES } from '../../../src/store/lost-tables.js'

/** The SQLSTATE of a server error, or the system error code of a failed connection; '' for others. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Raised by the SQL function `append`; class DB is not used by the SQL standard or Postgres. */
export const TOO_LATE = 'DB001'
/** Raised by the SQL function `append` if the session has settings with which it would store something else. */
export const NEEDS_SETTINGS = 'DB002'
export const NO_PARTITION = '23514'
export const QUERY_CANCELED = '57014'
export const DATATYPE_MISMATCH = '42804'
export const NO_ACTIVE_TRANSACTION = '25P01'
export const UNDEFINED_TABLE = '42P01'
export const ACTIVE_TRANSACTION = '25001'
export const FAILED_TRANSACTION = '25P02'
const INSUFFICIENT_PRIVILEGE = '42501'
const READ_ONLY = '25006'
const DATA_CORRUPTED = 'XX001'

// Conditions that may end soon: https://www.postgresql.org/docs/current/errcodes-appendix.html
const TRANSIENT = new Set([
  READ_ONLY, // a standby, or a server that currently refuses writes
  FAILED_TRANSACTION, // the host has left it open; the next connection has none
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55000', // object_not_in_prerequisite_state: a database that accepts no connections
  '55006', // object_in_use
  '55P03', // lock_not_available
])
const TRANSIENT_CLASSES = /^(?:08|53|57|58)/

/** An error like those of the server, for a row that it can read but that makes no sense. */
export const damagedData = (reason: string): Error =>
  Object.assign(new Error(reason), { code: DATA_CORRUPTED })

/** True if the server could not read stored data because it is damaged. */
export function isCorrupt(error: unknown): boolean {
  const cause = error instanceof AuditLogError ? error.cause : error
  // data_corrupted and index_corrupted; damaged long values are internal errors. undefined_file: a damaged
  // row refers to a page or a transaction that never existed.
  return /^(?:XX00[012]|58P01)$/.test(codeOf(cause))
}

/** True if the server could not convert a value, such as text that is not JSON, or an array of another type. */
export function isDataError(error: unknown): boolean {
  const code = codeOf(error instanceof AuditLogError ? error.cause : error)
  return code.startsWith('22') || code === DATATYPE_MISMATCH
}

/** True if this process could not parse JSON. */
export const isNoJson = (error: unknown): boolean =>
  (error instanceof AuditLogError ? error.cause : error) instanceof SyntaxError

const isFromServer = (error: unknown): boolean => error instanceof Error && 'severity' in error

/** PgBouncer with `pool_mode = statement` refuses BEGIN, with a code of lost connections. */
const isStatementPooling = (error: unknown): boolean =>
  error instanceof Error && /statement pooling mode/.test(error.message)

/** True if the same call may succeed later: the server is away, out of space or read-only. */
export function isTransient(error: unknown): boolean {
  if (error instanceof AuditLogError || error instanceof TypeError) return false
  if (isStatementPooling(error)) return false
  const code = codeOf(error)
  // Errors that are not from the server are connection errors.
  return (
    !isFromServer(error) ||
    TRANSIENT.has(code) ||
    (TRANSIENT_CLASSES.test(code) && !isCorrupt(error))
  )
}

/** True if the server reported that the statement failed; false if the connection ended. */
export function isStatementError(error: unknown): boolean {
  return isFromServer(error) && !/^(?:08|25P04|57P)/.test(codeOf(error))
}

/** True if the connection ended, or there was none: the outcome on the server is not known. */
export const isLostConnection = (error: unknown): boolean =>
  isTransient(error) && !isStatementError(error)

const UNDEFINED_FUNCTION = '42883'

const STALE_PLAN = new Set([
  '0A000', // feature_not_supported: the result of the statement has other types
  '26000', // invalid_sql_statement_name: the session does not have the statement any more
  '42704', // undefined_object: a type was dropped
  UNDEFINED_FUNCTION, // its parameters have other types
  '42P05', // duplicate_prepared_statement: the session has a statement of another connection
  'XX000', // internal_error: a type was dropped
])

/** True if a statement may have failed only because it was prepared. It had no effect. */
export const isStalePlan = (error: unknown): boolean =>
  isFromServer(error) && STALE_PLAN.has(codeOf(error))

/** Remedies, by the code of the error. */
const REMEDIES: Readonly<Record<string, string>> = {
  [UNDEFINED_TABLE]: `; ${LOST_TABLES}`,
  '3F000': `; ${LOST_TABLES}`, // invalid_schema_name
  [UNDEFINED_FUNCTION]: `; ${LOST_TABLES}`,
  [INSUFFICIENT_PRIVILEGE]: ': daybook doctor names the GRANT that is missing',
  [READ_ONLY]:
    ': the server is a standby, or default_transaction_read_only is on for the server, the database, the role or the session',
}

export const isDenied = (error: unknown): boolean => codeOf(error) === INSUFFICIENT_PRIVILEGE

/** `QUERY_TIMEOUT` for a statement that was cancelled after `queryTimeoutMs`, else `STORE_FAILED`. */
export function asAuditLogError(error: unknown, queryTimeoutMs?: number): AuditLogError {
  if (error instanceof AuditLogError) return error
  if (queryTimeoutMs !== undefined && codeOf(error) === QUERY_CANCELED)
    return queryTimedOut(queryTimeoutMs, error)
  const reason = error instanceof Error ? error.message : String(error)
  const remedy = isStatementPooling(error)
    ? ': the pooler must have pool_mode = transaction or session'
    : (REMEDIES[codeOf(error)] ?? '')
  return new AuditLogError('STORE_FAILED', `the Postgres store failed: ${reason}${remedy}`, {
    cause: error,
  })
}

/** Calls a function of the caller. What it throws becomes an `AuditLogError`, which is not retried. */
export function callBack<Result>(act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    throw asAuditLogError(error)
  }
}
