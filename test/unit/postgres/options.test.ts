import { postgresStore, type PostgresStoreOptions } from 'daybook/postgres'
import pg from 'pg'
import { describe, expect, it } from 'vitest'

const SERVER = { connectionString: 'postgres://app:secret@db1/app' }
const REPLICAS = ['postgres://app:secret@db2/app']
const pool = new pg.Pool(SERVER)

const LISTS = 'replicas must be an array of connection strings or pools of pg'
const member = (n: number): string => `replica ${n} must be a connection string, or a pool of pg`
const NEEDED = 'maxLag needs replicas or a readPool'
const DURATION = 'maxLag must be a date-fns Duration such as { days: 30 }'
const LISTENED =
  'listenConnectionString must be a text that begins with postgres:// or postgresql://'
const hostOf = (n: number): string => `host ${n} of the Postgres store`

describe('options of the Postgres store', () => {
  it.each<[options: object, message: string]>([
    [{ replicas: REPLICAS[0] }, LISTS],
    [{ replicas: null }, LISTS],
    [{ replicas: [...REPLICAS, {}] }, member(2)],
    [{ replicas: [''] }, member(1)],
    [{ replicas: ['postgres://app:secret@db2,/app'] }, `${hostOf(2)} is empty`],
    [{ replicas: REPLICAS, readPool: pool }, 'give readPool or replicas, not both'],
    [{ readPool: REPLICAS[0] }, 'readPool must be a pool of pg'],
    [{ maxLag: { seconds: 1 } }, NEEDED],
    [{ maxLag: { seconds: 1 }, replicas: [] }, NEEDED],
    [{ maxLag: 10, replicas: REPLICAS }, DURATION],
    [{ maxLag: { ms: 10 }, replicas: REPLICAS }, DURATION],
    [
      { maxLag: { seconds: 0 }, replicas: REPLICAS },
      'maxLag must be longer than 0 and at most 1000 years',
    ],
    [{ listenConnectionString: '' }, `${LISTENED}; it is empty`],
    [{ listenConnectionString: pool }, LISTENED],
    [
      { listenConnectionString: 'postgres://db1,db2:x/app' },
      `${hostOf(2)} must be a name or an address, with or without a port; it is db2:x`,
    ],
    [{ hosts: 'db1,db2' }, 'hosts must be an array of at least one host'],
    [{ hosts: ['db1', 5432] }, `${hostOf(2)} must be a text`],
    [
      { connectionString: undefined, pool, hosts: ['db1'] },
      'hosts needs a connectionString: a pool has hosts of its own',
    ],
    [
      { connectionString: undefined },
      'the Postgres store needs a connectionString, or a pool of pg',
    ],
  ])('refuses %o', (options, message) => {
    expect(() => postgresStore({ ...SERVER, ...options })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message }),
    )
  })

  it.each<[name: string, options: Partial<PostgresStoreOptions>]>([
    ['replicas of both kinds', { replicas: [...REPLICAS, pool], maxLag: { minutes: 1 } }],
    ['several hosts in a replica', { replicas: ['postgres://db2,db3/app'] }],
    ['a readPool with maxLag', { readPool: pool, maxLag: { seconds: 0.5 } }],
    ['no replicas', { replicas: [] }],
    ['several hosts to listen on', { listenConnectionString: 'postgres://db1,db2/app' }],
    ['hosts', { hosts: ['db1', 'db2:5433', '[::1]:5432'] }],
  ])('takes %s', async (_, options) => {
    await postgresStore({ ...SERVER, ...options }).close()
  })
})
