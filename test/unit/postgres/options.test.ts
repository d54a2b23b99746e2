import { postgresStore, type PostgresStoreOptions } from 'daybook/postgres'
import pg from 'pg'
import { describe, expect, it } from 'vitest'

const SERVER = { connectionString: 'postgres://app:secret@db1/app' }
const REPLICAS = ['postgres://app:secret@db2/app']
const pool = new pg.Pool(SERVER)

describe('options of the Postgres store', () => {
  it.each<[name: string, options: object, message: string]>([
    [
      'a text',
      { replicas: REPLICAS[0] },
      'replicas must be an array of connection strings or pools of pg',
    ],
    ['null', { replicas: null }, 'replicas must be an array of connection strings or pools of pg'],
    [
      'a member that is no pool',
      { replicas: [...REPLICAS, {}] },
      'replica 2 must be a connection string, or a pool of pg',
    ],
    [
      'an empty member',
      { replicas: [''] },
      'replica 1 must be a connection string, or a pool of pg',
    ],
    [
      'a member with an empty host',
      { replicas: ['postgres://app:secret@db2,/app'] },
      'host 2 of the Postgres store is empty',
    ],
    [
      'both kinds of replicas',
      { replicas: REPLICAS, readPool: pool },
      'give readPool or replicas, not both',
    ],
    ['a readPool that is none', { readPool: REPLICAS[0] }, 'readPool must be a pool of pg'],
    ['maxLag without replicas', { maxLag: { seconds: 1 } }, 'maxLag needs replicas or a readPool'],
    [
      'maxLag with no replicas',
      { maxLag: { seconds: 1 }, replicas: [] },
      'maxLag needs replicas or a readPool',
    ],
    [
      'a number as maxLag',
      { maxLag: 10, replicas: REPLICAS },
      'maxLag must be a date-fns Duration such as { days: 30 }',
    ],
    [
      'an unknown unit in maxLag',
      { maxLag: { ms: 10 }, replicas: REPLICAS },
      'maxLag must be a date-fns Duration such as { days: 30 }',
    ],
    [
      'maxLag of nothing',
      { maxLag: { seconds: 0 }, replicas: REPLICAS },
      'maxLag must be longer than 0 and at most 1000 years',
    ],
    [
      'an empty listenConnectionString',
      { listenConnectionString: '' },
      'listenConnectionString must be a text that begins with postgres:// or postgresql://; it is empty',
    ],
    [
      'a pool as listenConnectionString',
      { listenConnectionString: pool },
      'listenConnectionString must be a text that begins with postgres:// or postgresql://',
    ],
    [
      'a host of listenConnectionString',
      { listenConnectionString: 'postgres://db1,db2:x/app' },
      'host 2 of the Postgres store must be a name or an address, with or without a port; it is db2:x',
    ],
    ['a text as hosts', { hosts: 'db1,db2' }, 'hosts must be an array of at least one host'],
    [
      'a host that is no text',
      { hosts: ['db1', 5432] },
      'host 2 of the Postgres store must be a text',
    ],
    [
      'hosts of a pool',
      { connectionString: undefined, pool, hosts: ['db1'] },
      'hosts needs a connectionString: a pool has hosts of its own',
    ],
    [
      'no server',
      { connectionString: undefined },
      'the Postgres store needs a connectionString, or a pool of pg',
    ],
  ])('refuses %s', (_, options, message) => {
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
