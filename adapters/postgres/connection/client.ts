import { perObject } from '../../../src/store/per-object.js'
import {
  ACTIVE_TRANSACTION,
  codeOf,
  FAILED_TRANSACTION,
  isStatementError,
  QUERY_CANCELED,
} from './failures.js'
import {
  foreignTransaction,
  isForeign,
  type LocalSettings,
  maySettingsMend,
  needsPin,
  pinStatements,
  sessionOf,
} from './session.js'
import { type AuditLogError, invalidOption } from '../../../src/errors.js'
import { MAX_TIMER_MS } from '../../../src/async/timers.js'

/*
 * The part of pg (8.11 or newer) that is used here, as structural types: compiling against Daybook
 * does not need the types of pg, and other stores do not need the package.
 */

/** A `Pool` or a `Client`. */
export interface PostgresClient {
  query(text: string, params?: unknown[]): Promise<{ readonly rows: unknown[] }>
}

interface PostgresNotice {
  readonly code?: string | undefined
}

export interface PostgresNotification {
  readonly channel: string
  readonly payload?: string | undefined
}

/** A client of a pool. */
export interface PostgresPoolClient extends PostgresClient {
  /** The id of the server process of the connection. */
  readonly processID?: number | null | undefined
  /** True if the driver sends a statement before earlier ones are answered. */
  readonly pipeline?: boolean | undefined
  /** True if the driver asks for results in the binary format. */
  binary?: boolean | undefined
  /** The role that has connected. */
  readonly user?: string | undefined
  /** Of the driver that uses libpq. */
  readonly native?: unknown
  readonly connectionParameters?: { readonly query_timeout?: unknown } | undefined
  /** Of the JavaScript driver. */
  readonly connection?:
    | {
        readonly stream?: { destroy(): unknown }
        on?(event: string, listener: (message: object) => void): unknown
      }
    | undefined
  query(config: QueryConfig): Promise<{ readonly rows: unknown[] }>
  query(text: string, params?: unknown[]): Promise<{ readonly rows: unknown[] }>
  /** With true, the connection is closed instead of returned to the pool. */
  release(destroy?: boolean): void
  on(event: 'error' | 'end', listener: () => void): unknown
  on(event: 'notification', listener: (notification: PostgresNotification) => void): unknown
  on(event: 'notice', listener: (notice: PostgresNotice) => void): unknown
  removeListener(event: 'error' | 'end', listener: () => void): unknown
  removeListener(
    event: 'notification',
    listener: (notification: PostgresNotification) => void,
  ): unknown
  removeListener(event: 'notice', listener: (notice: PostgresNotice) => void): unknown
}

/** A `Pool`. */
export interface PostgresPool {
  connect(
    callback: (error: Error | undefined, client: PostgresPoolClient | undefined) => void,
  ): void
}

const ignore = (): void => {}

/** Connections that lead through a pooler, whose process ids are not the server's. */
const pooled = new WeakSet<PostgresPoolClient>()

export const notePooled = (client: PostgresPoolClient): void => void pooled.add(client)
export const isPooled = (client: PostgresPoolClient): boolean => pooled.has(client)

/** Connections with a commit that the disk or the synchronous standby may lack. */
const unconfirmed = new WeakSet<PostgresPoolClient>()

/**
 * A commit that is cancelled while it waits for the synchronous standby succeeds with this code:
 * https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION-HA
 */
const WARNING = '01000'

function noteWarning(this: PostgresPoolClient, { code }: PostgresNotice): void {
  if (code === WARNING) unconfirmed.add(this)
  if (code === ACTIVE_TRANSACTION) sessionOf(this).isJoined = true
}

/** Connections that wait for the commit that confirms an earlier one. */
const confirming = new WeakSet<PostgresPoolClient>()

/** True if a commit since the connection was taken, or since `confirmCommits`, may be lost with the server. */
export const isUnconfirmed = (client: PostgresPoolClient): boolean =>
  unconfirmed.has(client) || confirming.has(client)

export const setConfirming = (client: PostgresPoolClient, isWaiting: boolean): void =>
  void (isWaiting ? confirming.add(client) : confirming.delete(client))

