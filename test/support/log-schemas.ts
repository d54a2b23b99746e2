import { setTimeout as delay } from 'node:timers/promises'
import type { EventStore } from 'daybook'
import pg from 'pg'

/**
 * Schemas for the logs of one test at a time. A schema is emptied after a test and reused, which costs a tenth of
 * creating one.
 */
export interface LogSchemas {
  /** The name of a schema that does not exist, or that contains an unused log. */
  take(): string
  /** Must be called once the schema contains a log, before anything is written to it. */
  noteNew(schema: string): Promise<void>
  /** Opens a store, without events, on a schema of `take`, and notes that it is new. */
  open(openStore: (schema: string) => EventStore): Promise<{ schema: string; store: EventStore }>
  /** Empties the schema for the next `take`, or drops it. The stores on it must be closed. */
  giveBack(schema: string): Promise<void>
  drop(schema: string): Promise<void>
  /** Drops the schemas that were given back. */
  close(): Promise<void>
}

/*
 * Empties a schema. Added tables, which are partitions, are dropped. A table whose file is not empty was used and is
 * truncated, which gives it and its indexes new files. `index_state` is always truncated, because stores recognize
 * the log by its file; then its first row is restored.
 */
const EMPTY = `
  CREATE FUNCTION pg_temp.empty(_schema regnamespace, _tables text[], _index_state json) RETURNS void
  LANGUAGE plpgsql AS $$
  DECLARE
    _written text;
    _added text;
    _sequence regclass;
  BEGIN
    SELECT string_agg(oid::regclass::text, ', ') INTO _added FROM pg_class
    WHERE relnamespace = _schema AND relkind = 'r' AND relname <> ALL (_tables);
    IF _added IS NOT NULL THEN
      EXECUTE 'DROP TABLE ' || _added;
    END IF;
    SELECT string_agg(oid::regclass::text, ', ') INTO _written FROM pg_class
    WHERE relnamespace = _schema AND relkind = 'r' AND relname <> 'schema_version'
      AND pg_relation_size(oid) > 0;
    EXECUTE 'TRUNCATE ' || _written || ' CASCADE';
    EXECUTE format(
      'INSERT INTO %1$s.index_state SELECT * FROM json_populate_recordset(NULL::%1$s.index_state, $1)',
      _schema) USING _index_state;
    FOR _sequence IN SELECT oid FROM pg_class WHERE relnamespace = _schema AND relkind = 'S' LOOP
      PERFORM CASE
        WHEN _sequence = to_regclass(_schema || '.high_water') THEN setval(_sequence, 0)
        ELSE setval(_sequence, 1, false)
      END;
    END LOOP;
  END
  $$`

/*
 * The differences between a used schema and a new one: its relations, the numbers of their columns, the lengths of
 * their files and triggers, the notes of ANALYZE and VACUUM, the values of sequences, and the rows of those tables that begin with
 * rows.
 */
const STATE = `
  CREATE FUNCTION pg_temp.state(_schema regnamespace) RETURNS text
  LANGUAGE plpgsql AS $$
  DECLARE
    _relations text;
    _rows text;
  BEGIN
    SELECT string_agg(concat_ws(' ', relname, relkind, relnatts,
      CASE WHEN relkind <> 'i' THEN format('%s %s', relpages, reltuples) END,
      CASE WHEN relkind <> 'p' AND relkind <> 'I' THEN pg_relation_size(oid) END,
      CASE WHEN relkind = 'S' THEN pg_sequence_last_value(oid) END,
      (SELECT count(*) FROM pg_statistic WHERE starelid = class.oid),
      (SELECT count(*) FROM pg_trigger WHERE tgrelid = class.oid)), E'\\n' ORDER BY relname)
    INTO _relations
    FROM pg_class AS class WHERE relnamespace = _schema;
    EXECUTE format(
      'SELECT concat(array_agg(v), array_agg(s)) FROM %1$s.schema_version AS v, %1$s.index_state AS s',
      _schema) INTO _rows;
    RETURN _relations || E'\\n' || _rows;
  END
  $$`

const TABLES = `
  SELECT array_agg(relname::text) FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r'`

const IS_CONNECTED = `
  SELECT EXISTS (
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1
  )`

// The server ends a session a moment after the client has closed its connection.
const MAX_LOOKS = 20
const LOOK_MS = 5

/**
 * Schemas in one database. A store that opens its own connections must use the schema's name as `application_name`.
 *
 * A schema is reused only if no session of its stores might still write, and if its state then equals that of a new
 * one. Otherwise it is dropped.
 */
export async function openLogSchemas(url: string, prefix: string): Promise<LogSchemas> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`${EMPTY}; ${STATE}`)
  const value = async (sql: string, ...values: unknown[]): Promise<unknown> => {
    const { rows } = await client.query({ text: sql, values, rowMode: 'array' })
    return rows[0]?.[0]
  }
  const stateOf = (schema: string) => value('SELECT pg_temp.state($1)', `"${schema}"`)
  const drop = async (schema: string): Promise<void> => {
    await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
  }

  const isDisconnected = async (schema: string): Promise<boolean> => {
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      if (!(await value(IS_CONNECTED, schema))) return true
      await delay(LOOK_MS)
    }
    return false
  }

  const known = new Map<string, Readonly<Record<'tables' | 'indexState' | 'state', unknown>>>()
  const free: string[] = []
  let created = 0
  const schemas: LogSchemas = {
    take: () => free.pop() ?? `${prefix}${created++}`,
    async noteNew(schema) {
      if (known.has(schema)) return
      const tables = await value(TABLES, `"${schema}"`)
      const indexState = await value(`SELECT json_agg(s)::text FROM "${schema}".index_state AS s`)
      known.set(schema, { tables, indexState, state: await stateOf(schema) })
    },
    async open(openStore) {
      const schema = schemas.take()
      const store = openStore(schema)
      // Creates the log.
      await store.get('00000000-0000-0000-0000-000000000000')
      await schemas.noteNew(schema)
      return { schema, store }
    },
    async giveBack(schema) {
      const asNew = known.get(schema)
      if (asNew && (await isDisconnected(schema))) {
        const { tables, indexState } = asNew
        await value('SELECT pg_temp.empty($1, $2, $3)', `"${schema}"`, tables, indexState)
        if ((await stateOf(schema)) === asNew.state) {
          free.push(schema)
          return
        }
      }
      await drop(schema)
    },
    drop,
    async close() {
      for (const schema of free) await drop(schema)
      await client.end()
    },
  }
  return schemas
}
