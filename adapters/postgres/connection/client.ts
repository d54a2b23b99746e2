import { randomUUID } from 'node:crypto'
import { codeOf, isStalePlan, isStatementError, QUERY_CANCELED } from './failures.js'
import { brokenPackage, loadPackage } from '../../../src/store/packages.js'
import { requireNode } from '../../../src/store/node-version.js'

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
  /** Of the JavaScript driver. */
  readonly connection?: { readonly stream?: { destroy(): unknown } } | undefined
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

/** Connections that lead through a pooler, whose process ids are none of the server. */
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
}

/** True if a commit since the connection was taken, or since `confirmCommits`, may be lost with the server. */
export const isUnconfirmed = (client: PostgresPoolClient): boolean => unconfirmed.has(client)

/**
 * Takes a connection from the pool and listens for its errors, as an error event without a listener
 * ends the process. The listener is added in the callback: the first packet of the server may
 * already close the connection, which is too early for a promise.
 */
export const checkOut = (pool: PostgresPool): Promise<PostgresPoolClient> =>
  new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (!client) return reject(error ?? new Error('the pool gave no connection'))
      client.on('error', ignore)
      unconfirmed.delete(client)
      client.on('notice', noteWarning)
      return resolve(client)
    })
  })

/** Breaks the connection at once: a server that does not answer would not end it. */
export const disconnect = (client: PostgresPoolClient): void =>
  void client.connection?.stream?.destroy()

const closing = new WeakSet<PostgresPoolClient>()

/** `giveBack` will close the connection. */
export const closeOnReturn = (client: PostgresPoolClient): void => void closing.add(client)

/** Returns the connection to the pool; closes it if it is not sound, or if `closeOnReturn` was called. */
export function giveBack(client: PostgresPoolClient, isSound: boolean): void {
  const isKept = isSound && !closing.has(client)
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
}

/** A pool that this module has opened. */
export interface OwnPool extends PostgresPool {
  on(event: 'error' | 'remove', listener: () => void): unknown
  /** `error` is what `release` got. */
  on(event: 'release', listener: (error: unknown) => void): unknown
  on(event: 'connect', listener: (client: PostgresPoolClient & { unref(): void }) => void): unknown
  end(): Promise<void>
}

/** A `Client` of pg that belongs to no pool. */
export interface OwnClient extends PostgresPoolClient {
  connect(): Promise<void>
}

interface Driver {
  readonly Pool: new (options: object) => OwnPool
  readonly Client: new (options: object) => OwnClient
}

/** Loads pg; throws `MISSING_DEPENDENCY` if that fails. */
export function loadDriver(): Driver {
  requireNode()
  const driver = loadPackage({ name: 'pg', neededBy: 'the Postgres store' }) as Partial<Driver>
  if (typeof driver.Pool !== 'function') throw brokenPackage('pg', 'it has no Pool')
  return driver as Driver
}

/** Options of pg for each connection. */
export const CONNECTING = {
  connectionTimeoutMillis: 5000,
  keepAlive: true,
  // Sends the commit that confirms an append together with it.
  pipeline: true,
  fallback_application_name: 'daybook',
} as const

/**
 * Listens for the errors of a pool and of its connections: without a listener they would end the process. Returns a
 * function that ends the pool.
 */
export function watchPool(pool: OwnPool): () => Promise<void> {
  const open = new Set<{ unref(): void }>()
  // The pool replaces a connection that breaks while idle.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    // A connection may also break while it is being closed, which the pool no longer watches.
    client.on('error', () => {})
    open.add(client)
    client.on('end', () => open.delete(client))
  })
  return async () => {
    await pool.end()
    // A server that does not answer does not end its connections, which must not keep the process running.
    for (const client of open) client.unref()
  }
}

/** A pool that the store ends. */
export interface EndedPool extends PostgresPool {
  readonly end: () => Promise<void>
}

/** `onLoss` is called whenever a connection has ended. */
export function openPool(
  connectionString: string,
  max?: number,
  onLoss: () => void = ignore,
): EndedPool {
  const { Pool } = loadDriver()
  const pool = new Pool({ connectionString, ...CONNECTING, max })
  const end = watchPool(pool)
  pool.on('remove', onLoss)
  // `remove` follows only when the connection has been closed.
  pool.on('release', (error) => {
    if (error) onLoss()
  })
  return { connect: (callback) => pool.connect(callback), end }
}

