import fs from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { captureChanges as capturePostgres, postgresStore } from 'daybook/postgres'
import { captureChanges as captureSqlite, sqliteStore } from 'daybook/sqlite'
import pg from 'pg'

/* Tables of the same rows: one without triggers, one with the shortest trigger that keeps rows, one captured. */

export const SIDES = ['none', 'plain', 'captured'] as const

export type Side = (typeof SIDES)[number]

/** A database that has a table for each side, named after it. */
export interface TablesOfSides {
  /** Statements without parameters, as one message. */
  run(sql: string): Promise<void>
  /** Executes a prepared statement once for each id, all in one transaction. */
  each(sql: string, ids: readonly number[]): Promise<void>
  /** SQL that inserts the rows of the ids 1 to `rows`. */
  fill(side: Side, rows: number): string
  /** SQL that inserts the row of an id, its parameter. */
  insertOne(side: Side): string
  updateOne(side: Side): string
  /** Empties what the triggers have written. */
  clear(): Promise<void>
  /** Processor time of the process that executes the statements, in microseconds; 0 where it is not known. */
  cpu(): number
  /** Moves everything that is captured to the log. */
  move(): Promise<void>
  close(): Promise<void>
}

/** The values of the row with an id, about 150 bytes. */
const valuesOf = (id: string): string =>
  `${id}, 'customer-' || (${id} % 1000), ${id} * 1.25, 'open', 'a few words about the order with the number ' || ${id}`

const UPDATED = `status = 'paid', total = total + 1`

async function moveAll(audit: AuditLog, isEmpty: () => Promise<boolean>): Promise<void> {
  while (!(await isEmpty())) await audit.recordCustom('move')
}

export async function openSqliteTables(folder: string): Promise<TablesOfSides> {
  const filename = path.join(folder, 'captured.db')
  await new AuditLog({ store: sqliteStore({ filename }), types: {} }).close()
  const database = new Database(filename)
  database.pragma('synchronous = FULL')
  for (const side of SIDES)
    database.exec(
      `CREATE TABLE "${side}" (id INTEGER PRIMARY KEY, customer TEXT, total REAL, status TEXT, note TEXT)`,
    )
  const columns = ['id', 'customer', 'total', 'status', 'note']
  const row = (name: string): string =>
    `json_object(${columns.map((column) => `'${column}', ${name}.${column}`).join(', ')})`
  database.exec(`
    CREATE TABLE versions (id INTEGER PRIMARY KEY, at TEXT, old TEXT, new TEXT);
    CREATE TRIGGER i AFTER INSERT ON plain BEGIN
      INSERT INTO versions (at, old, new) VALUES (datetime('now'), NULL, ${row('NEW')}); END;
    CREATE TRIGGER u AFTER UPDATE ON plain BEGIN
      INSERT INTO versions (at, old, new) VALUES (datetime('now'), ${row('OLD')}, ${row('NEW')}); END;
    CREATE TRIGGER d AFTER DELETE ON plain BEGIN
      INSERT INTO versions (at, old, new) VALUES (datetime('now'), ${row('OLD')}, NULL); END`)
  captureSqlite({ database, tables: ['captured'] })
  const isEmpty = () =>
    Promise.resolve(database.prepare('SELECT 1 FROM daybook_outbox LIMIT 1').get() === undefined)
  return {
    run: async (sql) => void database.exec(sql),
    async each(sql, ids) {
      const statement = database.prepare(sql)
      database.transaction(() => {
        for (const id of ids) statement.run(id)
      })()
    },
    fill: (side, rows) =>
      `WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ${rows})
       INSERT INTO "${side}" SELECT ${valuesOf('id')} FROM n`,
    insertOne: (side) => `INSERT INTO "${side}" SELECT ${valuesOf('id')} FROM (SELECT ? AS id)`,
    updateOne: (side) => `UPDATE "${side}" SET ${UPDATED} WHERE id = ?`,
    clear: async () => void database.exec('DELETE FROM versions; DELETE FROM daybook_outbox'),
    cpu() {
      const { user, system } = process.cpuUsage()
      return user + system
    },
    async move() {
      const audit = new AuditLog({ store: sqliteStore({ filename }), types: {} })
      await moveAll(audit, isEmpty)
      await audit.close()
    },
    close: async () => void database.close(),
  }
}

const TICK = 10_000

/** See proc(5): user and system time, in ticks of 10 ms. */
function serverCpu(pid: number): number {
  const file = `/proc/${pid}/stat`
  if (!fs.existsSync(file)) return 0
  const fields = fs.readFileSync(file, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK
}

export async function openPostgresTables(connectionString: string): Promise<TablesOfSides> {
  const pool = new pg.Pool({ connectionString })
  const open = () => new AuditLog({ store: postgresStore({ pool }), types: {} })
  const first = open()
  await first.list()
  await first.close()
  const client = await pool.connect()
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const { pid } = rows[0]!
  for (const side of SIDES)
    await client.query(
      `CREATE TABLE "${side}" (id bigint PRIMARY KEY, customer text, total numeric, status text, note text)`,
    )
  await client.query(`
    CREATE TABLE versions (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz DEFAULT now(), old jsonb, new jsonb
    );
    CREATE FUNCTION keep_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO versions (old, new) VALUES (to_jsonb(OLD), to_jsonb(NEW)); RETURN NULL;
    END $$;
    CREATE TRIGGER keep AFTER INSERT OR UPDATE OR DELETE ON plain
      FOR EACH ROW EXECUTE FUNCTION keep_version()`)
  await capturePostgres({ pool, tables: ['captured'] })
  const isEmpty = async () =>
    (await client.query('SELECT FROM daybook.outbox LIMIT 1')).rowCount === 0
  return {
    run: async (sql) => void (await client.query(sql)),
    async each(sql, ids) {
      await client.query('BEGIN')
      for (const id of ids) await client.query({ name: sql.slice(0, 30), text: sql, values: [id] })
      await client.query('COMMIT')
    },
    fill: (side, rows) =>
      `INSERT INTO "${side}" SELECT ${valuesOf('id')} FROM generate_series(1, ${rows}) AS id`,
    insertOne: (side) =>
      `INSERT INTO "${side}" SELECT ${valuesOf('id')} FROM (SELECT $1::int AS id) AS one`,
    updateOne: (side) => `UPDATE "${side}" SET ${UPDATED} WHERE id = $1`,
    clear: async () => void (await client.query('TRUNCATE versions, daybook.outbox')),
    cpu: () => serverCpu(pid),
    async move() {
      const audit = open()
      await moveAll(audit, isEmpty)
      await audit.close()
    },
    async close() {
      client.release()
      await pool.end()
    },
  }
}