export const setUnconfirmed = (client: PostgresPoolClient, isLacking: boolean): void =>
  void (isLacking ? unconfirmed.add(client) : unconfirmed.delete(client))

/** Without the warning of a cancelled wait for the standby, an event would count as durable that is not. */
const needsNotices = (): AuditLogError =>
  invalidOption(
    'the Postgres store needs the JavaScript client of pg: pg.native, which NODE_PG_FORCE_NATIVE selects, does not pass on warnings of the server',
  )

/**
 * Listens for the errors of the connection, as an error event without a listener ends the process. The listener is added in the
 * callback: the first packet of the server may already close the connection, which is too early for a promise.
 */
const take = (pool: PostgresPool): Promise<PostgresPoolClient> =>
  new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (!client) return reject(error ?? new Error('the pool gave no connection'))
      if (client.native !== undefined) {
        client.release()
        return reject(needsNotices())
      }
      client.on('error', ignore)
      setUnconfirmed(client, false)
      setConfirming(client, false)
      client.on('notice', noteWarning)
      return resolve(client)
    })
  })

/** More connections with open transactions than any pool has. */
const MAX_FOREIGN = 1000

/** Takes a connection from the pool. Closes connections that the host has returned with an open transaction. */
export async function checkOut(pool: PostgresPool): Promise<PostgresPoolClient> {
  for (let taken = 0; taken < MAX_FOREIGN; taken++) {
    const client = await take(pool)
    if (!isForeign(client)) return client
    giveBack(client, false)
  }
  throw foreignTransaction()
}

/** Breaks the connection at once: a server that does not answer would not end it. */
export const disconnect = (client: PostgresPoolClient): void =>
  void client.connection?.stream?.destroy()

const closing = new WeakSet<PostgresPoolClient>()

/** `giveBack` will close the connection. */
export const closeOnReturn = (client: PostgresPoolClient): void => void closing.add(client)

/** Returns the connection to the pool; closes it if it is not sound, or if `closeOnReturn` was called. */
export function giveBack(client: PostgresPoolClient, isSound: boolean): void {
  const session = sessionOf(client)
  Object.assign(session, { isOurs: false, isCancelled: false, isLimited: false })
  const isKept = isSound && !closing.has(client) && !isForeign(client)
  // A connection that is being closed may emit further errors.
  if (isKept) client.removeListener('error', ignore)
  client.removeListener('notice', noteWarning)
  client.release(!isKept)
  if (!isSound) disconnect(client)
}

interface QueryConfig {
  /** The name of a prepared statement, which the connection keeps. */
  readonly name?: string | undefined
  readonly text: string
  readonly values: unknown[]
  readonly rowMode: 'array'
  readonly types: { getTypeParser(): (value: string) => unknown }
  /** In milliseconds. */
  readonly query_timeout?: number | undefined
}

/** A row in Postgres' text format, whatever type parsers the host has set. */
export type TextRow = readonly (string | null)[]

const AS_TEXT = { getTypeParser: () => (value: string) => value }

/** How many statements of a connection are not answered, and since when it has not answered any. */
const unanswered = perObject<PostgresPoolClient, { count: number; since: number }>(() => ({
  count: 0,
  since: 0,
}))

/** For how long a connection with unanswered statements has answered none, in milliseconds; negative if it has none. */
export function unansweredMs(client: PostgresPoolClient): number {
  const { count, since } = unanswered(client)
  return count > 0 ? performance.now() - since : -Infinity
}

interface Statement {
  readonly text: string
  readonly values?: unknown[]
  /** Of a prepared statement. */
  readonly name?: string | undefined
}

/** Asks for texts, and sets no time limit, whatever the options of the host's pool are. */
function query(client: PostgresPoolClient, { text, values = [], name }: Statement) {
  const { binary, connectionParameters } = client
  const config = {
    name,
    text,
    values,
    rowMode: 'array',
    types: AS_TEXT,
    ...(connectionParameters?.query_timeout ? { query_timeout: MAX_TIMER_MS } : {}),
  } as const
  if (!binary) return client.query(config)
  // The driver reads it while it takes the query.
  client.binary = false
  try {
    return client.query(config)
  } finally {
    client.binary = binary
  }
}

