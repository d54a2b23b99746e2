import { ask, type PostgresPoolClient } from '../connection/client.js'

/*
 * Tells which rows a table had at a moment, by the transactions that have inserted them. Rows of events are never
 * updated.
 */

/** A moment of a cluster. */
export interface RowSnapshot {
  readonly cluster: string
  /** The oldest transaction that had not ended. */
  readonly oldest: number
}

const PATTERN = /^(\d+):(\d+)$/

export const formatSnapshot = ({ cluster, oldest }: RowSnapshot): string => `${cluster}:${oldest}`

/** `undefined` if the text is not the text of a snapshot. */
export function parseSnapshot(text: string): RowSnapshot | undefined {
  const [, cluster, oldest] = PATTERN.exec(text) ?? []
  return cluster === undefined ? undefined : { cluster, oldest: Number(oldest) }
}

export async function takeSnapshot(
  client: PostgresPoolClient,
  cluster: string,
): Promise<RowSnapshot> {
  const [row] = await ask(client, 'SELECT pg_snapshot_xmin(pg_current_snapshot())')
  return { cluster, oldest: Number(row![0]) }
}

/** Rows have 32 bits of the ids of their transactions. */
const EPOCH = 2 ** 32

/**
 * SQL that is true for a row whose transaction is older than `oldest`. The table had each such row at that moment. It had others
 * too, of transactions that began later and had ended: their ids do not show whether they belong to a savepoint of a transaction
 * that was still open. The SQL is also false for a row that is older by a multiple of 2^32 transactions.
 */
export const isInSnapshotSql = ({ oldest }: RowSnapshot): string =>
  `(xmin::text::bigint + ${EPOCH - (oldest % EPOCH)}) % ${EPOCH}
     >= (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint - ${oldest})`
