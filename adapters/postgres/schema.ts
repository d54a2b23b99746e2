import { createHash } from 'node:crypto'
import { AuditLogError } from '../../src/errors.js'
import { quoteName } from '../../src/filter/sql.js'
import { ask, type PostgresPoolClient } from './client.js'
import { TOO_LATE } from './failures.js'

/** The names of a log's tables and functions, quoted and with their schema before them. */
export interface Names {
  /** The schema's name as it is, not quoted. */
  readonly schemaName: string
  readonly schema: string
  readonly events: string
  readonly foreignIds: string
  readonly highWater: string
  readonly outbox: string
  readonly voidAttempts: string
  readonly version: string
  readonly append: string
  readonly sortTerms: string
  /** On which processes tell each other that events became visible. */
  readonly channel: string
  /** Keys of advisory locks, as SQL. */
  readonly locks: Readonly<Record<'order' | 'imports' | 'removal' | 'schema' | 'terms', string>>
}

// https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS
const MAX_NAME_BYTES = 63

export function namesIn(schema: string): Names {
  const isName = typeof schema === 'string' && schema !== '' && !schema.includes('\0')
  if (!isName || Buffer.byteLength(schema) > MAX_NAME_BYTES || schema.startsWith('pg_')) {
    const message = `schema must be a name of 1 to ${MAX_NAME_BYTES} bytes that does not begin with pg_`
    throw new AuditLogError('INVALID_OPTION', `${message}; it is ${JSON.stringify(schema)}`)
  }
  const named = (name: string): string => `${quoteName(schema)}.${name}`
  const lock = (purpose: string): string =>
    `hashtextextended(${quoteText(`daybook ${purpose} ${schema}`)}, 0)`
  return {
    schemaName: schema,
    schema: quoteName(schema),
    events: named('events'),
    foreignIds: named('foreign_ids'),
    highWater: named('high_water'),
    outbox: named('outbox'),
    voidAttempts: named('void_attempts'),
    version: named('schema_version'),
    append: named('append'),
    sortTerms: named('sort_terms'),
    // A channel's name is as short as a schema's.
    channel: `daybook_${createHash('md5').update(schema).digest('hex')}`,
    locks: {
      order: lock('order'),
      imports: lock('imports'),
      removal: lock('removal'),
      schema: lock('schema'),
      terms: lock('terms'),
    },
  }
}

const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** How the table of events is parted by time. */
export type Partitions = 'month' | 'day' | 'none'

/** What an event has before it has its time. */
const DRAFT_COLUMNS = `
    tail text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    username text COLLATE "C",
    source text COLLATE "C",
    system boolean NOT NULL,
    attributes json NOT NULL,
    terms int4[] NOT NULL`

/*
 * `created_at`, in microseconds, is the events' key; the id is made of it and `tail`, so no index of
 * ids is kept. `tail` holds the id's last 16 hexadecimal digits, or the whole of an imported id that
 * does not carry the time; those are found through `foreign_ids`. Text is compared by code point,
 * whatever the database's collation. `terms` are hashes of what an event has (terms.ts).
 *
 * The high-water mark is a sequence, which is no part of any transaction: a mark that a rollback
 * leaves behind is too high, which does no harm, and no row has to be rewritten for each append, of
 * which an old snapshot would keep every version.
 */
const tables = (names: Names, partitions: Partitions): string => `
  CREATE TABLE ${names.events} (
    created_at bigint PRIMARY KEY,
    ${DRAFT_COLUMNS}
  ) ${partitions === 'none' ? '' : 'PARTITION BY RANGE (created_at)'};
  CREATE INDEX events_terms ON ${names.events}
    USING gin (terms) WITH (fastupdate = on, gin_pending_list_limit = ${PENDING_LIMIT_KB});
  CREATE TABLE ${names.foreignIds} (
    id text COLLATE "C" PRIMARY KEY,
    created_at bigint NOT NULL
  );
  CREATE INDEX foreign_ids_created_at ON ${names.foreignIds} (created_at);
  CREATE SEQUENCE ${names.highWater} AS bigint MINVALUE 0;
  SELECT setval(${quoteText(names.highWater)}, 0);
  CREATE TABLE ${names.outbox} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ${DRAFT_COLUMNS},
    recorded_at bigint NOT NULL,
    occurred_at text,
    occurred_terms int4[]
  );
  CREATE TABLE ${names.voidAttempts} (
    id uuid PRIMARY KEY,
    voided_at timestamptz NOT NULL DEFAULT now()
  );
`

// New terms are first put into a list, which is sorted into the index later. That work, as much as all
// the rest, is done out of the lock by `sort_terms`; the limit is for when nobody does it.
const PENDING_LIMIT_KB = 65_536

/** Most events that one append moves from the outbox. */
export const MAX_MOVED = 1000

