import { AuditLog, parseTimestamp } from 'daybook'
import { expect, it } from 'vitest'
import { useSchemas } from '../../support/schemas.js'

const { database, openStore } = useSchemas('clock')

/** Shifts the server's clock for connections with this search path. */
async function shiftClock(interval: string): Promise<void> {
  await database().pool.query(
    `CREATE SCHEMA IF NOT EXISTS shifted;
     CREATE OR REPLACE FUNCTION shifted.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
       AS $$ SELECT pg_catalog.clock_timestamp() + interval '${interval}' $$`,
  )
}

it('a jump of the server to a wrong time moves no event, until it is accepted', async () => {
  await shiftClock('0')
  const connectionString = new URL(database().url)
  connectionString.searchParams.set('options', '-c search_path=shifted,pg_catalog,public')
  const store = openStore({ connectionString: connectionString.href, partitions: 'none' })
  const audit: AuditLog = new AuditLog({ store, types: {} })
  const yearOf = async (type: string): Promise<number> => {
    const event = await audit.recordCustom(type)
    return new Date(parseTimestamp(event!.created_at)! / 1000).getUTCFullYear()
  }
  try {
    const year = await yearOf('before')
    await shiftClock('60 years')
    expect(await yearOf('meanwhile')).toBe(year)
    expect(await yearOf('meanwhile')).toBe(year)
    await audit.flush()
    const { events } = await audit.list('filter[type_eq]=warn:audit_log:clock')
    expect(events.map(({ attributes }) => attributes['reason'])).toEqual(['jump'])
    audit.acceptClock()
    expect(await yearOf('after')).toBe(year + 60)
  } finally {
    await audit.close()
  }
})
