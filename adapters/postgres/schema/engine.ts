import { LOG_LOCKS, type Names, quoteText } from './names.js'

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
  /** Statements of `append`: takes the lock `order`; sets the high-water mark and `_high` to the value. */
  readonly lockOrder: (names: Names) => string
  readonly setHighWater: (names: Names, value: string) => string
}

/** The start of the server, and the file of a table. */
export const serverPartsSql = ({ indexState }: Names): string =>
  `extract(epoch FROM pg_postmaster_start_time()), ' ',
    pg_relation_filepath(to_regclass(${quoteText(indexState)}))`

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
    SELECT setval(${quoteText(names.highWater)}, _mark)
  $daybook$;
  CREATE FUNCTION ${names.lockFunction}(_name text) RETURNS void LANGUAGE sql AS $daybook$
    SELECT pg_advisory_xact_lock(CASE _name
      ${LOG_LOCKS.map((name) => `WHEN '${name}' THEN ${names.locks[name]}`).join(' ')} END)
  $daybook$;
  CREATE FUNCTION ${names.server}() RETURNS text LANGUAGE sql STABLE AS $daybook$
    SELECT concat(${serverPartsSql(names)})
  $daybook$;
`,
  transactionId: () => 'pg_current_xact_id()',
  lockOrder: ({ locks }) => `IF pg_advisory_xact_lock(${locks.order}) IS NULL THEN
    END IF;`,
  setHighWater: ({ highWater }, value) => `_high := setval(${quoteText(highWater)}, ${value});`,
}