/*
 * The one way by which events become visible. The lock is held from before the time is read until
 * the commit is visible, so `created_at` rises in the order of visibility; each statement in the
 * function takes a snapshot of its own, later than the lock (READ COMMITTED, VOLATILE:
 * https://www.postgresql.org/docs/current/xfunc-volatility.html). Attributes and terms come one event
 * a line, since JSON text has no line ends of its own, and are read before the lock is taken.
 *
 * Each call is an `_attempt`. Of one whose answer got lost nobody knows whether it took effect, or
 * still will: the next one makes it void, looks for what it may have kept since `_since`, takes that
 * as kept where the caller asks for the same drafts again, and removes it (`_forget`) where the
 * caller was told that it is not kept. After `_fence` nothing is kept: without it a server that was
 * stopped would first do what was given up.
 */
const append = (names: Names): string => `
  CREATE FUNCTION ${names.append}(
    _tails text[], _types text[], _usernames text[], _sources text[], _systems boolean[],
    _attributes text, _terms text,
    _now bigint, _attempt uuid, _fence bigint, _void uuid[], _since bigint, _forget text[],
    OUT times bigint[], OUT server_time bigint, OUT moved integer
  ) LANGUAGE plpgsql VOLATILE AS $daybook$
  DECLARE
    _count integer := cardinality(_tails);
    _present bigint;
    _high bigint;
    _found bigint[];
    _rows ${names.events}[];
  BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
      RAISE EXCEPTION 'events are appended in transactions that are read committed, not %',
        current_setting('transaction_isolation');
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    SELECT array_agg(
      ROW(0, tail, type, username, source, system, attributes::json, terms::int4[])::${names.events}
      ORDER BY i
    ) INTO _rows
    FROM unnest(
      _tails, _types, _usernames, _sources, _systems,
      string_to_array(_attributes, E'\\n'), string_to_array(_terms, E'\\n')
    ) WITH ORDINALITY AS draft(tail, type, username, source, system, attributes, terms, i);
    PERFORM pg_advisory_xact_lock(${names.locks.order});
    server_time := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    IF server_time > _fence OR EXISTS (SELECT FROM ${names.voidAttempts} WHERE id = _attempt) THEN
      RAISE EXCEPTION 'the time to append is over' USING ERRCODE = '${TOO_LATE}';
    END IF;
    moved := 0;
    _present := coalesce(_now, server_time);
    IF cardinality(_void) > 0 THEN
      DELETE FROM ${names.voidAttempts} WHERE voided_at < now() - interval '1 day';
      INSERT INTO ${names.voidAttempts} (id) SELECT unnest(_void) ON CONFLICT DO NOTHING;
      DELETE FROM ${names.events} WHERE created_at > _since AND tail = ANY (_forget);
      SELECT array_agg(kept.created_at ORDER BY draft.i) INTO _found
      FROM unnest(_tails) WITH ORDINALITY AS draft(tail, i)
      LEFT JOIN ${names.events} AS kept ON kept.created_at > _since AND kept.tail = draft.tail;
    END IF;
    SELECT last_value INTO _high FROM ${names.highWater};

    IF EXISTS (SELECT FROM ${names.outbox}) THEN
      WITH taken AS (
        DELETE FROM ${names.outbox}
        WHERE id IN (SELECT id FROM ${names.outbox} ORDER BY id LIMIT ${MAX_MOVED})
        RETURNING *
      ), late AS (
        SELECT *, occurred_at IS NOT NULL AND _present - recorded_at > 1000000 AS is_late FROM taken
      )
      INSERT INTO ${names.events}
      SELECT
        greatest(_high, _present - _count - ${MAX_MOVED}) + row_number() OVER (ORDER BY id),
        tail, type, username, source, system,
        CASE WHEN is_late THEN (
          left(attributes::text, -1) || CASE attributes::text WHEN '{}' THEN '' ELSE ',' END
            || '"occurred_at":"' || occurred_at || '"}'
        )::json ELSE attributes END,
        CASE WHEN is_late THEN terms || occurred_terms ELSE terms END
      FROM late;
      GET DIAGNOSTICS moved = ROW_COUNT;
      _high := greatest(_high, _present - _count - ${MAX_MOVED}) + moved;
    END IF;

    _high := greatest(_high, _present - _count);
    WITH added AS (
      INSERT INTO ${names.events}
      SELECT
        _high + row_number() OVER (ORDER BY i), tail, type, username, source, system, attributes, terms
      FROM unnest(_rows) WITH ORDINALITY
        AS draft(created_at, tail, type, username, source, system, attributes, terms, i)
      WHERE _found IS NULL OR _found[i] IS NULL
      RETURNING created_at
    )
    SELECT array_agg(created_at ORDER BY created_at) INTO times FROM added;
    IF moved > 0 OR times IS NOT NULL THEN
      PERFORM setval(${quoteText(names.highWater)}, coalesce(times[cardinality(times)], _high));
    END IF;
    IF _found IS NOT NULL THEN
      SELECT array_agg(coalesce(_found[i], times[fresh]) ORDER BY i) INTO times
      FROM (
        SELECT i, count(*) FILTER (WHERE _found[i] IS NULL) OVER (ORDER BY i) AS fresh
        FROM generate_series(1, _count) AS i
      ) AS numbered;
    END IF;
  END
  $daybook$;
`

