import {
  ASYNC_COMMIT,
  begin,
  BY_KEY,
  DURABLE,
  endTransaction,
  isPooled,
  notePooled,
  type PostgresPoolClient,
  runInTransaction,
  send,
  sendPinned,
  setConfirming,
  setUnconfirmed,
  type TextRow,
} from './client.js'
import { codeOf, isStalePlan, QUERY_CANCELED } from './failures.js'
import { askPrepared, noteUnprepared, preparedName } from './prepared.js'
import { maySettingsMend, needsPin, sessionOf } from './session.js'

/**
 * SQL expression for the transaction that runs a statement, after the session of it: two servers, or two starts of one, never
 * share a session.
 */
export const TRANSACTION = `pg_catalog.concat_ws('|', pg_catalog.pg_backend_pid(),
  extract(epoch FROM pg_catalog.pg_postmaster_start_time()),
  CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_current_xact_id() END)`

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
 * transaction. A standby, which cannot write it, has only what is on the disk of its primary.
 */
const EMIT = `pg_catalog.pg_logical_emit_message(true, 'daybook', '')`

const CONFIRM = `SELECT ${TRANSACTION}, ${DURABLE}, CASE WHEN NOT pg_catalog.pg_is_in_recovery()
  THEN ${EMIT} END`

/**
 * Reads with statements of its own in a READ COMMITTED transaction, whose commit confirms everything that they have read, on the same server.
 * `isUnconfirmed` returns whether the wait for it was cancelled. Rejects on a standby.
 */
export async function readDurably<Result>(
  client: PostgresPoolClient,
  first: string,
  act: (rows: TextRow[]) => Promise<Result>,
): Promise<Result> {
  const opening = `SELECT ${DURABLE}, ${EMIT}; ${first}`
  const begun = await begin(client, 'READ COMMITTED', { settings: BY_KEY, first: opening })
  const result = await act(begun.first.at(-1) as TextRow[])
  await endTransaction(client, 'COMMIT')
  return result
}

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
  setUnconfirmed(client, false)
  try {
    await confirm(client)
  } catch (error) {
    setUnconfirmed(client, true)
    throw error
  }
}

/**
 * The rows of a statement whose transaction is visible, and a promise that resolves once it is durable. Until then
 * `isUnconfirmed` is true for the connection.
 */
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
  const isPinned = needsPin(client)
  const statement = text(ASYNC_COMMIT)
  const name = preparedName(client, use, statement)
  const sending = (isPinned ? sendPinned : send)(client, { text: statement, values, name })
  const early = client.pipeline && !isPinned ? confirm(client) : undefined
  // Rejects too if the statement does.
  early?.catch(() => {})
  let rows: TextRow[]
  try {
    rows = (await sending).rows as TextRow[]
  } catch (error) {
    const isStale = name !== undefined && isStalePlan(error)
    if (!isStale && (isPinned || !maySettingsMend(client, error))) throw error
    await early
    if (isStale) noteUnprepared(client)
    else sessionOf(client).isPinned = true
    return askAndCommit(client, use, text, ...values)
  }
  setConfirming(client, true)
  const confirming = (early ?? confirm(client)).catch((error: unknown) => {
    // A request to cancel the statement, which came after it: the caller learns what is stored.
    if (codeOf(error) !== QUERY_CANCELED) throw error
    return confirm(client)
  })
  const durable = confirming.then((transaction) => {
    const doubt = doubtOf(rows[0]![0]!, transaction)
    if (doubt === undefined) return setConfirming(client, false)
    notePooled(client)
    throw new Error(doubt)
  })
  durable.catch(() => {})
  return { rows, durable }
}

/** Like {@link runInTransaction}, but its locks are released before the commit is durable. Resolves when it is. */
export async function runAndConfirm<Result>(
  client: PostgresPoolClient,
  act: () => Promise<Result>,
): Promise<Result> {
  if (isPooled(client)) return runInTransaction(client, act)
  const result = await runInTransaction(client, act, ASYNC_COMMIT)
  setConfirming(client, true)
  await confirmCommits(client)
  setConfirming(client, false)
  return result
}