/** A row in Postgres' text format, whatever type parsers the host has set. */
export type TextRow = readonly (string | null)[]

const AS_TEXT = { getTypeParser: () => (value: string) => value }

/** How many statements of a connection are not answered, and since when it has not answered any. */
const unanswered = new WeakMap<PostgresPoolClient, { count: number; since: number }>()

/** For how long a connection with unanswered statements has answered none, in milliseconds; negative if it has none. */
export function unansweredMs(client: PostgresPoolClient): number {
  const waiting = unanswered.get(client)
  return waiting && waiting.count > 0 ? performance.now() - waiting.since : -Infinity
}

async function send(client: PostgresPoolClient, text: string, values: unknown[], name?: string) {
  const waiting = unanswered.get(client) ?? { count: 0, since: 0 }
  unanswered.set(client, waiting)
  if (waiting.count++ === 0) waiting.since = performance.now()
  try {
    return await client.query({ name, text, values, rowMode: 'array', types: AS_TEXT })
  } finally {
    waiting.count--
    waiting.since = performance.now()
  }
}

export async function ask(
  client: PostgresPoolClient,
  text: string,
  ...values: unknown[]
): Promise<TextRow[]> {
  return (await send(client, text, values)).rows as TextRow[]
}

/** Each takes memory of the server; a process may have thousands of logs. */
const MAX_PREPARED = 16
/** Differs from the names of other copies of this module that use the same connections. */
const PREPARED_PREFIX = `daybook_${randomUUID().slice(0, 8)}`

/** The names of the prepared statements of each connection, by their text. */
const preparedNames = new WeakMap<PostgresPoolClient, Map<string, string>>()

/** Connections that have lost prepared statements. */
const unprepared = new WeakSet<PostgresPoolClient>()

/** The name of the prepared statement, which ends with `use`; `undefined` if the connection cannot keep it. */
function preparedName(client: PostgresPoolClient, use: string, text: string): string | undefined {
  if (isPooled(client) || unprepared.has(client)) return undefined
  let names = preparedNames.get(client)
  if (!names) {
    names = new Map()
    preparedNames.set(client, names)
  }
  const known = names.get(text)
  if (known !== undefined || names.size === MAX_PREPARED) return known
  const name = `${PREPARED_PREFIX}_${names.size}_${use}`
  names.set(text, name)
  return name
}

/**
 * Like {@link ask}, but the server parses and plans the statement once for each connection, unless that leads through a
 * pooler. A statement that `DISCARD` or a new schema has made invalid is sent again unprepared. Its name ends with `use`.
 */
export async function askPrepared(
  client: PostgresPoolClient,
  use: string,
  text: string,
  ...values: unknown[]
): Promise<TextRow[]> {
  const name = preparedName(client, use, text)
  try {
    return (await send(client, text, values, name)).rows as TextRow[]
  } catch (error) {
    if (name === undefined || !isStalePlan(error)) throw error
    const rows = await ask(client, text, ...values)
    unprepared.add(client)
    return rows
  }
}

/** Sends several statements without parameters in one message; returns the rows of each. */
export async function askAll(client: PostgresPoolClient, text: string): Promise<TextRow[][]> {
  const results = await send(client, text, [])
  return [results].flat().map(({ rows }) => rows as TextRow[])
}

/** Like {@link askAll}, but returns only the rows of the last statement. */
export const askLast = async (client: PostgresPoolClient, text: string): Promise<TextRow[]> =>
  (await askAll(client, text)).at(-1)!

/** SQL that makes the commit wait for the disk, whatever the server's default. */
export const DURABLE = `CASE current_setting('synchronous_commit')
  WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`

/** SQL expression that makes the transaction's commit not wait for the disk: a crash may undo it. */
export const ASYNC_COMMIT = `set_config('synchronous_commit', 'off', true)`

/**
 * SQL expression for the transaction that runs a statement, after the session of it: two servers, or two starts of one, never
 * share a session.
 */
export const TRANSACTION = `concat_ws('|', pg_backend_pid(), pg_postmaster_start_time(),
  CASE WHEN NOT pg_is_in_recovery() THEN pg_current_xact_id() END)`