/** Sorts new terms into the index, unless somebody does it already. */
const sortTerms = (names: Names): string => `
  CREATE FUNCTION ${names.sortTerms}() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $daybook$
  DECLARE
    _index regclass;
  BEGIN
    IF NOT pg_try_advisory_xact_lock(${names.locks.terms}) THEN
      RETURN;
    END IF;
    FOR _index IN
      SELECT pg_index.indexrelid
      FROM (
        SELECT relid FROM pg_partition_tree(${quoteText(names.events)})
        UNION SELECT ${quoteText(names.events)}::regclass
      ) AS tables
      JOIN pg_index ON pg_index.indrelid = tables.relid
      JOIN pg_class ON pg_class.oid = pg_index.indexrelid
      JOIN pg_am ON pg_am.oid = pg_class.relam
      WHERE pg_am.amname = 'gin' AND pg_class.relkind = 'i'
    LOOP
      PERFORM gin_clean_pending_list(_index);
    END LOOP;
  END
  $daybook$;
`

/** Each brings the schema from the version that is its index to the next. */
const MIGRATIONS: readonly ((names: Names, partitions: Partitions) => string)[] = [
  (names, partitions) => tables(names, partitions) + append(names) + sortTerms(names),
]

export interface SchemaState {
  readonly partitions: Partitions
  /** The server's clock, in microseconds. */
  readonly serverTime: number
  readonly highWater: number
}

const MIN_SERVER = 14

async function checkServer(client: PostgresPoolClient): Promise<void> {
  const [row] = await ask(
    client,
    `SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding')`,
  )
  const [version, encoding] = row!
  if (Number(version) < MIN_SERVER)
    throw new AuditLogError(
      'STORE_FAILED',
      `the Postgres store needs Postgres ${MIN_SERVER} or newer; this is ${version}`,
    )
  if (encoding !== 'UTF8')
    throw new AuditLogError(
      'STORE_FAILED',
      `the Postgres store needs a database in UTF8; this one is in ${encoding}`,
    )
}

async function versionOf(client: PostgresPoolClient, names: Names): Promise<number> {
  // Not by to_regclass, which within a transaction goes on missing what it has missed once.
  const found = await ask(
    client,
    `SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = $1 AND relname = 'schema_version'`,
    names.schemaName,
  )
  if (found.length === 0) return 0
  const [row] = await ask(client, `SELECT version FROM ${names.version}`)
  return Number(row?.[0] ?? 0)
}

async function migrateFrom(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
): Promise<void> {
  await ask(client, 'BEGIN ISOLATION LEVEL READ COMMITTED')
  try {
    // Of several processes that start at once one migrates, and the others find it done.
    await ask(client, `SELECT pg_advisory_xact_lock(${names.locks.schema})`)
    const version = await versionOf(client, names)
    if (version < MIGRATIONS.length) {
      // Not IF NOT EXISTS, for which a role needs CREATE on the database even where it exists.
      const exists = await ask(
        client,
        'SELECT FROM pg_namespace WHERE nspname = $1',
        names.schemaName,
      )
      if (exists.length === 0) await ask(client, `CREATE SCHEMA ${names.schema}`)
      if (version === 0) {
        await ask(
          client,
          `CREATE TABLE ${names.version} (version integer NOT NULL, partitions text NOT NULL)`,
        )
        await ask(client, `INSERT INTO ${names.version} VALUES (0, $1)`, partitions)
      }
      for (const migration of MIGRATIONS.slice(version))
        await client.query(migration(names, partitions))
      await ask(client, `UPDATE ${names.version} SET version = ${MIGRATIONS.length}`)
    }
    await ask(client, 'COMMIT')
  } catch (error) {
    await ask(client, 'ROLLBACK').catch(() => {})
    throw error
  }
}

/**
 * Brings the schema up to date, forward only, in one transaction, and tells what is there. A schema
 * that a newer version made, an old server or another encoding than UTF8: `STORE_FAILED`.
 */
export async function prepareSchema(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
): Promise<SchemaState> {
  let version = await versionOf(client, names)
  if (version < MIGRATIONS.length) {
    await checkServer(client)
    await migrateFrom(client, names, partitions)
    version = await versionOf(client, names)
  }
  if (version > MIGRATIONS.length)
    throw new AuditLogError(
      'STORE_FAILED',
      `the schema ${names.schema} has version ${version}; this version of daybook knows ${MIGRATIONS.length}`,
    )
  const [row] = await ask(
    client,
    `SELECT partitions, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, last_value
     FROM ${names.version}, ${names.highWater}`,
  )
  return {
    partitions: row![0] as Partitions,
    serverTime: Number(row![1]),
    highWater: Number(row![2]),
  }
}
