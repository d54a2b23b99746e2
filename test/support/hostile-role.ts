import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { postgresDatabase, type TestDatabase } from './database.js'

/** Legal settings of a role that change printing, comparing, locks, waits and acknowledgements. */
const SETTINGS: Readonly<Record<string, string>> = {
  array_nulls: 'off',
  backslash_quote: 'on',
  bytea_output: 'escape',
  client_encoding: 'LATIN1',
  client_min_messages: 'error',
  DateStyle: 'German, DMY',
  default_transaction_isolation: 'serializable',
  enable_hashjoin: 'off',
  enable_indexscan: 'off',
  extra_float_digits: '-15',
  idle_in_transaction_session_timeout: '5s',
  IntervalStyle: 'sql_standard',
  lock_timeout: '5s',
  plan_cache_mode: 'force_generic_plan',
  quote_all_identifiers: 'on',
  row_security: 'off',
  search_path: 'pg_temp, public, pg_catalog',
  standard_conforming_strings: 'off',
  statement_timeout: '20s',
  synchronous_commit: 'local',
  TimeZone: 'Pacific/Chatham',
  transform_null_equals: 'on',
  work_mem: '64kB',
  xmloption: 'document',
}

/**
 * A database in which `lower('I')` is not `i`, with functions named like those of Postgres, and a role with
 * such settings.
 */
export interface HostileDatabase extends Pick<TestDatabase, 'remove'> {
  /** URL for an administrator without these settings. */
  readonly adminUrl: string
  /** URL for the role. */
  readonly url: string
}

export async function hostileDatabase(): Promise<HostileDatabase> {
  const database = await postgresDatabase(
    'template0',
    `ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'tr' LOCALE 'C'`,
  )
  const role = `hostile_${randomUUID().replaceAll('-', '')}`
  await database.pool.query(`
    CREATE ROLE ${role} LOGIN;
    GRANT CREATE ON DATABASE ${database.name} TO ${role};
    CREATE FUNCTION public.concat_ws(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS $$ SELECT 'hostile' $$;
    CREATE FUNCTION public.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS $$ SELECT 'hostile' $$;
    CREATE FUNCTION public.hostile(bigint, bigint) RETURNS boolean LANGUAGE sql AS $$ SELECT false $$;
    CREATE OPERATOR public.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = public.hostile)`)
  for (const [name, value] of Object.entries(SETTINGS))
    await database.pool.query(
      name === 'search_path'
        ? `ALTER ROLE ${role} SET search_path = ${value}`
        : `ALTER ROLE ${role} SET ${name} = '${value}'`,
    )
  const url = new URL(database.url)
  url.username = role
  return {
    adminUrl: database.url,
    url: url.href,
    async remove() {
      await database.remove()
      const client = new pg.Client({ connectionString: inject('postgresUrl') })
      await client.connect()
      await client.query(`DROP ROLE ${role}`)
      await client.end()
    },
  }
}
