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
  const { database, statement, retry, write } = connection
  const all = <Row>(text: string, ...values: unknown[]): readonly Row[] =>
    statement(text).all(...values) as Row[]
  const first = <Row>(text: string, ...values: unknown[]): Row | undefined =>
    statement(text).get(...values) as Row | undefined
  const ringRow = () =>
    first<{ readonly version: number; readonly id: string; readonly ring: string }>(OF_RING)
  const isCurrent = (wrapper: string): boolean => ringRow()?.id === wrapper
  const erasuresWhere = (condition: string, ...values: unknown[]): KeyErasure[] =>
    all<StoredErasure>(`${ERASURES} ${condition}`, ...values).map(readErasure)

  /** Writes, and then writes all pages to the file and truncates the WAL, which has their former content. */
  const writeOver = async <Result>(
    act: () => Result,
    signal: AbortSignal | undefined,
  ): Promise<Result> => {
    const result = await write(act, { signal })
    await retry(() => emptyWal(database), { signal })
    return result
  }

  return {
    name: 'sqlite',

    async ring(signal) {
      const row = await retry(ringRow, { signal })
      return row && (JSON.parse(row.ring) as KeyRing)
    },

    isEmpty: (signal) =>
      retry(() => first<{ readonly isEmpty: 0 | 1 }>(IS_EMPTY)?.isEmpty === 1, { signal }),

    replaceRing: (next, signal) =>
      writeOver(() => {
        if ((ringRow()?.version ?? 0) !== next.version - 1) return false
        statement(PUT_RING).run(next.version, next.id, JSON.stringify(next))
        return true
      }, signal),

    byMac: (macs, signal) => retry(() => all<KeyRow>(BY_MAC, JSON.stringify(macs)), { signal }),

    byRef(refs, signal) {
      const list = JSON.stringify(refs)
      const read = () => ({
        keys: all<KeyRow>(`${KEYS} ${BY_REF}`, list),
        erasures: erasuresWhere(BY_REF, list),
      })
      // In one snapshot, a key is either there or erased.
      return retry(() => connection.snapshot(read), { signal })
    },

    insert: (wrapper, rows, signal) =>
      write(
        () => {
          if (!isCurrent(wrapper)) return undefined
          for (const { ref, mac, wrapped, created_at } of rows)
            statement(INSERT).run(ref, mac, wrapper, wrapped, created_at)
          const macs = rows.map(({ mac }) => mac).filter((mac) => mac !== null)
          const refs = rows.filter(({ mac }) => mac === null).map(({ ref }) => ref)
          return [
            ...all<KeyRow>(BY_MAC, JSON.stringify(macs)),
            ...all<KeyRow>(`${KEYS} ${BY_REF}`, JSON.stringify(refs)),
          ]
        },
        { signal },
      ),

    find: (mac, signal) =>
      retry(
        () =>
          first<KeyRow>(`${KEYS} WHERE mac = ?`, mac)?.ref ??
          erasuresWhere('WHERE mac = ? ORDER BY id DESC LIMIT 1', mac)[0]?.ref,
        { signal },
      ),

    erase: ({ wrapper, mac, erasure }, signal) =>
      writeOver(() => {
        if (!isCurrent(wrapper)) return undefined
        const { changes } = statement(ERASE).run(erasure.erased_at, requestText(erasure), mac)
        statement(DELETE).run(mac)
        const order = changes === 0 ? 'ASC' : 'DESC'
        return erasuresWhere(`WHERE mac = ? ORDER BY id ${order} LIMIT 1`, mac)[0] ?? null
      }, signal),

    async endErasure(ref, events, signal) {
      const end = `UPDATE daybook_key_erasures SET events = ?, mac = NULL WHERE ref = ? AND events IS NULL`
      await writeOver(() => void statement(end).run(events, ref), signal)
    },

    erasures: (signal) => retry(() => erasuresWhere('ORDER BY id'), { signal }),

    wrappedBy: (wrapper, limit, signal) =>
      retry(() => all<KeyRow>(`${KEYS} WHERE wrapper = ? LIMIT ?`, wrapper, limit), { signal }),

    rewrap: ({ former, wrapper, rows }, signal) =>
      write(
        () => {
          if (!isCurrent(wrapper)) return undefined
          let count = 0
          for (const { ref, wrapped } of rows)
            count += Number(statement(REWRAP).run(wrapper, wrapped, ref, former).changes)
          return count
        },
        { signal },
      ),

    close: async () => connection.close(),
  }
}
