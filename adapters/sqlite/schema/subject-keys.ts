import type { KeyErasure } from '../../../src/privacy/subject-keys.js'
import type { KeyRing, KeyRow, KeyTable } from '../../../src/privacy/keys/key-table.js'
import {
  readErasure,
  requestText,
  type StoredErasure,
} from '../../../src/privacy/keys/stored-erasure.js'
import type { Connection } from '../connection/connection.js'
import { emptyWal } from '../connection/disk-failure.js'
import type { Schema } from './tables.js'

export const KEYS_SCHEMA: Schema = {
  versionTable: 'daybook_keys_schema',
  migrations: [
    `CREATE TABLE daybook_key_ring (
       only INTEGER PRIMARY KEY CHECK (only = 1),
       version INTEGER NOT NULL,
       id TEXT NOT NULL,
       ring TEXT NOT NULL
     ) STRICT;
     CREATE TABLE daybook_keys (
       ref TEXT PRIMARY KEY,
       mac TEXT UNIQUE,
       wrapper TEXT NOT NULL,
       wrapped TEXT NOT NULL,
       created_at TEXT NOT NULL
     ) STRICT, WITHOUT ROWID;
     CREATE INDEX daybook_keys_by_wrapper ON daybook_keys (wrapper);
     CREATE TABLE daybook_key_erasures (
       id INTEGER PRIMARY KEY AUTOINCREMENT,
       ref TEXT NOT NULL UNIQUE,
       mac TEXT,
       erased_at TEXT NOT NULL,
       request TEXT NOT NULL,
       events INTEGER
     ) STRICT;
     CREATE INDEX daybook_key_erasures_by_mac ON daybook_key_erasures (mac) WHERE mac IS NOT NULL;`,
  ],
}

const KEYS = 'SELECT ref, mac, wrapper, wrapped, created_at FROM daybook_keys'
const ERASURES = 'SELECT ref, erased_at, request, events FROM daybook_key_erasures'
const BY_MAC = `${KEYS} WHERE mac IN (SELECT value FROM json_each(?))`
const BY_REF = 'WHERE ref IN (SELECT value FROM json_each(?))'
const OF_RING = 'SELECT version, id, ring FROM daybook_key_ring'
const PUT_RING = 'INSERT OR REPLACE INTO daybook_key_ring VALUES (1, ?, ?, ?)'
const IS_EMPTY = `SELECT NOT EXISTS (SELECT 1 FROM daybook_keys)
  AND NOT EXISTS (SELECT 1 FROM daybook_key_erasures) AS isEmpty`
const INSERT = 'INSERT INTO daybook_keys VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING'
const ERASE = `INSERT INTO daybook_key_erasures (ref, mac, erased_at, request)
  SELECT ref, mac, ?, ? FROM daybook_keys WHERE mac = ?`
const DELETE = 'DELETE FROM daybook_keys WHERE mac = ?'
const REWRAP = 'UPDATE daybook_keys SET wrapper = ?, wrapped = ? WHERE ref = ? AND wrapper = ?'

