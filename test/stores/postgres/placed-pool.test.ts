import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  ask,
  checkOut,
  giveBack,
  type PostgresPoolClient,
} from '../../../adapters/postgres/connection/client.js'
import { openPool } from '../../../adapters/postgres/connection/pools.js'
import { createNodes, type Nodes } from '../../../adapters/postgres/citus/nodes.js'
import { openPlacedPool, type PlacedPool } from '../../../adapters/postgres/citus/placed-pool.js'
import { type Proxy, startProxy } from '../../support/proxy.js'
import { useSchemas } from '../../support/schemas.js'

const { database } = useSchemas('placed')

/* Three addresses of one server represent the coordinator and two nodes. A table contains the node of the log. */

const NAMES = ['entry', 'first', 'second'] as const
type Name = (typeof NAMES)[number]
let proxies: Readonly<Record<Name, Proxy>>
let entry: pg.Pool
let nodes: Nodes
let pool: PlacedPool
let moves = 0
let created = 0

const urlTo = (name: Name): string => {
  const url = new URL(database().url)
  url.port = String(proxies[name].port)
  url.searchParams.set('application_name', name)
  return url.href
}

const poolTo = (name: Name): pg.Pool => {
  const opened = new pg.Pool({ connectionString: urlTo(name) })
  opened.on('error', () => {})
  opened.on('connect', (client) => client.on('error', () => {}))
  return opened
}

beforeEach(async () => {
  const { hostname, port } = new URL(database().url)
  const target = { host: hostname, port: Number(port) }
  const [one, two, three] = await Promise.all(NAMES.map(() => startProxy(target)))
  proxies = { entry: one!, first: two!, second: three! }
  await database().pool.query('DROP TABLE IF EXISTS place; CREATE TABLE place (node text)')
  entry = poolTo('entry')
  moves = 0
  created = 0
  nodes = createNodes((name, onLoss) => openPool(urlTo(name as Name), undefined, onLoss))
  const find = async (client: PostgresPoolClient) => {
    const [row] = await ask(client, 'SELECT node FROM place')
    return row && nodes.open(row[0]!)
  }
  pool = openPlacedPool({
    entry,
    find,
    place(client) {
      created++
      return find(client)
    },
  })
  pool.watchMoves(() => moves++)
})

afterEach(async () => {
  await nodes.end()
  await entry.end()
  for (const proxy of Object.values(proxies)) await proxy.close()
})

const placeAt = (name: Name) =>
  database().pool.query(`TRUNCATE place; INSERT INTO place VALUES ('${name}')`)

/** The target of a new connection. */
async function whereNow(isSound = true): Promise<string> {
  const client = await checkOut(pool)
  let isAnswered = false
  try {
    const [row] = await ask(client, `SELECT current_setting('application_name')`)
    isAnswered = true
    return row![0]!
  } finally {
    giveBack(client, isAnswered && isSound)
  }
}

it('without a place, connections lead to the entry', async () => {
  expect([await whereNow(), await whereNow(false), await whereNow()]).toEqual(
    Array(3).fill('entry'),
  )
  expect(created).toBe(1)
  expect(pool.definer()).toBeUndefined()
})

it('connections lead to the place, also after a move', async () => {
  await placeAt('first')
  expect(await whereNow()).toBe('first')
  expect(pool.definer()).toBe(entry)
  await placeAt('second')
  // Nothing has failed, so nothing is asked.
  expect(await whereNow(false)).toBe('first')
  expect(moves).toBe(0)
  expect(await whereNow()).toBe('second')
  expect([moves, created]).toEqual([1, 1])
})

it('the coordinator is asked only if the node does not answer', async () => {
  await placeAt('first')
  await whereNow()
  proxies.entry.refuse()
  expect(await whereNow(false)).toBe('first')
  await placeAt('second')
  expect(await whereNow()).toBe('second')
  expect(created).toBe(1)
  proxies.entry.heal()
  proxies.second.refuse()
  await expect(whereNow()).rejects.toThrow()
  await placeAt('first')
  expect(await whereNow()).toBe('first')
  expect(created).toBeGreaterThan(1)
})

it('a first connection fails with the reason', async () => {
  proxies.entry.refuse()
  await expect(whereNow()).rejects.toThrow(/Connection terminated|ECONNRESET/)
  proxies.entry.heal()
  expect(await whereNow()).toBe('entry')
})
