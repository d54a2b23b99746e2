import { perObject } from '../../../src/store/per-object.js'
import { codeOf, isStatementError, NEEDS_SETTINGS, QUERY_CANCELED } from './failures.js'

/*
 * A role, a database, an option of the pool or the host may have changed any setting of a session, and the host may have
 * returned the connection with an open transaction. The store changes no setting of a session:
 *
 * - Each transaction of the store begins with {@link pinStatements}, which sets what its statements depend on until its end.
 * - A single statement is sent as it is. If it fails with a code that a setting may explain, it had no effect: it is
 *   repeated in such a transaction. From then on all single statements of the connection run in one.
 * - The driver reports after each statement whether a transaction is open, and when the encoding changes.
 */

/** A client of a pool. The JavaScript driver emits an event for each message of the protocol. */
interface Client {
  readonly connection?:
    | { on?(event: string, listener: (message: object) => void): unknown }
    | undefined
}

/** The known state of a session. */
interface Session {
  /** As the server has last reported it: `I` if no transaction is open, `T` if one is, `E` if it can only be rolled back. */
  status: string | undefined
  /** True between the start and the end of a transaction of the store. */
  isOurs: boolean
  /** True if a single statement has needed a transaction with settings. */
  isPinned: boolean
  /** The present values of settings, as far as the server has reported them. */
  readonly settings: Map<string, string>
  /** True if the last BEGIN has found a transaction of the host. */
  isJoined: boolean
  /** True once the store has asked the server to cancel a statement. */
  isCancelled: boolean
  /** True if the time limit of the store counts, and no time limit of the session. */
  isLimited: boolean
}

export const sessionOf = perObject((client: Client): Session => {
  const session: Session = {
    status: undefined,
    isOurs: false,
    isPinned: false,
    settings: new Map(),
    isJoined: false,
    isCancelled: false,
    isLimited: false,
  }
  watch(client, session)
  return session
})

interface Report {
  readonly status?: string
  readonly parameterName?: string
  readonly parameterValue?: string
}

function watch({ connection }: Client, session: Session): void {
  connection?.on?.('readyForQuery', ({ status }: Report) => void (session.status = status))
  connection?.on?.('parameterStatus', ({ parameterName, parameterValue = '' }: Report) => {
    // A transaction of the store changes them too, until its end.
    if (parameterName !== undefined && !session.isOurs)
      session.settings.set(parameterName, parameterValue)
  })
}

/** Settings that the server reports, the second one since Postgres 18, and whether single statements work with a value. */
const SUITED: Readonly<Record<string, (value: string) => boolean>> = {
  client_encoding: (value) => value === 'UTF8',
  search_path: (value) => !value.includes('pg_catalog'),
}

/** True if single statements need a transaction with settings. */
export function needsPin(client: Client): boolean {
  const { isPinned, settings } = sessionOf(client)
  if (isPinned) return true
  for (const [name, isSuited] of Object.entries(SUITED)) {
    const value = settings.get(name)
    if (value !== undefined && !isSuited(value)) return true
  }
  return false
}

/** The connection has a transaction that the host has left open. It is lost with the connection, which must be closed. */
export const foreignTransaction = (): Error =>
  new Error("the connection is in a transaction that is not the store's")

/** True if the server has reported a transaction that is not the store's. */
export function isForeign(client: Client): boolean {
  const { status, isOurs } = sessionOf(client)
  return !isOurs && (status === 'T' || status === 'E')
}

/** True if a single statement may have failed because of a setting of the session. */
export function maySettingsMend(client: Client, error: unknown): boolean {
  if (!isStatementError(error)) return false
  const code = codeOf(error)
  return code === QUERY_CANCELED ? !sessionOf(client).isCancelled : MENDABLE.has(code)
}

const MENDABLE: ReadonlySet<string> = new Set([
  NEEDS_SETTINGS,
  '40001', // serialization_failure: another isolation level
  '55P03', // lock_not_available: lock_timeout
  // Another search_path leads to another function, operator or type.
  '42704', // undefined_object
  '42725', // ambiguous_function
  '42804', // datatype_mismatch
  '42846', // cannot_coerce
  '42883', // undefined_function
])

/** Settings of one transaction, by their names. */
export type LocalSettings = Readonly<Record<string, string>>

/** The values that are stored depend on these, and the warning that the standby has not confirmed a commit. */
const OF_WRITES: LocalSettings = {
  array_nulls: 'on',
  client_min_messages: 'warning',
  standard_conforming_strings: 'on',
}

const set = (name: string, value: string): string => `SET LOCAL ${name} = ${value}`

/** Statement that puts the built-in names before those that the path of the session finds. */
const HOST_PATH = `SELECT pg_catalog.set_config('search_path', pg_catalog.rtrim(pg_catalog.concat(
  'pg_catalog, pg_temp, ', pg_catalog.current_setting('search_path')), ', '), true)`

/** Statement that selects false if the host has begun the transaction, in an earlier message. */
const IS_NEW = 'SELECT pg_catalog.now() OPERATOR(pg_catalog.=) pg_catalog.statement_timestamp()'

/**
 * The first statements after BEGIN, in the same message. For a write, the last one selects whether the transaction is new. Work
 * of the host's own, such as `captureChanges`, keeps the time limits and the search path of the session. Each SET takes 3 µs.
 */
export function pinStatements(
  client: Client,
  isWrite: boolean,
  local: LocalSettings = {},
): readonly string[] {
  const { isLimited, settings } = sessionOf(client)
  const values: LocalSettings = {
    // The first ones: the time limits of the session apply until then.
    ...(isLimited && { statement_timeout: '0', lock_timeout: '0' }),
    ...(isLimited && settings.has(TRANSACTION_TIMEOUT) && { [TRANSACTION_TIMEOUT]: '0' }),
    // A suspended process must not hold locks or an old snapshot for ever.
    idle_in_transaction_session_timeout: '60s',
    ...(settings.get('client_encoding') !== 'UTF8' && { client_encoding: 'UTF8' }),
    ...(isWrite && OF_WRITES),
    ...local,
  }
  return [
    ...Object.entries(values).map(([name, value]) => set(name, `'${value}'`)),
    isLimited ? set('search_path', 'pg_catalog, pg_temp') : HOST_PATH,
    ...(isWrite ? [IS_NEW] : []),
  ]
}

/** Known for a server that has it: since Postgres 17. */
export const TRANSACTION_TIMEOUT = 'transaction_timeout'
