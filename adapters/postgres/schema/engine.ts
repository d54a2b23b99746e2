import { type Names, quoteText } from './names.js'

/**
 * The parts of the SQL of a log's schema that differ between engines. All other SQL is the same: it calls the functions
 * `lockFunction`, `raiseHighWater` and `server` of {@link Names}, and reads `last_value` from `highWater`.
 */
export interface Engine {
  readonly name: 'postgres' | 'citus'
  /** Statements for a new schema without tables. */
  readonly begin: (names: Names) => string
  /** The high-water mark and the functions, after the tables. */
  readonly complete: (names: Names) => string
  /** The id of the transaction that inserts a row. */
  readonly transactionId: (names: Names) => string
  /** Statements of `append`: take the locks; set the high-water mark and `_high` to the value. */
  readonly lockOrder: (names: Names) => string
  readonly lockThrottles: (names: Names) => string
  readonly setHighWater: (names: Names, value: string) => string
}

/** Of every function whose body names anything that is built in: its meaning must not depend on the session. */
export const PINNED_PATH = 'SET search_path = pg_catalog, pg_temp'

/** The start of the server, and the file of a table. */
export const serverPartsSql = ({ indexState }: Names): string =>
  `extract(epoch FROM pg_catalog.pg_postmaster_start_time()), ' ',
    pg_catalog.pg_relation_filepath(pg_catalog.to_regclass(${quoteText(indexState)}))`

const ADVISORY = ['imports', 'names', 'state'] as const

const isNamed = (name: string): string => `_name OPERATOR(pg_catalog.=) '${name}'`

/** Readers, and pg_dump, do not wait for it. */
const lockTable = (table: string): string => `LOCK TABLE ${table} IN EXCLUSIVE MODE;`

/**
 * The high-water mark is a sequence, which is outside of any transaction: a rollback may leave it too
 * high, which is harmless, and no append rewrites a row whose versions an old snapshot would keep.
 */
export const POSTGRES: Engine = {
  name: 'postgres',
  begin: () => '',
  complete: (names) => `
  CREATE SEQUENCE ${names.highWater} AS bigint MINVALUE 0;
  SELECT setval(${quoteText(names.highWater)}, 0);
  CREATE FUNCTION ${names.raiseHighWater}(_mark bigint) RETURNS void LANGUAGE sql AS $daybook$
    SELECT pg_catalog.setval(${quoteText(names.highWater)}, _mark)
  $daybook$;
  CREATE TABLE ${names.lockTables.order} ();
  CREATE TABLE ${names.lockTables.throttles} ();
  -- Without a SET, which would be undone while the lock is held.
  CREATE FUNCTION ${names.lockFunction}(_name text) RETURNS void LANGUAGE plpgsql AS $daybook$
  BEGIN
    IF ${isNamed('order')} THEN ${lockTable(names.lockTables.order)}
    ELSIF ${isNamed('throttles')} THEN ${lockTable(names.lockTables.throttles)}
    ${ADVISORY.map((name) => `ELSIF ${isNamed(name)} THEN PERFORM pg_catalog.pg_advisory_xact_lock(${names.locks[name]});`).join('\n    ')}
    ELSE RAISE case_not_found;
    END IF;
  END
  $daybook$;
  CREATE FUNCTION ${names.server}() RETURNS text LANGUAGE sql STABLE AS $daybook$
    SELECT pg_catalog.concat(${serverPartsSql(names)})
  $daybook$;
`,
  transactionId: () => 'pg_current_xact_id()',
  lockOrder: ({ lockTables }) => lockTable(lockTables.order),
  lockThrottles: ({ lockTables }) => lockTable(lockTables.throttles),
  setHighWater: ({ highWater }, value) => `_high := setval(${quoteText(highWater)}, ${value});`,
}
