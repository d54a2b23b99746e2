import type { KeyRow, KeyTable } from '../../src/privacy/keys/key-table.js'
import { requestText } from '../../src/privacy/keys/stored-erasure.js'
import { runInTransaction } from './connection/client.js'
import { type Ask, createAsk } from './connection/connection.js'
import { readWithRetry, withRetry } from './log/calls.js'
import type { PostgresLog } from './log/log.js'
import {
  ERASURE_COLUMNS,
  KEY_COLUMNS,
  type KeyNames,
  readErasureRow,
  readKeyRow,
  readRing,
} from './schema/subject-keys.js'

/** Rows in an order that all processes share, so that no two of them wait for each other. */
const inOrder = (rows: readonly KeyRow[]): readonly KeyRow[] =>
  rows.toSorted((a, b) => ((a.mac ?? a.ref) < (b.mac ?? b.ref) ? -1 : 1))

const statements = ({ ring, keys, erasures }: KeyNames) => ({
  ring: `SELECT version, id, ring FROM ${ring}`,
  isEmpty: `SELECT NOT EXISTS (SELECT FROM ${keys}) AND NOT EXISTS (SELECT FROM ${erasures})`,
  firstRing: `INSERT INTO ${ring} VALUES (true, $1::int, $2, $3) ON CONFLICT DO NOTHING RETURNING 1`,
  nextRing: `UPDATE ${ring} SET version = $1::int, id = $2, ring = $3 WHERE version = $1::int - 1 RETURNING 1`,
  byMac: `SELECT ${KEY_COLUMNS} FROM ${keys} WHERE mac = ANY ($1::text[])`,
  byRef: `SELECT ${KEY_COLUMNS} FROM ${keys} WHERE ref = ANY ($1::text[])`,
  insert: `INSERT INTO ${keys} (${KEY_COLUMNS})
    SELECT ref, mac, $1, wrapped, created_at
    FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS made (ref, mac, wrapped, created_at)
    ON CONFLICT DO NOTHING`,
  delete: `DELETE FROM ${keys} WHERE mac = $1 RETURNING ref`,
  erase: `INSERT INTO ${erasures} (ref, mac, erased_at, request) VALUES ($1, $2, $3, $4)`,
  endErasure: `UPDATE ${erasures} SET events = $2::bigint, mac = NULL WHERE ref = $1 AND events IS NULL`,
  erasures: `SELECT ${ERASURE_COLUMNS} FROM ${erasures} ORDER BY id`,
  erasuresByRef: `SELECT ${ERASURE_COLUMNS} FROM ${erasures} WHERE ref = ANY ($1::text[])`,
  pending: `SELECT ${ERASURE_COLUMNS} FROM ${erasures} WHERE mac = $1 ORDER BY id`,
  erasureOf: `SELECT ${ERASURE_COLUMNS} FROM ${erasures} WHERE ref = $1`,
  wrappedBy: `SELECT ${KEY_COLUMNS} FROM ${keys} WHERE wrapper = $1 LIMIT $2::int`,
  rewrap: `UPDATE ${keys} AS kept SET wrapper = $1, wrapped = changed.wrapped
    FROM unnest($3::text[], $4::text[]) AS changed (ref, wrapped)
    WHERE kept.ref = changed.ref AND kept.wrapper = $2 RETURNING 1`,
})