export async function send(client: PostgresPoolClient, statement: Statement) {
  const waiting = unanswered(client)
  if (waiting.count++ === 0) waiting.since = performance.now()
  try {
    return await query(client, statement)
  } finally {
    waiting.count--
    waiting.since = performance.now()
  }
}

/** Sends the statement in a transaction that has the settings it needs. */
export async function sendPinned(client: PostgresPoolClient, statement: Statement) {
  const session = sessionOf(client)
  session.isOurs = true
  try {
    await begin(client, 'READ COMMITTED')
    const answer = send(client, statement)
    // If the statement fails, COMMIT rolls back.
    if (client.pipeline) answer.catch(ignore)
    else await answer.catch(ignore)
    const ended = send(client, { text: 'COMMIT' })
    await Promise.allSettled([answer, ended])
    const result = await answer
    await ended
    return result
  } finally {
    session.isOurs = false
  }
}

/** Sends a statement that is a transaction of its own, or one of the store's transaction. */
export async function sendSingle(client: PostgresPoolClient, statement: Statement) {
  const session = sessionOf(client)
  if (session.isOurs) return send(client, statement)
  if (needsPin(client)) return sendPinned(client, statement)
  try {
    const result = await send(client, statement)
    if (isForeign(client)) throw foreignTransaction()
    return result
  } catch (error) {
    if (isForeign(client)) throw foreignTransaction()
    if (!maySettingsMend(client, error)) throw error
    const result = await sendPinned(client, statement)
    session.isPinned = true
    return result
  }
}

export async function ask(
  client: PostgresPoolClient,
  text: string,
  ...values: unknown[]
): Promise<TextRow[]> {
  return (await sendSingle(client, { text, values })).rows as TextRow[]
}

/** Like {@link ask}, for a statement that must not run in a transaction of the store. */
export const askAlone = async (client: PostgresPoolClient, text: string): Promise<TextRow[]> =>
  (await send(client, { text })).rows as TextRow[]

/** Sends several statements without parameters in one message; returns the rows of each. */
export async function askAll(client: PostgresPoolClient, text: string): Promise<TextRow[][]> {
  const results = await send(client, { text })
  return [results].flat().map(({ rows }) => rows as TextRow[])
}

type Isolation = 'READ COMMITTED' | 'REPEATABLE READ READ ONLY'

/** Statements that are sent in one message with BEGIN. */
interface Beginning {
  /** A statement that is executed in a transaction of its own before. */
  readonly before?: string | undefined
  /** @default those that every transaction has */
  readonly settings?: LocalSettings
  /** The first statements of the transaction. */
  readonly first?: string
}

interface Begun {
  /** The rows of `before`. */
  readonly before: readonly TextRow[] | undefined
  /** The rows of each statement of `first`. */
  readonly first: readonly (readonly TextRow[])[]
}

/**
 * Settings with which the planner takes index scans along the key: for a table that has grown since it was analyzed, it would
 * read and sort all of it.
 */
export const BY_KEY: LocalSettings = {
  enable_bitmapscan: 'off',
  enable_indexscan: 'on',
  enable_seqscan: 'off',
  jit: 'off',
}

/** How often a transaction begins anew that the session's time limit has ended. */
const MAX_BEGINNINGS = 20

/**
 * Begins a transaction of the store, in one message. `endTransaction` ends it, also if this rejects. The time limit of the
 * session applies until the message lifts it. If it ends the transaction, nothing has taken effect, and another one begins.
 */
