import { AuditLog } from 'daybook'
import { captureChanges, postgresStore } from 'daybook/postgres'
import { afterEach, expect, it } from 'vitest'
import { isSensitive } from '../../../src/event/secrets.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { countExactly } from '../../support/exact-counts.js'

/* Databases with a locale in which I is not the capital of i. */

let database: TestDatabase
let audit: AuditLog
afterEach(async () => {
  await audit.close()
  await database.remove()
})

const KEYS = [
  'AUTHORIZATION',
  'PIN',
  'PRIVATE_KEY',
  'Authorization',
  'ApiKey',
  'CLIENT_SECRET',
  'SIGNATURE',
  'title',
  'ID',
  'PİN',
  'pın',
]

it.each(['tr', 'az', 'lt', 'und'])(
  'values of secret keys are not captured in the locale %s',
  async (locale) => {
    database = await postgresDatabase(
      'template0',
      `ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE '${locale}' LOCALE 'C'`,
    )
    audit = new AuditLog({ store: postgresStore({ connectionString: database.url }), types: {} })
    countExactly(audit)
    await audit.list()
    await database.pool.query('CREATE TABLE accounts (id int PRIMARY KEY, doc jsonb)')
    await captureChanges({ pool: database.pool, tables: ['accounts'] })
    const doc = Object.fromEntries(KEYS.map((key) => [key, 'plain']))
    await database.pool.query('INSERT INTO accounts VALUES (1, $1)', [
      JSON.stringify({
        ...doc,
        pairs: [
          { NAME: 'PIN', VALUE: 'plain' },
          { Field: 'CLIENT_ID_SECRET', CURRENT: 'plain' },
        ],
      }),
    ])
    await audit.recordCustom('test:after')
    const { events } = await audit.list('filter[type_eq]=audit:accounts:create')
    const { after } = events[0]!.attributes as unknown as {
      after: { doc: Record<string, unknown> }
    }
    const { pairs, ...found } = after.doc
    const expected = KEYS.map((key) => [key, isSensitive(key) ? '[redacted]' : 'plain'])
    expect(found).toEqual(Object.fromEntries(expected))
    expect(pairs).toEqual([
      { NAME: 'PIN', VALUE: '[redacted]' },
      { Field: 'CLIENT_ID_SECRET', CURRENT: '[redacted]' },
    ])
    await audit.recordCustom('test:text', { title: 'ISTANBUL Istanbul ıstanbul' })
    for (const text of ['istanbul', 'ISTANBUL'])
      expect((await audit.count(`filter[title_cont]=${text}`)).total).toBe(1)
  },
)