/** The tables of keys in a schema of Postgres. */
export function postgresKeyTable(
  database: Pick<PostgresLog, 'use' | 'write'>,
  names: KeyNames,
  end: () => Promise<void>,
): KeyTable {
  const sql = statements(names)
  type Work<Result> = (ask: Ask) => Promise<Result>
  // In transactions of the store, settings of the host change no statement.
  const read = <Result>(signal: AbortSignal | undefined, act: Work<Result>): Promise<Result> =>
    readWithRetry(database, signal, (client) =>
      runInTransaction(client, () => act(createAsk(client))),
    )
  const write = <Result>(signal: AbortSignal | undefined, act: Work<Result>): Promise<Result> =>
    withRetry(database, signal, (client) => runInTransaction(client, () => act(createAsk(client))))
  /** True if the ring has this store key. It keeps it until the end of the transaction. */
  const isCurrent = async (ask: Ask, wrapper: string, lock: 'SHARE' | 'UPDATE'): Promise<boolean> =>
    (await ask(`${sql.ring} FOR ${lock}`))[0]?.[1] === wrapper

  return {
    name: 'postgres',
    ring: (signal) => read(signal, async (ask) => (await ask(sql.ring)).map(readRing)[0]),
    isEmpty: (signal) => read(signal, async (ask) => (await ask(sql.isEmpty))[0]![0] === 't'),

    replaceRing: (next, signal) =>
      write(signal, async (ask) => {
        const text = next.version === 1 ? sql.firstRing : sql.nextRing
        return (await ask(text, next.version, next.id, JSON.stringify(next))).length > 0
      }),

    byMac: (macs, signal) =>
      read(signal, async (ask) => (await ask(sql.byMac, macs)).map(readKeyRow)),

    byRef: (refs, signal) =>
      read(signal, async (ask) => ({
        // In this order, a key that is erased between the two statements is in one of the answers at least.
        keys: (await ask(sql.byRef, refs)).map(readKeyRow),
        erasures: (await ask(sql.erasuresByRef, refs)).map(readErasureRow),
      })),

    insert: (wrapper, given, signal) =>
      write(signal, async (ask) => {
        if (!(await isCurrent(ask, wrapper, 'SHARE'))) return undefined
        const rows = inOrder(given)
        const column = (name: keyof KeyRow): (string | null)[] => rows.map((row) => row[name])
        const columns = (['ref', 'mac', 'wrapped', 'created_at'] as const).map(column)
        await ask(sql.insert, wrapper, ...columns)
        const unnamed = rows.filter(({ mac }) => mac === null).map(({ ref }) => ref)
        const macs = rows.map(({ mac }) => mac).filter((mac) => mac !== null)
        const stored = [...(await ask(sql.byMac, macs)), ...(await ask(sql.byRef, unnamed))]
        return stored.map(readKeyRow)
      }),

    find: (mac, signal) =>
      read(signal, async (ask) => {
        const [key] = await ask(sql.byMac, [mac])
        const found = key ?? (await ask(sql.pending, mac)).at(-1)
        return found?.[0] ?? undefined
      }),

    erase: ({ wrapper, mac, erasure }, signal) =>
      write(signal, async (ask) => {
        if (!(await isCurrent(ask, wrapper, 'SHARE'))) return undefined
        const [deleted] = await ask(sql.delete, mac)
        if (!deleted) return (await ask(sql.pending, mac)).map(readErasureRow)[0] ?? null
        const [ref] = deleted
        await ask(sql.erase, ref, mac, erasure.erased_at, requestText(erasure))
        return (await ask(sql.erasureOf, ref)).map(readErasureRow)[0]!
      }),

    async endErasure(ref, events, signal) {
      await write(signal, (ask) => ask(sql.endErasure, ref, events))
    },

    erasures: (signal) =>
      read(signal, async (ask) => (await ask(sql.erasures)).map(readErasureRow)),

    wrappedBy: (wrapper, limit, signal) =>
      read(signal, async (ask) => (await ask(sql.wrappedBy, wrapper, limit)).map(readKeyRow)),

    rewrap: ({ former, wrapper, rows }, signal) =>
      write(signal, async (ask) => {
        // Two processes that rewrap at once would wait for each other's rows.
        if (!(await isCurrent(ask, wrapper, 'UPDATE'))) return undefined
        const refs = rows.map(({ ref }) => ref)
        const wrapped = rows.map((row) => row.wrapped)
        return (await ask(sql.rewrap, wrapper, former, refs, wrapped)).length
      }),

    close: end,
  }
}