export async function begin(
  client: PostgresPoolClient,
  isolation: Isolation,
  beginning: Beginning = {},
): Promise<Begun> {
  const { isLimited } = sessionOf(client)
  // The server reports its own time limit and that of the statements with the same code.
  const limitMs = Number(beginning.settings?.['statement_timeout'] ?? Infinity)
  for (let count = 1; ; count++) {
    const startedAt = performance.now()
    try {
      return await beginOnce(client, isolation, beginning)
    } catch (error) {
      const isOver = performance.now() - startedAt >= limitMs || count === MAX_BEGINNINGS
      const isSession = codeOf(error) === QUERY_CANCELED && !sessionOf(client).isCancelled
      if (!isSession || !isLimited || isOver) throw error
      await send(client, { text: 'ROLLBACK' })
    }
  }
}

async function beginOnce(
  client: PostgresPoolClient,
  isolation: Isolation,
  { before, settings = {}, first = '' }: Beginning,
): Promise<Begun> {
  const session = sessionOf(client)
  Object.assign(session, { isOurs: true, isJoined: false })
  const isWrite = isolation === 'READ COMMITTED'
  const ahead = before === undefined ? [] : ['BEGIN', before, 'COMMIT']
  const setUp = [
    ...ahead,
    `BEGIN ISOLATION LEVEL ${isolation}`,
    ...pinStatements(client, isWrite, settings),
  ]
  try {
    const answers = await askAll(client, `${setUp.join('; ')}; ${first}`)
    const [isNew] = answers[setUp.length - 1]?.[0] ?? []
    if (session.isJoined || (isWrite && isNew === 'f')) throw foreignTransaction()
    return {
      before: before === undefined ? undefined : answers[1],
      first: answers.slice(setUp.length),
    }
  } catch (error) {
    // The host has left a transaction open.
    throw IN_TRANSACTION.has(codeOf(error)) ? foreignTransaction() : error
  }
}

const IN_TRANSACTION: ReadonlySet<string> = new Set([ACTIVE_TRANSACTION, FAILED_TRANSACTION])

/** Ends the transaction of `begin`. */
export async function endTransaction(
  client: PostgresPoolClient,
  how: 'COMMIT' | 'ROLLBACK',
): Promise<void> {
  try {
    await (how === 'COMMIT' ? askToCommit(client, how) : send(client, { text: how }))
  } finally {
    sessionOf(client).isOurs = false
  }
}

/**
 * SQL expressions that make the commit wait for the disk, whatever the server's default, and report if the wait for the standby
 * was cancelled, whatever the role's settings.
 */
export const DURABLE = `CASE WHEN pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.=) 'off'
    THEN pg_catalog.set_config('synchronous_commit', 'on', true) END,
  pg_catalog.set_config('client_min_messages', 'warning', true)`

/** SQL expression that makes the transaction's commit not wait for the disk: a crash may undo it. */
export const ASYNC_COMMIT = `pg_catalog.set_config('synchronous_commit', 'off', true)`

/** Statement that ends the transaction after 2 s idle, so that a suspended process cannot hold its locks. */
export const IDLE_TIMEOUT = `SET LOCAL idle_in_transaction_session_timeout = '2s'`

/** Connections with a commit that the server has not answered. */
const committing = new WeakSet<PostgresPoolClient>()

/** True if the connection broke, or was given up, during a commit: it is not known whether it took effect. */
export const isCommitting = (client: PostgresPoolClient): boolean => committing.has(client)

/** Like {@link ask}, for a statement that commits. */
export async function askToCommit(
  client: PostgresPoolClient,
  text: string,
  ...values: unknown[]
): Promise<TextRow[]> {
  committing.add(client)
  try {
    const rows = await ask(client, text, ...values)
    committing.delete(client)
    return rows
  } catch (error) {
    if (isStatementError(error)) committing.delete(client)
    throw error
  }
}

/** Runs `act` in a READ COMMITTED transaction, whose commit waits for the disk unless `durability` says otherwise. */
export async function runInTransaction<Result>(
  client: PostgresPoolClient,
  act: () => Promise<Result>,
  durability = DURABLE,
): Promise<Result> {
  try {
    await begin(client, 'READ COMMITTED', { first: `SELECT ${durability}` })
    const result = await act()
    await endTransaction(client, 'COMMIT')
    return result
  } catch (error) {
    await endTransaction(client, 'ROLLBACK').catch(ignore)
    throw error
  }
}