/** Why a commit does not confirm another one; `undefined` if it does. */
function doubtOf(commit: string, confirming: string): string | undefined {
  if (commit === confirming) return "the connection is in a transaction that is not the store's"
  const [session, other] = [commit, confirming].map((text) => text.replace(/\|\d+$/, ''))
  return session === other ? undefined : 'another session has confirmed the commit'
}

/*
 * Commits that do not wait for the disk become visible, and give up their locks, in the order of their WAL records. A later
 * commit that waits has everything before it on the disk, and on the standbys that `synchronous_commit` asks for
 * (https://www.postgresql.org/docs/current/wal-async-commit.html). A commit waits only if its transaction has
 * written something: the message leaves no row behind, needs no privilege, and may be sent in a read-only
 * transaction. A standby, which cannot write it, has only what is on the disk of its primary. The warning that a wait
 * was cancelled arrives whatever the role's settings say.
 */
const CONFIRM = `SELECT ${TRANSACTION}, ${DURABLE}, set_config('client_min_messages', 'warning', true),
  CASE WHEN NOT pg_is_in_recovery() THEN pg_logical_emit_message(true, 'daybook', '') END`

/** Returns its transaction. */
async function confirm(client: PostgresPoolClient): Promise<string> {
  const [row] = await askPrepared(client, 'confirm', CONFIRM)
  return row![0]!
}

/**
 * Resolves once everything that was committed before is durable, as `synchronous_commit` asks. `isUnconfirmed`
 * returns whether this wait was cancelled.
 */
export async function confirmCommits(client: PostgresPoolClient): Promise<void> {
  unconfirmed.delete(client)
  try {
    await confirm(client)
  } catch (error) {
    unconfirmed.add(client)
    throw error
  }
}

/** The rows of a statement whose transaction is visible, and a promise that resolves once it is durable. */
export interface Committed {
  readonly rows: TextRow[]
  readonly durable: Promise<void>
}

/**
 * Runs a statement `text(durability)` whose first column is {@link TRANSACTION}, and commits it. Its locks are released before
 * the disk has it: a second commit, which is sent at once where the driver can, waits for that. Behind a
 * pooler that commit might reach another server, so the statement itself waits there.
 */
export async function askAndCommit(
  client: PostgresPoolClient,
  use: string,
  text: (durability: string) => string,
  ...values: unknown[]
): Promise<Committed> {
  if (isPooled(client)) {
    const rows = await askPrepared(client, use, text(DURABLE), ...values)
    return { rows, durable: Promise.resolve() }
  }
  const statement = text(ASYNC_COMMIT)
  const name = preparedName(client, use, statement)
  const sending = send(client, statement, values, name)
  const early = client.pipeline ? confirm(client) : undefined
  // Rejects too if the statement does.
  early?.catch(ignore)
  let rows: TextRow[]
  try {
    rows = (await sending).rows as TextRow[]
  } catch (error) {
    if (name === undefined || !isStalePlan(error)) throw error
    await early
    unprepared.add(client)
    return askAndCommit(client, use, text, ...values)
  }
  const confirming = (early ?? confirm(client)).catch((error: unknown) => {
    // A request to cancel the statement, which came after it: the caller learns what is stored.
    if (codeOf(error) !== QUERY_CANCELED) throw error
    return confirm(client)
  })
  const durable = confirming.then((transaction) => {
    const doubt = doubtOf(rows[0]![0]!, transaction)
    if (doubt === undefined) return
    notePooled(client)
    throw new Error(doubt)
  })
  durable.catch(ignore)
  return { rows, durable }
}

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
  await askLast(client, `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT ${durability}`)
  try {
    const result = await act()
    await askToCommit(client, 'COMMIT')
    return result
  } catch (error) {
    await ask(client, 'ROLLBACK').catch(ignore)
    throw error
  }
}

/** Like {@link runInTransaction}, but its locks are released before the commit is durable. Resolves when it is. */
export async function runAndConfirm<Result>(
  client: PostgresPoolClient,
  act: () => Promise<Result>,
): Promise<Result> {
  if (isPooled(client)) return runInTransaction(client, act)
  const result = await runInTransaction(client, act, ASYNC_COMMIT)
  await confirmCommits(client)
  return result
}