/** The tables of keys in an SQLite file whose connection has `secure_delete`. */
export function sqliteKeyTable(connection: Connection): KeyTable {
  const { database } = connection
  const all = (text: string, ...values: unknown[]): readonly unknown[] =>
    connection.statement(text).all(...values)
  const keyRows = (text: string, ...values: unknown[]): readonly KeyRow[] =>
    all(text, ...values) as readonly KeyRow[]
  const ringRow = () =>
    all(OF_RING)[0] as
      | { readonly version: number; readonly id: string; readonly ring: string }
      | undefined
  const isCurrent = (wrapper: string): boolean => ringRow()?.id === wrapper
  const erasuresWhere = (condition: string, ...values: unknown[]): KeyErasure[] =>
    (all(`${ERASURES} ${condition}`, ...values) as readonly StoredErasure[]).map(readErasure)

  /** Writes, and then writes all pages to the file and truncates the WAL, which has their former content. */
  const writeOver = async <Result>(
    act: () => Result,
    signal: AbortSignal | undefined,
  ): Promise<Result> => {
    const result = await connection.write(act, { signal })
    await connection.retry(() => emptyWal(database), { signal })
    return result
  }

  return {
    name: 'sqlite',

    async ring(signal) {
      const row = await connection.retry(ringRow, { signal })
      return row && (JSON.parse(row.ring) as KeyRing)
    },

    isEmpty: (signal) =>
      connection.retry(
        () => (all(IS_EMPTY)[0] as { readonly isEmpty: 0 | 1 } | undefined)?.isEmpty === 1,
        { signal },
      ),

    replaceRing: (next, signal) =>
      writeOver(() => {
        if ((ringRow()?.version ?? 0) !== next.version - 1) return false
        connection.statement(PUT_RING).run(next.version, next.id, JSON.stringify(next))
        return true
      }, signal),

    byMac: (macs, signal) =>
      connection.retry(() => keyRows(BY_MAC, JSON.stringify(macs)), { signal }),

    byRef(refs, signal) {
      const list = JSON.stringify(refs)
      const read = () => ({
        keys: keyRows(`${KEYS} ${BY_REF}`, list),
        erasures: erasuresWhere(BY_REF, list),
      })
      // In one snapshot, a key is either there or erased.
      return connection.retry(() => connection.snapshot(read), { signal })
    },

    insert: (wrapper, rows, signal) =>
      connection.write(
        () => {
          if (!isCurrent(wrapper)) return undefined
          for (const { ref, mac, wrapped, created_at } of rows)
            connection.statement(INSERT).run(ref, mac, wrapper, wrapped, created_at)
          const macs = rows.map(({ mac }) => mac).filter((mac) => mac !== null)
          const refs = rows.filter(({ mac }) => mac === null).map(({ ref }) => ref)
          return [
            ...keyRows(BY_MAC, JSON.stringify(macs)),
            ...keyRows(`${KEYS} ${BY_REF}`, JSON.stringify(refs)),
          ]
        },
        { signal },
      ),

    find: (mac, signal) =>
      connection.retry(
        () =>
          keyRows(`${KEYS} WHERE mac = ?`, mac)[0]?.ref ??
          erasuresWhere('WHERE mac = ? ORDER BY id DESC LIMIT 1', mac)[0]?.ref,
        { signal },
      ),

    erase: ({ wrapper, mac, erasure }, signal) =>
      writeOver(() => {
        if (!isCurrent(wrapper)) return undefined
        const { changes } = connection
          .statement(ERASE)
          .run(erasure.erased_at, requestText(erasure), mac)
        connection.statement(DELETE).run(mac)
        const order = changes === 0 ? 'ASC' : 'DESC'
        return erasuresWhere(`WHERE mac = ? ORDER BY id ${order} LIMIT 1`, mac)[0] ?? null
      }, signal),

    async endErasure(ref, events, signal) {
      const end = `UPDATE daybook_key_erasures SET events = ?, mac = NULL WHERE ref = ? AND events IS NULL`
      await writeOver(() => void connection.statement(end).run(events, ref), signal)
    },

    erasures: (signal) => connection.retry(() => erasuresWhere('ORDER BY id'), { signal }),

    wrappedBy: (wrapper, limit, signal) =>
      connection.retry(() => keyRows(`${KEYS} WHERE wrapper = ? LIMIT ?`, wrapper, limit), {
        signal,
      }),

    rewrap: ({ former, wrapper, rows }, signal) =>
      connection.write(
        () => {
          if (!isCurrent(wrapper)) return undefined
          let count = 0
          for (const { ref, wrapped } of rows)
            count += connection.statement(REWRAP).run(wrapper, wrapped, ref, former).changes
          return count
        },
        { signal },
      ),

    close: async () => connection.close(),
  }
}
