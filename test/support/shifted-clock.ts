import type pg from 'pg'

/**
 * Shifts the clock of the server, for all sessions of the client's database: `shift` is an SQL expression of an
 * interval. The functions of a log can call only built-in functions, so this replaces the built-in function.
 */
export async function shiftClock(
  client: Pick<pg.ClientBase | pg.Pool, 'query'>,
  shift: string,
): Promise<void> {
  await client.query(`
    SET LOCAL allow_system_table_mods = on;
    DO $$ BEGIN
      IF to_regproc('pg_catalog.true_clock') IS NULL THEN
        ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO true_clock;
      END IF;
    END $$;
    CREATE OR REPLACE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
      AS $$ SELECT pg_catalog.true_clock() + ${shift} $$`)
}
